package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/client"
)

// What `jobs get` prints has something of every field of a job: without the field it is another text.
func TestEveryFieldOfAJobIsPrinted(t *testing.T) {
	fields := map[string]any{
		"id": "7", "type": "a", "payload": 1, "priority": "bulk", "tenant": "t", "run_at": "2026-03-01T12:00:00Z", "status": "cancelled", "reason": "expired",
		"cancel_wanted": true, "attempts": 1, "max_attempts": 2, "snoozes": 3, "result": 1, "dedupe_key": "k", "timeout": "1m30s",
		"errors":     []any{map[string]any{"attempt": 1, "at": "2026-03-01T12:00:01Z", "error": "e", "kind": "lost"}},
		"expires_at": "2026-03-01T12:00:02Z", "backoff": []string{"30s"}, "target": map[string]any{"url": "https://example.com"}, "tags": []string{"x"},
		"worker_id": "w", "lease_until": "2026-03-01T12:00:03Z", "schedule": "s", "scheduled_for": "2026-03-01T12:00:04Z", "catch_up": true, "covers": 3,
		"covers_from": "2026-03-01T12:00:05Z", "created_at": "2026-03-01T12:00:06Z", "started_at": "2026-03-01T12:00:07Z", "finished_at": "2026-03-01T12:00:08Z",
		"out_of_range": map[string]string{"started_at": "infinity"}, "unreadable": "lost",
	}
	printed := func() string {
		document, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		var job client.Job
		if err := json.Unmarshal(document, &job); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		(&App{Out: &out}).PrintJob(&job)
		return out.String()
	}
	whole := printed()
	for name, value := range fields {
		delete(fields, name)
		if printed() == whole {
			t.Errorf("%s is not printed", name)
		}
		fields[name] = value
	}
	if n := reflect.TypeFor[client.Job]().NumField(); n != len(fields)+3 { // Duplicate and Abridged belong to submits; document
		t.Errorf("a job has %d fields, and this test walks %d", n, len(fields))
	}
	if !strings.Contains(whole, fmt.Sprintf("%-14s%s", "status", "cancelled, cancel wanted, expired")) {
		t.Error(whole)
	}
	t.Logf("%d fields", len(fields))
}

// A list tells a job that expired from one that was cancelled by hand.
func TestListsTellWhatExpired(t *testing.T) {
	for reason, want := range map[string]string{client.ReasonExpired: "cancelled, expired", client.ReasonCancelled: "cancelled"} {
		if row := jobRow(&client.Job{ID: "1", Status: client.Cancelled, Reason: reason}); row[1] != want {
			t.Errorf("%s: %q", reason, row)
		}
	}
}
