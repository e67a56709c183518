package belfrytest

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Job returns a job in its current state, whether live or ended.
func (e *Engine) Job(id int64) core.Job {
	e.t.Helper()
	job, err := e.store.Get(context.Background(), id)
	if err != nil {
		e.t.Fatalf("job %d: %v", id, err)
	}
	return job
}

// Errors returns the failed attempts of a job, oldest first.
func (e *Engine) Errors(id int64) []core.AttemptError {
	e.t.Helper()
	return e.Job(id).Errors
}

// Cancel cancels a job and returns it. When Cancel returns, the context of a running handler has ended or is about to; the
// job then ends in the next Drain or WaitFor. It fails the test if the job has ended.
func (e *Engine) Cancel(id int64) core.Job {
	e.t.Helper()
	job, err := e.store.Cancel(context.Background(), id)
	if err != nil {
		e.t.Fatalf("Cancel: job %d: %v", id, err)
	}
	if job.Status == core.Running {
		e.extendLeases("Cancel")
	}
	return job
}

// Retry makes a dead letter due now, as an operator does. It fails the test if the job has not failed.
func (e *Engine) Retry(id int64) core.Job {
	e.t.Helper()
	job, err := e.store.Retry(context.Background(), id)
	if err != nil {
		e.t.Fatalf("Retry: job %d: %v", id, err)
	}
	return job
}

// Reschedule changes the time of a job that has not started. It fails the test if the job has started.
func (e *Engine) Reschedule(id int64, at time.Time) core.Job {
	e.t.Helper()
	job, err := e.store.Reschedule(context.Background(), id, core.When{At: at})
	if err != nil {
		e.t.Fatalf("Reschedule: job %d: %v", id, err)
	}
	return job
}
