package rulestest

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Accepted are the rows that Go can say and every side accepts, as core brings them into the form that is kept.
func Accepted(now time.Time) (names []string, jobs []core.NewJob, err error) {
	for _, c := range Cases(now) {
		if c.Job == nil || c.Field != "" {
			continue
		}
		j, err := core.CheckNewJob(*c.Job, core.JobType{}, now)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		names, jobs = append(names, c.Name), append(jobs, j.NewJob())
	}
	return names, jobs, nil
}

// Differences says how a row that was just submitted differs from the job, in the words of the fields; none where it is
// kept as it came: texts and JSON byte for byte, times to the microsecond.
func Differences(want core.NewJob, got core.Job) (fields []string) {
	differs := func(field string, same bool) {
		if !same {
			fields = append(fields, field)
		}
	}
	payload := []byte(want.Payload)
	if want.Payload == nil {
		payload = []byte("{}")
	}
	runAt := want.RunAt
	if runAt.IsZero() {
		runAt = got.CreatedAt.Add(want.Delay)
	}
	differs("type", got.Type == want.Type)
	differs("payload", bytes.Equal(got.Payload, payload))
	differs("priority", got.Priority == want.Priority)
	differs("tenant", got.Tenant == want.Tenant)
	differs("dedupe_key", got.DedupeKey == want.DedupeKey)
	differs("run_at", got.RunAt.Equal(runAt) && got.RunAt.Location() == time.UTC)
	differs("expires_at", got.ExpiresAt.Equal(want.ExpiresAt))
	differs("max_attempts", got.MaxAttempts == want.MaxAttempts)
	differs("timeout", got.Timeout == want.Timeout.Truncate(core.Precision))
	differs("backoff", slices.Equal(got.Backoff, want.Backoff) && (got.Backoff == nil) == (want.Backoff == nil))
	differs("target", bytes.Equal(got.Target, want.Target))
	differs("tags", slices.Equal(got.Tags, want.Tags))
	differs("traceparent", got.Trace == want.Trace)
	differs("status", got.Status == core.Scheduled && got.Attempts == 0)
	differs("rest", reflect.ValueOf(got.Errors).IsNil() && got.ClaimID == 0 && got.WorkerID == "" && got.EndedToken == 0 && got.StartedAt.IsZero() && !got.CancelWanted && got.Dispatches == 0)
	return fields
}
