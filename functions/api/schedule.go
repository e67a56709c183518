package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// scheduleFields are the fields of a schedule's definition; ruleFields those of its rule alone, which preview takes.
var (
	ruleFields     = []string{"cron", "every", "time_zone", "dst_gap", "dst_overlap", "starts_at", "ends_at"}
	scheduleFields = append(ruleFields[:len(ruleFields):len(ruleFields)], "type", "payload", "priority", "tenant", "missed", "missed_window", "missed_limit",
		"missed_grace", "overlap", "jitter", "expect_within", "expect_paused", "paused", "max_attempts", "timeout", "backoff", "expires_after", "target", "tags")
)

// errNoSchedule is the answer for a schedule that is not there, or another tenant's.
func errNoSchedule() error {
	return newProblem(http.StatusNotFound, "there is no schedule of this name")
}

// scheduleFault gives a store's error about a schedule its own words.
func scheduleFault(err error) error {
	switch {
	case errors.Is(err, core.ErrNotFound):
		return errNoSchedule()
	case errors.Is(err, core.ErrStale):
		return newProblem(http.StatusPreconditionFailed, "the schedule is not in the version that If-Match or If-None-Match asks for: read it again")
	}
	return err
}

// putSchedule answers PUT /v1/schedules/{name}: it makes the schedule, or gives it another definition as a whole.
func (a *API) putSchedule(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if err := a.newParams(r, nil).problem(); err != nil {
		return err
	}
	asked, err := readConditions(r.Header)
	if err != nil {
		return err
	}
	body, err := a.readBody(w, r, a.Limits.Body)
	if err != nil {
		return err
	}
	raw, err := parse(body)
	if err != nil {
		return err
	}
	d := &decoder{}
	var rule core.ScheduleRule
	tenant := callerOf(r.Context()).tenant
	d.object(raw, scheduleFields, func(field string, value []byte) {
		if field == "tenant" {
			if text, ok := d.text(field, value); ok && tenant == "" {
				tenant = text
			} else if ok && text != "" && text != tenant {
				d.fault(field, "must be left out, or be the tenant of this token")
			}
			return
		}
		a.scheduleField(d, &rule, field, value)
	})
	if !d.has("type") {
		d.fault("type", "is required")
	}
	checked := rule // Put fills in the defaults itself
	d.blame(core.CheckSchedule(tenant, name, &checked, a.Now()))
	a.boundTimeout(d, time.Duration(rule.Timeout), rule.Target, rule.Type)
	if noPathPart(name) {
		d.fault("name", nameRule)
	}
	if p := d.problem(); p != nil {
		return p
	}
	if err := a.checkTarget(r.Context(), rule.Target); err != nil {
		return err
	}
	match, err := a.resolve(r.Context(), asked, tenant, name)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return scheduleFault(core.ErrStale)
	case err != nil:
		return scheduleFault(err)
	}
	s, made, err := a.Schedules.Put(r.Context(), tenant, name, rule, match)
	if err != nil {
		return scheduleFault(err)
	}
	status := http.StatusOK
	if made {
		status = http.StatusCreated
	}
	return a.showSchedule(w, status, &s)
}

