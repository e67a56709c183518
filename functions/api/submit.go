package api

import (
	"net/http"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/decode"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// submit answers POST /v1/jobs.
func (a *API) submit(w http.ResponseWriter, r *http.Request) error {
	if err := a.newParams(r, nil).problem(); err != nil {
		return err
	}
	body, err := a.readBody(w, r, a.Limits.Body)
	if err != nil {
		return err
	}
	key, err := a.idempotencyKey(r, body)
	if err != nil {
		return err
	}
	raw, err := decode.Parse(body)
	if err != nil {
		return err
	}
	j, err := a.jobIn(r, raw)
	switch {
	case key != nil && err != nil:
		return a.submitOnce(w, r, *key, []core.NewJob{j}, err, nil)
	case key != nil:
		once, err := a.Once.SubmitOneOnce(r.Context(), *key, j, submitAnswer)
		return a.answerOnce(w, r, once, err)
	case err != nil:
		return err
	}
	answer, err := a.Submitter.Submit(r.Context(), j)
	if err != nil {
		return err
	}
	a.pokeNew([]core.Submitted{answer})
	writeAnswer(w, r, submitAnswer(&j, answer))
	return nil
}

// jobIn reads the job that a request submits.
func (a *API) jobIn(r *http.Request, raw []byte) (core.NewJob, error) {
	j, p := a.decodeJob("", raw)
	if p == nil {
		p = callerOf(r.Context()).adopt("", &j)
	}
	if p != nil {
		return j, p
	}
	j.Trace = traceOf(r)
	if err := a.checkTarget(r.Context(), j.Target); err != nil {
		return j, err
	}
	jobs := []core.NewJob{j}
	err := a.ofType(r.Context(), jobs)
	return jobs[0], err
}

// submitAnswer is the new job, or the one that holds its dedupe key.
func submitAnswer(j *core.NewJob, answer core.Submitted) core.Answer {
	if answer.Existing != nil {
		return core.Answer{Status: http.StatusOK, Body: show.AppendJob(nil, answer.Existing, true)}
	}
	job := jobOf(j, answer)
	return core.Answer{Status: http.StatusCreated, Body: show.AppendJob(nil, &job, false)}
}

// traceOf is the caller's trace context; one that is malformed counts as none, as its specification asks.
func traceOf(r *http.Request) string {
	if trace := r.Header.Get("Traceparent"); core.ValidTrace(trace) {
		return trace
	}
	return ""
}

// jobOf is the job that was just written, as its row says.
func jobOf(n *core.NewJob, s core.Submitted) core.Job {
	payload := n.Payload
	if payload == nil {
		payload = []byte("{}")
	}
	return core.Job{
		ID: s.ID, Type: n.Type, Payload: payload, Priority: n.Priority, Tenant: n.Tenant, RunAt: s.RunAt, Status: s.Status,
		MaxAttempts: n.MaxAttempts, LeaseToken: s.Token, DedupeKey: n.DedupeKey, Timeout: n.Timeout, ExpiresAt: n.Expiry(s.RunAt),
		Backoff: n.Backoff, Target: n.Target, Tags: n.Tags, Trace: n.Trace, Bucket: core.BucketOf(s.ID), CreatedAt: s.CreatedAt,
	}
}
