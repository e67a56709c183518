package handler

import (
	"encoding/json"
	"fmt"

	"github.com/belfry-dev/belfry/core"
)

// Job is one attempt of a job whose payload decodes into T. Beside the payload it has the fields of its row: job.ID,
// job.Tenant, job.RunAt, job.Attempts (this one included), job.Errors of earlier attempts and so on. job.Job.Payload is the
// submitted payload, byte for byte. A Job is a snapshot, for use by one goroutine.
type Job[T any] struct {
	*core.Job
	Payload T

	result json.RawMessage
	fault  error // of SetResult
}

// SetResult stores v as JSON on the job if it ends as done; the last call counts. If v cannot be stored (it has no JSON
// form, is longer than core.MaxResultBytes, or contains U+0000), the job fails for good when its function returns nil. A
// retry would repeat both the work and the error.
func (j *Job[T]) SetResult(v any) {
	j.result, j.fault = json.Marshal(v)
	if j.fault != nil {
		j.fault = fmt.Errorf("result: %w", j.fault)
	}
}

// LastAttempt reports whether any error of this attempt fails the job for good.
func (j *Job[T]) LastAttempt() bool { return j.Attempts >= j.MaxAttempts }

// Occurrence returns, for a job of a schedule, its due instant, whether it was made up late, how many instants it covers (at
// least its own), and the first of them. ok is false for other jobs.
func (j *Job[T]) Occurrence() (run core.Run, ok bool) {
	if j.Run == nil {
		return core.Run{}, false
	}
	run = *j.Run
	run.Covers, run.CoversFrom = max(run.Covers, 1), run.First()
	return run, true
}
