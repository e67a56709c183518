// Package schedules is the calls about schedules, their runs and alerts.
//
//	routes.go, documents.go     the operations and their documents
//	schedules.go, put.go        the definitions; match.go their preconditions, field.go and name.go what is read of them
//	act.go                      pause, resume, trigger and backfill
//	ledger.go                   runs, previews and alerts
package schedules

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/functions/api/access"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/problem"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// Calls are the calls about schedules and alerts.
type Calls struct{ *call.Base }

// New makes them.
func New(b *call.Base) *Calls { return &Calls{b} }

// scheduleFields are the fields of a schedule's definition; ruleFields those of its rule alone, which preview takes.
var (
	ruleFields     = []string{"cron", "every", "time_zone", "dst_gap", "dst_overlap", "starts_at", "ends_at"}
	scheduleFields = append(ruleFields[:len(ruleFields):len(ruleFields)], "type", "payload", "priority", "tenant", "missed", "missed_window", "missed_limit",
		"missed_grace", "overlap", "jitter", "expect_within", "expect_paused", "paused", "max_attempts", "timeout", "backoff", "expires_after", "target", "tags")
)

// errNoSchedule is the answer for a schedule that is not there, or another tenant's.
func errNoSchedule() error {
	return problem.New(http.StatusNotFound, "there is no schedule of this name")
}

// scheduleFault gives a store's error about a schedule its own words.
func scheduleFault(err error) error {
	switch {
	case errors.Is(err, core.ErrNotFound):
		return errNoSchedule()
	case errors.Is(err, schedule.ErrUnreadable):
		return problem.New(http.StatusConflict, "the schedule cannot do this: "+unreadable(err)+". Put a definition, which replaces it")
	case errors.Is(err, core.ErrStale):
		return problem.New(http.StatusPreconditionFailed, "the schedule is not in the version that If-Match or If-None-Match asks for: read it again")
	}
	return err
}

// unreadable is what core says of a schedule whose definition cannot be read.
func unreadable(err error) string {
	text := err.Error()
	return text[max(strings.Index(text, schedule.ErrUnreadable.Error()), 0):]
}

// getSchedule answers GET /v1/schedules/{name}.
func (a *Calls) getSchedule(w http.ResponseWriter, r *http.Request) error {
	tenant, name, err := a.scheduleOf(a.NewParams(r, []string{"tenant"}), r)
	if err != nil {
		return err
	}
	s, err := a.Ledger.GetSchedule(r.Context(), tenant, name)
	if err != nil {
		return scheduleFault(err)
	}
	return a.showSchedule(w, http.StatusOK, &s)
}

// deleteSchedule answers DELETE /v1/schedules/{name}. Jobs made stay.
func (a *Calls) deleteSchedule(w http.ResponseWriter, r *http.Request) error {
	tenant, name, err := a.scheduleOf(a.NewParams(r, []string{"tenant"}), r)
	if err != nil {
		return err
	}
	asked, err := readConditions(r.Header)
	if err != nil {
		return err
	}
	match, err := a.resolve(r.Context(), asked, tenant, name)
	if err != nil {
		return scheduleFault(err)
	}
	if err := a.Ledger.DeleteSchedule(r.Context(), tenant, name, match.Version); err != nil {
		return scheduleFault(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// scheduleBytes is about what a schedule's document has beside its payload and target.
const scheduleBytes = 900

// listSchedules answers GET /v1/schedules: by tenant and name.
func (a *Calls) listSchedules(w http.ResponseWriter, r *http.Request) error {
	p := a.NewParams(r, []string{"type", "tenant", "paused", "limit", "cursor"})
	filter := p.Filter("schedules")
	q := core.ScheduleQuery{Type: p.Text("type", core.MaxTypeBytes), Tenant: p.Tenant()}
	if p.Values.Has("paused") {
		paused := p.Flag("paused")
		q.Paused = &paused
	}
	limit, after := p.Whole("limit", 1, call.MaxPage, call.DefaultPage), p.NameCursor(filter)
	if err := p.Problem(); err != nil {
		return err
	}
	var err error
	if q.Tenant, err = access.CallerOf(r.Context()).Narrow(q.Tenant); err != nil {
		return err
	}
	q.AfterTenant, q.AfterName, _ = strings.Cut(after, "\x00")
	q.Limit, q.Bytes = call.StepPage, call.StepBytes
	b, n, next, more := []byte(`{"items":[`), 0, "", true
	for more && next == "" {
		list, err := a.Ledger.ListSchedules(r.Context(), q)
		if err != nil {
			return err
		}
		size := 0
		for i := range list {
			size += list[i].Size()
		}
		more = len(list) == q.Limit || size >= q.Bytes
		b = slices.Grow(b, size+len(list)*scheduleBytes)
		for i := range list {
			if n == limit || n > 0 && len(b) >= a.Limits.PageBytes {
				next = call.EncodeNameCursor(filter, q.AfterTenant+"\x00"+q.AfterName)
				break
			}
			b = appendSchedule(show.Comma(b, n), &list[i])
			q.AfterTenant, q.AfterName = list[i].Tenant, list[i].Name
			n++
		}
	}
	b = append(b, `],"next_cursor":`...)
	answer.JSON(w, http.StatusOK, append(strconv.AppendQuote(b, next), '}'))
	return nil
}
