package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api"
)

// oneJob is a store that has one job.
type oneJob struct {
	core.JobStore
	job core.Job
}

func (s oneJob) Get(context.Context, int64) (core.Job, error) { return s.job, nil }
func (s oneJob) List(context.Context, core.ListQuery) (core.Page, error) {
	return core.Page{Jobs: []core.Job{s.job}}, nil
}

func at(second int) time.Time {
	return time.Date(2026, 3, 1, 13, 0, second, 120_000_000, time.FixedZone("", 3600))
}

// fullJob has every field set.
func fullJob() core.Job {
	return core.Job{
		ID: 9007199254740993, Type: "mail.send", Payload: json.RawMessage(`{ "a" : 1e5 }`), Priority: core.Bulk, Tenant: "naïve \"x\"\u2028",
		RunAt: at(0), Status: core.Running, Attempts: 2, MaxAttempts: 7, Snoozes: 3, LeaseToken: 4, LeaseUntil: at(9), EndedToken: 3,
		ClaimID: 5, WorkerID: "w-1", DispatchFence: 6, Dispatches: 1, CancelWanted: true, DedupeKey: "k<>&", Timeout: 90 * time.Second,
		ExpiresAt: at(50), Backoff: []time.Duration{30 * time.Second, time.Hour}, Target: json.RawMessage(`{"url":"https://example.com"}`),
		Tags: []string{"a", "b"}, Trace: "00-x", Bucket: 1,
		Errors: []core.AttemptError{{Attempt: 1, At: at(1), Error: "it \\ broke\n", Kind: "panic", Losses: 4}}, Result: json.RawMessage(`[ -0 ]`),
		Run:    &core.Run{Schedule: "s", ScheduledFor: at(8), CatchUp: true, Covers: 3, CoversFrom: at(7)},
		Reason: "", CreatedAt: at(-10), StartedAt: at(2), FinishedAt: at(3),
	}
}

func TestJobDocumentGolden(t *testing.T) {
	for name, golden := range map[string]struct {
		job  core.Job
		want string
	}{
		"every field": {fullJob(), `{"id":"9007199254740993","type":"mail.send","payload":{ "a" : 1e5 },"priority":"bulk","tenant":"naïve \"x\"` + "\u2028" + `",` +
			`"run_at":"2026-03-01T12:00:00.120000Z","status":"running","cancel_wanted":true,"attempts":2,"max_attempts":7,"snoozes":3,` +
			`"errors":[{"attempt":1,"at":"2026-03-01T12:00:01.120000Z","error":"it \\ broke\u000a","kind":"panic","losses":4}],"result":[ -0 ],` +
			`"dedupe_key":"k<>&","timeout":"1m30s","expires_at":"2026-03-01T12:00:50.120000Z","backoff":["30s","1h0m0s"],` +
			`"target":{"url":"https://example.com"},"tags":["a","b"],"worker_id":"w-1","lease_until":"2026-03-01T12:00:09.120000Z",` +
			`"schedule":"s","scheduled_for":"2026-03-01T12:00:08.120000Z","catch_up":true,"covers":3,"covers_from":"2026-03-01T12:00:07.120000Z",` +
			`"created_at":"2026-03-01T11:59:50.120000Z","started_at":"2026-03-01T12:00:02.120000Z","finished_at":"2026-03-01T12:00:03.120000Z"}`},
		"no more than needed": {core.Job{ID: 1, Type: "echo", Payload: json.RawMessage(`null`), Priority: core.Default, RunAt: at(0), Status: core.Queued,
			MaxAttempts: 5, LeaseUntil: at(9), CreatedAt: at(0)}, `{"id":"1","type":"echo","payload":null,"priority":"default","run_at":"2026-03-01T12:00:00.120000Z",` +
			`"status":"queued","cancel_wanted":false,"attempts":0,"max_attempts":5,"errors":[],"tags":[],"created_at":"2026-03-01T12:00:00.120000Z"}`},
	} {
		b := newBench(t, func(o *api.Options) { o.Jobs = oneJob{JobStore: o.Jobs, job: golden.job} })
		if got := b.do("GET", "/v1/jobs/1", "").want(t, http.StatusOK); got.body != golden.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got.body, golden.want)
		}
	}
}

// A row that someone damaged by hand is shown as far as it goes, and never breaks the document around it.
func TestJobDocumentOfADamagedRow(t *testing.T) {
	damaged := core.Job{ID: 1, Type: "\xff\x00", Payload: json.RawMessage(`{"a":`), Priority: 9, Status: 42, RunAt: time.Date(294247, 1, 1, 0, 0, 0, 0, time.UTC),
		Result: json.RawMessage("\xff"), Target: json.RawMessage(`x`), Errors: []core.AttemptError{{Error: "\xc3("}}, Tags: []string{"\x1f"}, Timeout: -1}
	b := newBench(t, func(o *api.Options) { o.Jobs = oneJob{JobStore: o.Jobs, job: damaged} })
	w := get(b, "/v1/jobs")
	if w.status != http.StatusOK || !json.Valid([]byte(w.body)) || !strings.Contains(w.body, `"payload":"{\"a\":"`) {
		t.Errorf("%d %s", w.status, w.body)
	}
}