// scheduleField reads one field of a definition. What must not be zero where it stands is held against its rule here.
func (a *API) scheduleField(d *decoder, s *core.ScheduleRule, name string, value []byte) {
	length := func(to *core.ScheduleLength) {
		if v, ok := d.duration(name, value); ok {
			*to = core.ScheduleLength(v)
		}
	}
	word := func(to *string) { *to = d.some(name, value) }
	switch name {
	case "cron":
		word(&s.Cron)
	case "every":
		if length(&s.Every); s.Every == 0 && d.clean(name) {
			d.fault(name, "must lie between 1s and 876000h (100 years)")
		}
	case "time_zone":
		word(&s.TimeZone)
	case "dst_gap":
		word(&s.DSTGap)
	case "dst_overlap":
		word(&s.DSTOverlap)
	case "starts_at":
		s.StartsAt = d.instant(name, value, a.Now())
	case "ends_at":
		s.EndsAt = d.instant(name, value, a.Now())
	case "missed":
		word(&s.Missed)
	case "missed_window":
		length(&s.MissedWindow)
	case "missed_limit":
		s.MissedLimit = d.whole(name, value, 1, core.MaxMissedLimit)
	case "missed_grace":
		length(&s.MissedGrace)
	case "overlap":
		word(&s.Overlap)
	case "jitter":
		length(&s.Jitter)
	case "expect_within":
		length(&s.ExpectWithin)
	case "expires_after":
		if length(&s.ExpiresAfter); s.ExpiresAfter == 0 && d.clean(name) {
			d.fault(name, core.ExpiresAfterRule)
		}
	case "expect_paused":
		s.ExpectPaused = d.flag(name, value)
	case "paused":
		s.Paused = d.flag(name, value)
	case "timeout":
		if length(&s.Timeout); s.Timeout == 0 && d.clean(name) {
			d.fault(name, "must lie between 1s and 24h")
		}
	default:
		a.scheduleJobField(d, s, name, value)
	}
}

// scheduleJobField reads a field that a schedule's jobs get.
func (a *API) scheduleJobField(d *decoder, s *core.ScheduleRule, name string, value []byte) {
	switch name {
	case "type":
		s.Type, _ = d.text(name, value)
	case "payload":
		s.Payload = json.RawMessage(value)
		d.large = d.large || len(value) > core.MaxPayloadBytes
	case "priority":
		if p := d.priority(name, value); p.Valid() {
			s.Priority = p.String()
		}
	case "max_attempts":
		s.MaxAttempts = d.whole(name, value, 1, core.MaxAttempts)
	case "backoff":
		s.Backoff = []core.ScheduleLength{}
		d.array(name, value, core.MaxBackoff, func(field string, value []byte) {
			wait, _ := d.duration(field, value)
			s.Backoff = append(s.Backoff, core.ScheduleLength(wait))
		})
		if len(s.Backoff) == 0 && d.clean(name) {
			d.fault(name, "must list 1 to 20 durations")
		}
	case "target":
		s.Target = a.target(d, name, value)
	case "tags":
		d.array(name, value, core.MaxTags, func(field string, value []byte) {
			tag, _ := d.text(field, value)
			s.Tags = append(s.Tags, tag)
		})
	}
}

// clean reports whether nothing was found wrong with a field yet.
func (d *decoder) clean(field string) bool {
	for _, e := range d.errs {
		if e.Field == d.path+field {
			return false
		}
	}
	return true
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
	q.Limit = stepPage
	b, n, next, more := []byte(`{"items":[`), 0, "", true
	for more && next == "" {
		list, err := a.Ledger.ListSchedules(r.Context(), q)
		if err != nil {
			return err
		}
		more = len(list) == q.Limit
		for i := range list {
			if n == limit || n > 0 && len(b) >= a.Limits.PageBytes {
				next = encodeNameCursor(filter, q.AfterTenant+"\x00"+q.AfterName)
				break
			}
			b = appendSchedule(comma(b, n), &list[i])
			q.AfterTenant, q.AfterName = list[i].Tenant, list[i].Name
			n++
		}
	}
	b = append(b, `],"next_cursor":`...)
	writeJSON(w, http.StatusOK, append(strconv.AppendQuote(b, next), '}'))
	return nil
}

// showSchedule answers with a schedule and its ETag.
func (a *API) showSchedule(w http.ResponseWriter, status int, s *core.Schedule) error {
	w.Header().Set("ETag", etag(s.Version))
	writeJSON(w, status, appendSchedule(nil, s))
	return nil
}

