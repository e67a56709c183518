package rietest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
)

// queued writes a job as the scheduler would have marked it, and returns it with its message.
func queued(t *testing.T, store *postgres.Store, typ, payload string) (int64, core.Message) {
	t.Helper()
	jobs := []core.NewJob{{Type: typ, Payload: json.RawMessage(payload), MaxAttempts: 5, Priority: core.Default, Queued: true, QueuedLease: time.Hour}}
	answers, err := store.Submit(t.Context(), jobs)
	if err != nil {
		t.Fatal(err)
	}
	job, err := store.Get(t.Context(), answers[0].ID)
	if err != nil || job.Status != core.Queued {
		t.Fatalf("the job is %s, %v", job.Status, err)
	}
	return job.ID, core.MessageOf(job)
}

// eventOf is the document of an SQS event, with these bodies under these ids.
func eventOf(t *testing.T, bodies map[string]string) events.SQSEvent {
	t.Helper()
	var event events.SQSEvent
	document(t, "sqs.json", &event)
	shape := event.Records[0]
	event.Records = nil
	for id, body := range bodies {
		shape.MessageId, shape.Body = id, body
		event.Records = append(event.Records, shape)
	}
	return event
}

// TestWorkerBatch: of a batch only what cannot be read and what could not be written is kept by SQS; all else is in the rows.
func TestWorkerBatch(t *testing.T) {
	address, store := database(t)
	f := start(t, "worker", 8, "BELFRY_DATABASE_URL="+address)
	bodies, ids := map[string]string{}, map[string]int64{}
	for name, job := range map[string][2]string{
		"done": {"echo", `{"a":1}`}, "error": {"fail", `{}`}, "panic": {"fail", `{"panic":true}`}, "long": {"sleep", `{"ms":3600000}`},
		"locked": {"echo", `1`}, "stale": {"echo", `2`},
	} {
		id, m := queued(t, store, job[0], job[1])
		if name == "stale" {
			m.Token += 7
		}
		ids[name], bodies[name] = id, string(m.Encode())
	}
	bodies["damaged"] = `{"v":1,"id":`
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), "SELECT FROM belfry.jobs WHERE id = $1 FOR UPDATE", ids["locked"]); err != nil {
		t.Fatal(err)
	}

	var answer events.SQSEventResponse
	said := f.invoke(t, eventOf(t, bodies))
	if err := json.Unmarshal(said, &answer); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	var kept []string
	for _, failure := range answer.BatchItemFailures {
		kept = append(kept, failure.ItemIdentifier)
	}
	slices.Sort(kept)
	if want := []string{"damaged", "locked"}; !slices.Equal(kept, want) {
		t.Errorf("SQS is to keep %v, want %v", kept, want)
	}
	for name, want := range map[string]struct {
		status   core.Status
		attempts int
		errors   int
	}{
		"done": {core.Done, 1, 0}, "error": {core.Scheduled, 1, 1}, "panic": {core.Scheduled, 1, 1},
		"stale": {core.Queued, 0, 0}, "locked": {core.Queued, 0, 0},
	} {
		job, err := store.Get(t.Context(), ids[name])
		if err != nil {
			t.Fatal(err)
		}
		if job.Status != want.status || job.Attempts != want.attempts || len(job.Errors) != want.errors {
			t.Errorf("%s: %s after %d attempts with errors %v, want %+v", name, job.Status, job.Attempts, job.Errors, want)
		}
	}

	// Whether it began in time to count is another test's concern.
	if long, err := store.Get(t.Context(), ids["long"]); err != nil || long.Status != core.Scheduled || len(long.Errors) != long.Attempts {
		t.Errorf("long: %s after %d attempts with errors %v, %v", long.Status, long.Attempts, long.Errors, err)
	}

	// The environment is used again, and answers an empty list where all is well.
	good := map[string]string{}
	for i := range 10 {
		id, m := queued(t, store, "echo", fmt.Sprint(i))
		ids[fmt.Sprint(i)], good[fmt.Sprint(i)] = id, string(m.Encode())
	}
	if said := string(f.invoke(t, eventOf(t, good))); said != `{"batchItemFailures":[]}` {
		t.Errorf("a good batch: %s", said)
	}
	for i := range 10 {
		if job, err := store.Get(t.Context(), ids[fmt.Sprint(i)]); err != nil || job.Status != core.Done {
			t.Errorf("%s, %v", job.Status, err)
		}
	}
}

// TestWorkerTime: a job that begins too late for the time that is left is handed back, and no attempt is counted. One
// that had all the time of an invocation has timed out: it would never be done, and is not to begin for ever.
func TestWorkerTime(t *testing.T) {
	address, store := database(t)
	f := start(t, "worker", 24, "BELFRY_DATABASE_URL="+address, "BELFRY_WORKERS=1")
	first, m := queued(t, store, "sleep", `{"ms":5000}`)
	event := eventOf(t, map[string]string{"first": string(m.Encode())})
	late, m := queued(t, store, "sleep", `{"ms":3600000}`)
	event.Records = append(event.Records, eventOf(t, map[string]string{"late": string(m.Encode())}).Records...)
	if said := string(f.invoke(t, event)); said != `{"batchItemFailures":[]}` {
		t.Errorf("one after the other: %s", said)
	}
	if job, err := store.Get(t.Context(), first); err != nil || job.Status != core.Done {
		t.Errorf("the first is %s, %v", job.Status, err)
	}
	if job, err := store.Get(t.Context(), late); err != nil || job.Status != core.Scheduled || job.Attempts != 0 || len(job.Errors) != 0 {
		t.Errorf("the late one is %s after %d attempts with errors %v, %v", job.Status, job.Attempts, job.Errors, err)
	}

	whole, m := queued(t, store, "sleep", `{"ms":3600000}`)
	if said := string(f.invoke(t, eventOf(t, map[string]string{"whole": string(m.Encode())}))); said != `{"batchItemFailures":[]}` {
		t.Errorf("a long one: %s", said)
	}
	job, err := store.Get(t.Context(), whole)
	if err != nil || job.Status != core.Scheduled || job.Attempts != 1 || len(job.Errors) != 1 {
		t.Errorf("the long one is %s after %d attempts with errors %v, %v", job.Status, job.Attempts, job.Errors, err)
	}
	t.Logf("the long one: %v", job.Errors)
}
