package belfrytest

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Job returns a job as it stands, live or ended.
func (e *Engine) Job(id int64) core.Job {
	e.t.Helper()
	job, err := e.store.Get(context.Background(), id)
	if err != nil {
		e.t.Fatalf("job %d: %v", id, err)
	}
	return job
}

// Errors returns the attempts of a job that were not a success, oldest first.
func (e *Engine) Errors(id int64) []core.AttemptError {
	e.t.Helper()
	return e.Job(id).Errors
}

// Cancel cancels a job and returns it as it stands then. The handler of a running one is told: its context has ended,
// or is about to, when Cancel returns, and the job ends with the next Drain or WaitFor. A job that has ended ends the test.
func (e *Engine) Cancel(id int64) core.Job {
	e.t.Helper()
	job, err := e.store.Cancel(context.Background(), id)
	if err != nil {
		e.t.Fatalf("Cancel: job %d: %v", id, err)
	}
	if job.Status == core.Running {
		e.beat("Cancel")
	}
	return job
}

// Retry puts a dead letter back, due now, as an operator does. A job that has not failed ends the test.
func (e *Engine) Retry(id int64) core.Job {
	e.t.Helper()
	job, err := e.store.Retry(context.Background(), id)
	if err != nil {
		e.t.Fatalf("Retry: job %d: %v", id, err)
	}
	return job
}

// Reschedule makes a job that has not started due at an instant. One that has ends the test.
func (e *Engine) Reschedule(id int64, at time.Time) core.Job {
	e.t.Helper()
	job, err := e.store.Reschedule(context.Background(), id, core.When{At: at})
	if err != nil {
		e.t.Fatalf("Reschedule: job %d: %v", id, err)
	}
	return job
}
