package api

import (
	"net/http"
	"strconv"

	"github.com/belfry-dev/belfry/core"
)

// submit answers POST /v1/jobs.
func (a *API) submit(w http.ResponseWriter, r *http.Request) error {
	if p := refuseIdempotencyKey(r); p != nil {
		return p
	}
	body, err := a.readBody(w, r, a.Limits.Body)
	if err != nil {
		return err
	}
	raw, err := parse(body)
	if err != nil {
		return err
	}
	j, p := a.decodeJob("", raw)
	if p != nil {
		return p
	}
	if err := a.checkTarget(r.Context(), j.Target); err != nil {
		return err
	}
	j.Trace = traceOf(r)
	answer, err := a.Submitter.Submit(r.Context(), j)
	if err != nil {
		return err
	}
	if answer.Existing != nil {
		writeJSON(w, http.StatusOK, appendJob(nil, answer.Existing, true))
		return nil
	}
	a.Poke(answer.ID)
	job := jobOf(&j, answer)
	w.Header().Set("Location", "/v1/jobs/"+strconv.FormatInt(job.ID, 10))
	writeJSON(w, http.StatusCreated, appendJob(nil, &job, false))
	return nil
}

// refuseIdempotencyKey refuses a header that would promise more than this version keeps.
func refuseIdempotencyKey(r *http.Request) *Problem {
	if len(r.Header.Values("Idempotency-Key")) == 0 {
		return nil
	}
	return fieldProblem(http.StatusUnprocessableEntity, "Idempotency-Key", "is not supported yet by this version; a dedupe_key in the job keeps it from running twice")
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
		MaxAttempts: n.MaxAttempts, LeaseToken: s.Token, DedupeKey: n.DedupeKey, Timeout: n.Timeout, ExpiresAt: n.ExpiresAt,
		Backoff: n.Backoff, Target: n.Target, Tags: n.Tags, Trace: n.Trace, Bucket: core.BucketOf(s.ID), CreatedAt: s.CreatedAt,
	}
}
