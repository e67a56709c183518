package belfrytest

import (
	"context"
	"encoding/json"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/submit"
)

// Submit submits a job that is due now and returns its id. The payload is made JSON as encoding/json does it; nil is
// no payload, which handlers see as {}. Nothing runs before the next Drain, Advance or WaitFor.
func (e *Engine) Submit(jobType string, payload any) int64 {
	e.t.Helper()
	return e.SubmitJob(core.NewJob{Type: jobType, Payload: e.JSON(payload)}).ID
}

// SubmitJob submits a job with all its fields, under the rules of production: one that they refuse ends the test.
// The answer's Existing is the live job that has its dedupe key, if there is one: then nothing was submitted.
func (e *Engine) SubmitJob(job core.NewJob) core.Submitted {
	e.t.Helper()
	answer, err := e.submitter.Submit(context.Background(), job)
	if err != nil {
		e.t.Fatalf("SubmitJob: %v", err)
	}
	return answer
}

// JSON makes JSON of a payload; nil stays nil.
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

// Submitter is what code under test submits with: handlers too, and from any goroutine. It answers errors instead of
// ending the test.
func (e *Engine) Submitter() *submit.Submitter { return e.submitter }

// Store is the engine's store, for whatever has no method here. What is written to it directly is seen by the next
// Drain, Advance or WaitFor.
func (e *Engine) Store() core.Store { return e.store }
