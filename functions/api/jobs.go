package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/functions/api/openapi"
	"github.com/belfry-dev/belfry/functions/api/problem"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// Bounds on a page.
const (
	maxPage     = 1000
	defaultPage = 50
	stepPage    = 100     // jobs read at a time
	stepBytes   = 2 << 20 // and bytes of their payloads, results and targets, with the one that reaches it
	jobBytes    = 600     // about what a job's document has beside these

	scheduleBytes = 900 // and that of a schedule
)

// get answers GET /v1/jobs/{id}. With wait it answers once the job has ended or the time is over, with the job
// as it then stands.
func (a *API) get(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	p := a.newParams(r, []string{"wait"})
	wait := p.duration("wait", a.Limits.Wait)
	if err := p.problem(); err != nil {
		return err
	}
	held := holdOf(w)
	job, err := a.Jobs.Get(r.Context(), id)
	for end := time.Now().Add(wait); err == nil && !job.Status.Ended(); {
		left := time.Until(end)
		if left <= 0 {
			break
		}
		job = core.Job{} // of many that wait none is held
		held.force(0)
		if err = a.wait.until(r.Context(), id, left, a.right(r.Context())); err == nil {
			err = held.set(r.Context(), jobHold)
		}
		if err == nil {
			job, err = a.Jobs.Get(r.Context(), id)
		}
	}
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, show.AppendJob(make([]byte, 0, job.Size()+jobBytes), &job, false))
	return nil
}

// right is the right of a request's caller to its answer: what is asked again while the caller waits.
func (a *API) right(ctx context.Context) right {
	c := callerOf(ctx)
	return right{
		next: func() time.Duration {
			if c.expires.IsZero() {
				return rightBeat
			}
			return min(rightBeat, max(c.expires.Sub(a.Now()), 0))
		},
		ended: func() error {
			// A store that does not answer ends no wait.
			if err, p := a.access.still(ctx, c), (*problem.Problem)(nil); errors.As(err, &p) {
				return err
			}
			return nil
		},
	}
}

// list answers GET /v1/jobs.
func (a *API) list(w http.ResponseWriter, r *http.Request) error {
	p := a.newParams(r, []string{"type", "tenant", "priority", "tag", "schedule", "run_after", "run_before", "limit", "cursor"}, "status")
	q := core.ListQuery{
		Type: p.text("type", core.MaxTypeBytes), Tenant: p.tenant(), Tag: p.text("tag", core.MaxTagBytes),
		Schedule: p.text("schedule", schedule.MaxScheduleNameBytes), RunAfter: p.instant("run_after"), RunBefore: p.instant("run_before"),
	}
	if len(p.values["status"]) > openapi.StatusWords {
		p.errs.Add("status", "must be given at most %d times", openapi.StatusWords)
	}
	for _, word := range p.values["status"] {
		status, err := core.ParseStatus(word)
		if err != nil {
			p.errs.Add("status", "must be scheduled, queued, running, done, failed or cancelled")
			break
		}
		q.Statuses = append(q.Statuses, status)
	}
	if p.values.Has("priority") {
		var err error
		if q.Priority, err = core.ParsePriority(p.values.Get("priority")); err != nil {
			p.errs.Add("priority", "must be critical, default or bulk")
		}
	}
	return a.page(w, r, p, "jobs", q)
}

// page answers one page of a list. It is full, or ends where its jobs come to Limits.PageBytes, or where the store has
// looked at much and found little: Limits.Looks and Limits.LookTime bound that. next_cursor is "" once nothing more
// can follow.
func (a *API) page(w http.ResponseWriter, r *http.Request, p *params, call string, q core.ListQuery) error {
	filter := p.filter(call)
	limit := p.whole("limit", 1, maxPage, defaultPage)
	q.Before = p.cursor(filter)
	if err := p.problem(); err != nil {
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
		q.Limit, q.Bytes = a.steps.next(limit-n), stepBytes
		take := step
		if a.steps.large(q.Limit) {
			take = func() error { return inTurn(r.Context(), w, step) }
		}
		if err := take(); err != nil {
			return err
		}
	}
	next := ""
	if more {
		next = encodeCursor(filter, q.Before)
	}
	b = append(b, `],"next_cursor":`...)
	writeJSON(w, http.StatusOK, append(strconv.AppendQuote(b, next), '}'))
	return nil
}
