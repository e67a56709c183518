package belfrytest

import (
	"context"
	"encoding/json"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/submit"
)

// Submit submits a job that is due now and returns its id. encoding/json encodes the payload; nil means no payload, which
// handlers see as {}. The job runs in the next Drain, Advance or WaitFor.
func (e *Engine) Submit(jobType string, payload any) int64 {
	e.t.Helper()
	return e.SubmitJob(core.NewJob{Type: jobType, Payload: e.JSON(payload)}).ID
}

// SubmitJob submits a job with all its fields. It fails the test if the rules of production refuse the job. If a live job
// has its dedupe key, nothing is submitted, and the result's Existing is that job.
func (e *Engine) SubmitJob(job core.NewJob) core.Submitted {
	e.t.Helper()
	answer, err := e.submitter.Submit(context.Background(), job)
	if err != nil {
		e.t.Fatalf("SubmitJob: %v", err)
	}
	return answer
}

// JSON encodes a payload as JSON; nil stays nil.
func (e *Engine) JSON(payload any) json.RawMessage {
	e.t.Helper()
	if payload == nil {
		return nil
	}
	if raw, ok := payload.(json.RawMessage); ok {
		return raw
	}
	text, err := json.Marshal(payload)
	if err != nil {
		e.t.Fatalf("payload: %v", err)
	}
	return text
}

// Submitter returns the submitter for the code under test. Handlers and any goroutine may use it. It returns errors instead
// of failing the test.
func (e *Engine) Submitter() *submit.Submitter { return e.submitter }

// Store returns the engine's store, for anything that has no method here. The next Drain, Advance or WaitFor sees direct
// writes.
func (e *Engine) Store() core.Store { return e.store }
