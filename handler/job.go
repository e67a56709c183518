package handler

import (
	"encoding/json"
	"fmt"

	"github.com/belfry-dev/belfry/core"
)

// Job is one attempt of a job whose payload decodes into T. Beside the payload it has the fields of its row:
// job.ID, job.Tenant, job.RunAt, job.Attempts (this one included), job.Errors of earlier attempts and so on.
// The payload as it was submitted, byte for byte, is job.Job.Payload. A Job is a snapshot of one goroutine's.
type Job[T any] struct {
	*core.Job
	Payload T

	result json.RawMessage
	fault  error // of SetResult
}

// SetResult keeps v, as JSON, on the job if it ends as done; the last call counts. What cannot be kept (no JSON
// can be made of it, more than core.MaxResultBytes, U+0000 in a string) fails the job for good when its function
// returns nil, because a retry would repeat the work and the fault.
func (j *Job[T]) SetResult(v any) {
	j.result, j.fault = json.Marshal(v)
	if j.fault != nil {
		j.fault = fmt.Errorf("result: %w", j.fault)
	}
}

// LastAttempt reports whether an error of this attempt, however it is marked, fails the job for good.
func (j *Job[T]) LastAttempt() bool { return j.Attempts >= j.MaxAttempts }

// Occurrence says what the job runs for, where a schedule made it: the due instant, whether it is made up late, and how
// many instants, counted from which, it stands for: its own at least. Other jobs have none.
func (j *Job[T]) Occurrence() (run core.Run, ok bool) {
	if j.Run == nil {
		return core.Run{}, false
	}
	run = *j.Run
	run.Covers, run.CoversFrom = max(run.Covers, 1), run.First()
	return run, true
}