// appendSchedule appends a schedule's document: what the user said with the defaults filled in, and how far it has come.
func appendSchedule(b []byte, s *core.Schedule) []byte {
	r := &s.Rule
	b = appendString(append(b, `{"name":`...), s.Name)
	text := func(name, value string) {
		if value != "" {
			b = appendField(b, name, value)
		}
	}
	length := func(name string, d core.ScheduleLength) {
		if d != 0 {
			b = appendField(b, name, time.Duration(d).String())
		}
	}
	whole := func(name string, n int64) {
		if n != 0 {
			b = strconv.AppendInt(append(append(append(b, `,"`...), name...), `":`...), n, 10)
		}
	}
	text("tenant", s.Tenant)
	text("cron", r.Cron)
	length("every", r.Every)
	text("time_zone", r.TimeZone)
	text("dst_gap", r.DSTGap)
	text("dst_overlap", r.DSTOverlap)
	b = appendTime(b, "starts_at", r.StartsAt)
	b = appendTime(b, "ends_at", r.EndsAt)
	text("missed", r.Missed)
	length("missed_window", r.MissedWindow)
	whole("missed_limit", int64(r.MissedLimit))
	length("missed_grace", r.MissedGrace)
	text("overlap", r.Overlap)
	length("jitter", r.Jitter)
	length("expect_within", r.ExpectWithin)
	if r.ExpectPaused {
		b = append(b, `,"expect_paused":true`...)
	}
	b = strconv.AppendBool(append(b, `,"paused":`...), r.Paused)
	b = appendScheduleJob(b, r)
	return append(appendScheduleState(b, s), '}')
}

// appendScheduleJob appends what the schedule's jobs get.
func appendScheduleJob(b []byte, r *core.ScheduleRule) []byte {
	b = appendField(b, "type", r.Type)
	b = appendRaw(append(b, `,"payload":`...), r.Payload, "{}")
	b = appendField(b, "priority", r.Priority)
	if r.MaxAttempts != 0 {
		b = strconv.AppendInt(append(b, `,"max_attempts":`...), int64(r.MaxAttempts), 10)
	}
	if r.Timeout != 0 {
		b = appendField(b, "timeout", time.Duration(r.Timeout).String())
	}
	var backoff []time.Duration
	for _, d := range r.Backoff {
		backoff = append(backoff, time.Duration(d))
	}
	b = appendBackoff(b, backoff)
	if r.ExpiresAfter != 0 {
		b = appendField(b, "expires_after", time.Duration(r.ExpiresAfter).String())
	}
	if len(r.Target) > 0 {
		b = appendTarget(append(b, `,"target":`...), r.Target)
	}
	b = append(b, `,"tags":[`...)
	for i, tag := range r.Tags {
		b = appendString(comma(b, i), tag)
	}
	return append(b, ']')
}

// appendScheduleState appends how far the schedule has come, and its rule in words.
func appendScheduleState(b []byte, s *core.Schedule) []byte {
	b = strconv.AppendInt(append(b, `,"version":`...), s.Version, 10)
	if rule, err := s.Rule.Parse(s.State.Anchor); err == nil {
		b = appendField(b, "description", rule.Describe())
	}
	b = appendTime(b, "next_due", s.State.NextDue)
	b = appendTime(b, "accounted_to", s.State.Accounted)
	if s.State.Waiting != nil {
		b = appendTime(b, "waiting_for", s.State.Waiting.ScheduledFor)
	}
	b = appendTime(b, "paused_at", s.State.PausedAt)
	b = appendTime(b, "expect_by", s.State.ExpectBy)
	b = strconv.AppendBool(append(b, `,"alerted":`...), s.State.Alerted)
	b = strconv.AppendBool(append(b, `,"active":`...), s.Active)
	b = appendField(b, "tz_data", s.State.TZData)
	b = appendTime(b, "created_at", s.CreatedAt)
	return appendTime(b, "updated_at", s.UpdatedAt)
}
