// Calls Belfry through types that are generated from its OpenAPI document.
//
//   curl -s "$BELFRY_URL/openapi.json" > openapi.json
//   npm ci && npm run generate && npm run build && npm start

import createClient from "openapi-fetch";
import type { components, paths } from "./belfry.js";

type Job = components["schemas"]["Job"];

const client = createClient<paths>({
  baseUrl: process.env.BELFRY_URL,
  headers: { Authorization: `Bearer ${process.env.BELFRY_TOKEN}` },
});

// submit returns the new job.
async function submit(payload: unknown, tag: string): Promise<Job> {
  const { data, error } = await client.POST("/v1/jobs", { body: { type: "echo", payload, tags: [tag] } });
  if (error) throw new Error(error.detail);
  return data;
}

// ended returns the job once it has ended.
async function ended(id: string): Promise<Job> {
  for (;;) {
    const { data, error } = await client.GET("/v1/jobs/{id}", { params: { path: { id }, query: { wait: "30s" } } });
    if (error) throw new Error(error.detail);
    if (data.status === "done" || data.status === "failed" || data.status === "cancelled") return data;
  }
}

// list reads the jobs with a tag, two on a page.
async function list(tag: string): Promise<{ jobs: Job[]; pages: number }> {
  const jobs: Job[] = [];
  let cursor: string | undefined;
  for (let pages = 1; ; pages++) {
    const { data, error } = await client.GET("/v1/jobs", { params: { query: { tag, limit: 2, cursor } } });
    if (error) throw new Error(error.detail);
    jobs.push(...data.items);
    if (data.next_cursor === "") return { jobs, pages };
    cursor = data.next_cursor;
  }
}

const tag = `generated-typescript-${Date.now()}`;
let last = "";
for (let i = 0; i < 3; i++) last = (await submit({ i }, tag)).id;
console.log("submitted 3 jobs");

const job = await ended(last);
console.log(`the last one is ${job.status}, its result is ${JSON.stringify(job.result)}`);

const { jobs, pages } = await list(tag);
console.log(`listed ${jobs.length} jobs on ${pages} pages`);

const { error } = await client.POST("/v1/jobs", { body: { type: "no such name" } });
for (const e of error?.errors ?? []) console.log(`refused with ${error?.status}: ${e.field} ${e.rule}`);
