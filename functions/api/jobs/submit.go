package jobs

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/decode"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// submit answers POST /v1/jobs: it reads the job, checks it, writes it and answers.
func (a *Calls) submit(w http.ResponseWriter, r *http.Request) error {
	raw, key, err := a.readSubmit(w, r, a.Limits.Body)
	if err != nil {
		return err
	}
	job, err := a.jobIn(r, raw)
	switch {
	case key != nil:
		once, err := a.submitOnce(r.Context(), *key, job, raw, err)
		return a.answerOnce(w, r, once, err)
	case err != nil:
		return err
	}
	given, err := a.Submitter.Write(r.Context(), job)
	if err != nil {
		return err
	}
	a.pokeNew([]core.Submitted{given})
	n := job.NewJob()
	writeAnswer(w, r, submitAnswer(&n, given))
	return nil
}

// readSubmit reads a call that submits: its body, of at most limit bytes, is an object. key is nil where it has none.
func (a *Calls) readSubmit(w http.ResponseWriter, r *http.Request, limit int64) (raw []byte, key *core.IdempotencyKey, err error) {
	if err := a.NewParams(r, nil).Problem(); err != nil {
		return nil, nil, err
	}
	body, err := a.ReadBody(w, r, limit)
	if err != nil {
		return nil, nil, err
	}
	if key, err = a.idempotencyKey(r, body); err != nil {
		return nil, nil, err
	}
	raw, err = decode.Parse(body)
	return raw, key, err
}

// jobIn reads the job that a request submits, and checks it.
func (a *Calls) jobIn(r *http.Request, raw []byte) (core.CheckedJob, error) {
	job, err := a.decodeJob(r.Context(), "", raw, traceOf(r))
	if err == nil {
		err = a.CheckTarget(r.Context(), job.NewJob().Target)
	}
	return job, err
}

// submitOnce writes a job under a key, or gives the answer of an earlier call again. With a fault nothing is written, and it is
// the error unless there is such an answer: what was right when it was first asked may be no more, as an expires_at that lay
// ahead. raw is what was asked.
func (a *Calls) submitOnce(ctx context.Context, key core.IdempotencyKey, job core.CheckedJob, raw []byte, fault error) (core.Once, error) {
	if fault == nil {
		return a.Submitter.WriteOneOnce(ctx, key, job, submitAnswer)
	}
	once, err := a.Submitter.WriteOnce(ctx, key, nil, func([]core.Submitted) (core.Answer, error) { return core.Answer{}, fault })
	if once.Kept != nil {
		new(decode.Decoder).Object(raw, []string{"payload"}, func(_ string, payload []byte) { once.Kept.Repeat(payload) })
		once.Answer = submitAnswer(&once.Kept.Job, once.Kept.Submitted)
	}
	return once, err
}

// submitAnswer is the new job, or the one that holds its dedupe key.
func submitAnswer(j *core.NewJob, given core.Submitted) core.Answer {
	if given.Existing != nil {
		return core.Answer{Status: http.StatusOK, Body: show.AppendJob(nil, given.Existing, true)}
	}
	job := jobOf(j, given)
	return core.Answer{Status: http.StatusCreated, Body: show.AppendJob(nil, &job, false)}
}

// writeAnswer sends the answer to a submit. That of a new job says where it is.
func writeAnswer(w http.ResponseWriter, r *http.Request, given core.Answer) {
	if id, _, ok := strings.Cut(strings.TrimPrefix(string(given.Body[:min(len(given.Body), 40)]), `{"id":"`), `"`); ok && given.Status == http.StatusCreated {
		w.Header().Set("Location", call.PrefixOf(r)+"/v1/jobs/"+id)
	}
	answer.JSON(w, given.Status, given.Body)
}

// pokeNew tells of the jobs that were just written.
func (a *Calls) pokeNew(answers []core.Submitted) {
	for i := range answers {
		if answers[i].Existing == nil {
			a.Poke(answers[i].ID)
		}
	}
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
		payload = json.RawMessage("{}")
	}
	return core.Job{
		ID: s.ID, Type: n.Type, Payload: payload, Priority: n.Priority, Tenant: n.Tenant, RunAt: s.RunAt, Status: s.Status,
		MaxAttempts: n.MaxAttempts, LeaseToken: s.Token, DedupeKey: n.DedupeKey, Timeout: n.Timeout, ExpiresAt: n.Expiry(s.RunAt),
		Backoff: n.Backoff, Target: n.Target, Tags: n.Tags, Trace: n.Trace, Bucket: core.BucketOf(s.ID), CreatedAt: s.CreatedAt,
	}
}
