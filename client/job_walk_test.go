package client_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/belfry-dev/belfry/client"
)

// everyField is a job document with every field of the API.
const everyField = `{"id":"7","type":"a","payload":{"b":1},"priority":"bulk","tenant":"t","run_at":"2026-03-01T12:00:00Z","status":"cancelled",
	"reason":"expired","cancel_wanted":true,"attempts":1,"max_attempts":2,"snoozes":3,"errors":[{"attempt":1,"at":"2026-03-01T12:00:01Z","error":"e","kind":"lost"}],
	"result":[1],"dedupe_key":"k","timeout":"1m30s","expires_at":"2026-03-01T12:00:02Z","backoff":["30s"],"target":{"url":"https://example.com"},"tags":["x"],
	"worker_id":"w","lease_until":"2026-03-01T12:00:03Z","schedule":"s","scheduled_for":"2026-03-01T12:00:04Z","catch_up":true,"covers":3,
	"covers_from":"2026-03-01T12:00:05Z","created_at":"2026-03-01T12:00:06Z","started_at":"2026-03-01T12:00:07Z","finished_at":"2026-03-01T12:00:08Z",
	"out_of_range":{"run_at":"infinity"},"unreadable":"lost","duplicate":true,"abridged":true}`

// Every field of a Job is read from its document.
func TestEveryFieldOfAJobIsRead(t *testing.T) {
	var job client.Job
	if err := json.Unmarshal([]byte(everyField), &job); err != nil {
		t.Fatal(err)
	}
	walked := 0
	for field, value := range reflect.ValueOf(job).Fields() {
		if field.IsExported() && value.IsZero() {
			t.Errorf("%s was not read", field.Name)
		}
		walked++
	}
	t.Logf("%d fields", walked)
	if job.Reason != client.ReasonExpired || job.Snoozes != 3 {
		t.Errorf("%+v", job)
	}
}
