// Package jobs is the calls about jobs.
//
//	routes.go                 the operations
//	submit.go, batch.go       submits; decode.go reads a job, idempotency.go the key of a call
//	jobs.go                   one job, and pages of them; steps.go how many are read at a time
//	change.go                 cancel, retry and reschedule
package jobs

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/functions/api/access"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/openapi"
	"github.com/belfry-dev/belfry/functions/api/problem"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// Calls are the calls about jobs.
type Calls struct {
	*call.Base
	steps steps
}

// New makes them.
func New(b *call.Base) *Calls { return &Calls{Base: b} }

// jobBytes is about what a job's document has beside payload, result and target.
const jobBytes = 600

// get answers GET /v1/jobs/{id}. With wait it answers once the job has ended or the time is over, with the job
// as it then stands.
func (a *Calls) get(w http.ResponseWriter, r *http.Request) error {
	id, err := call.PathID(r)
	if err != nil {
		return err
	}
	p := a.NewParams(r, []string{"wait"})
	wait := p.Duration("wait", a.Limits.Wait)
	if err := p.Problem(); err != nil {
		return err
	}
	held := answer.HoldOf(w)
	job, err := a.Jobs.Get(r.Context(), id)
	for end := time.Now().Add(wait); err == nil && !job.Status.Ended(); {
		left := time.Until(end)
		if left <= 0 {
			break
		}
		job = core.Job{} // of many that wait none is held
		held.Force(0)
		if err = a.Wait.Until(r.Context(), id, left, a.right(r.Context())); err == nil {
			err = held.Set(r.Context(), answer.JobHold)
		}
		if err == nil {
			job, err = a.Jobs.Get(r.Context(), id)
		}
	}
	if err != nil {
		return err
	}
	answer.JSON(w, http.StatusOK, show.AppendJob(make([]byte, 0, job.Size()+jobBytes), &job, false))
	return nil
}

// right is the right of a request's caller to its answer: what is asked again while the caller waits.
func (a *Calls) right(ctx context.Context) call.Right {
	c := access.CallerOf(ctx)
	return call.Right{
		Next: func() time.Duration {
			if c.Expires.IsZero() {
				return call.RightBeat
			}
			return min(call.RightBeat, max(c.Expires.Sub(a.Now()), 0))
		},
		Ended: func() error {
			// A store that does not answer ends no wait.
			if err, p := a.Callers.Still(ctx, c), (*problem.Problem)(nil); errors.As(err, &p) {
				return err
			}
			return nil
		},
	}
}

// list answers GET /v1/jobs.
func (a *Calls) list(w http.ResponseWriter, r *http.Request) error {
	p := a.NewParams(r, []string{"type", "tenant", "priority", "tag", "schedule", "run_after", "run_before", "limit", "cursor"}, "status")
	q := core.ListQuery{
		Type: p.Text("type", core.MaxTypeBytes), Tenant: p.Tenant(), Tag: p.Text("tag", core.MaxTagBytes),
		Schedule: p.Text("schedule", schedule.MaxScheduleNameBytes), RunAfter: p.Instant("run_after"), RunBefore: p.Instant("run_before"),
	}
	if len(p.Values["status"]) > openapi.StatusWords {
		p.Errs.Add("status", "must be given at most %d times", openapi.StatusWords)
	}
	for _, word := range p.Values["status"] {
		status, err := core.ParseStatus(word)
		if err != nil {
			p.Errs.Add("status", "must be scheduled, queued, running, done, failed or cancelled")
			break
		}
		q.Statuses = append(q.Statuses, status)
	}
	if p.Values.Has("priority") {
		var err error
		if q.Priority, err = core.ParsePriority(p.Values.Get("priority")); err != nil {
			p.Errs.Add("priority", "must be critical, default or bulk")
		}
	}
	return a.Page(w, r, p, "jobs", q)
}

// Page answers one page of a list. It is full, or ends where its jobs come to Limits.PageBytes, or where the store has
// looked at much and found little: Limits.Looks and Limits.LookTime bound that. next_cursor is "" once nothing more
// can follow.
func (a *Calls) Page(w http.ResponseWriter, r *http.Request, p *call.Params, list string, q core.ListQuery) error {
	filter := p.Filter(list)
	limit := p.Whole("limit", 1, call.MaxPage, call.DefaultPage)
	q.Before = p.Cursor(filter)
	if err := p.Problem(); err != nil {
		return err
	}
	b, n, more := []byte(`{"items":[`), 0, true
	looks, end := a.Limits.Looks, time.Now().Add(a.Limits.LookTime)
	step := func() error {
		page, err := a.Jobs.List(r.Context(), q)
		if err != nil {
			return err
		}
		jobs := page.Jobs
		if looks--; len(jobs) == q.Limit || sizeOf(jobs) >= q.Bytes {
			looks++ // as many as were asked for
		} else if time.Now().After(end) {
			looks = 0
		}
		b = slices.Grow(b, a.steps.note(jobs))
		more = page.Next != 0
		q.Before = page.Next
		for i := range jobs {
			b = show.AppendJob(show.Comma(b, n), &jobs[i], false)
			n++
			if len(b) >= a.Limits.PageBytes {
				more = more || i+1 < len(jobs)
				q.Before = jobs[i].ID
				break
			}
		}
		return nil
	}
	for more && n < limit && len(b) < a.Limits.PageBytes && looks > 0 {
		q.Limit, q.Bytes = a.steps.next(limit-n), call.StepBytes
		take := step
		if a.steps.large(q.Limit) {
			take = func() error { return answer.InTurn(r.Context(), w, step) }
		}
		if err := take(); err != nil {
			return err
		}
	}
	next := ""
	if more {
		next = call.EncodeCursor(filter, q.Before)
	}
	b = append(b, `],"next_cursor":`...)
	answer.JSON(w, http.StatusOK, append(strconv.AppendQuote(b, next), '}'))
	return nil
}
