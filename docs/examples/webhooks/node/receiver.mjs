// Receives Belfry's webhooks and verifies each with the Standard Webhooks library.
//
//     npm install standardwebhooks
//     BELFRY_WEBHOOK_SECRET=whsec_... PORT=8090 node receiver.mjs

import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.BELFRY_WEBHOOK_SECRET);

// Ids of jobs whose work is done. A real receiver keeps them in its database, in the transaction of the work.
const done = new Set();

const server = createServer(async (request, response) => {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > 1 << 20) return response.writeHead(413, { connection: "close" }).end();
    chunks.push(chunk);
  }
  let payload;
  try {
    payload = webhook.verify(Buffer.concat(chunks), request.headers);
  } catch {
    return response.writeHead(401).end(); // not from Belfry, changed on the way, or too old
  }
  const job = request.headers["webhook-id"];
  if (!done.has(job)) {
    done.add(job);
    await work(job, payload);
  }
  response.writeHead(204).end();
});

async function work(job, payload) {
  console.log("job", job);
}

server.listen(process.env.PORT ?? 8090, "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
