package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// showSchedule answers with a schedule and its ETag.
func (a *API) showSchedule(w http.ResponseWriter, status int, s *core.Schedule) error {
	w.Header().Set("ETag", etag(s.Version))
	writeJSON(w, status, appendSchedule(nil, s))
	return nil
}

// appendSchedule appends a schedule's document: what the user said with the defaults filled in, and how far it has come.
func appendSchedule(b []byte, s *core.Schedule) []byte {
	legible := s.Rule.Legible()
	r := &legible
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
	if r.Priority != "" {
		b = appendField(b, "priority", r.Priority)
	}
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
	if rule, err := s.Parse(); err == nil {
		b = appendField(b, "description", rule.Describe())
		b = appendTime(b, "next_due", s.State.NextDue)
	} else {
		b = appendField(b, "invalid", unreadable(err))
	}
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
	b = appendTime(b, "updated_at", s.UpdatedAt)
	return appendOutOfRange(b, timeField{"starts_at", s.Rule.StartsAt}, timeField{"ends_at", s.Rule.EndsAt}, timeField{"next_due", s.State.NextDue},
		timeField{"accounted_to", s.State.Accounted}, timeField{"paused_at", s.State.PausedAt}, timeField{"expect_by", s.State.ExpectBy},
		timeField{"created_at", s.CreatedAt}, timeField{"updated_at", s.UpdatedAt})
}
