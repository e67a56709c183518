package api

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/functions/api/problem"
	"github.com/belfry-dev/belfry/functions/api/show"
)

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
func (a *API) getSchedule(w http.ResponseWriter, r *http.Request) error {
	tenant, name, err := a.scheduleOf(a.newParams(r, []string{"tenant"}), r)
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
func (a *API) deleteSchedule(w http.ResponseWriter, r *http.Request) error {
	tenant, name, err := a.scheduleOf(a.newParams(r, []string{"tenant"}), r)
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

// listSchedules answers GET /v1/schedules: by tenant and name.
func (a *API) listSchedules(w http.ResponseWriter, r *http.Request) error {
	p := a.newParams(r, []string{"type", "tenant", "paused", "limit", "cursor"})
	filter := p.filter("schedules")
	q := core.ScheduleQuery{Type: p.text("type", core.MaxTypeBytes), Tenant: p.tenant()}
	if p.values.Has("paused") {
		paused := p.flag("paused")
		q.Paused = &paused
	}
	limit, after := p.whole("limit", 1, maxPage, defaultPage), p.nameCursor(filter)
	if err := p.problem(); err != nil {
		return err
	}
	var err error
	if q.Tenant, err = callerOf(r.Context()).narrow(q.Tenant); err != nil {
		return err
	}
	q.AfterTenant, q.AfterName, _ = strings.Cut(after, "\x00")
	q.Limit, q.Bytes = stepPage, stepBytes
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
				next = encodeNameCursor(filter, q.AfterTenant+"\x00"+q.AfterName)
				break
			}
			b = appendSchedule(show.Comma(b, n), &list[i])
			q.AfterTenant, q.AfterName = list[i].Tenant, list[i].Name
			n++
		}
	}
	b = append(b, `],"next_cursor":`...)
	writeJSON(w, http.StatusOK, append(strconv.AppendQuote(b, next), '}'))
	return nil
}
