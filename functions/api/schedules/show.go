package schedules

import (
	"net/http"
	"strconv"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// showSchedule answers with a schedule and its ETag.
func (a *Calls) showSchedule(w http.ResponseWriter, status int, s *core.Schedule) error {
	w.Header().Set("ETag", etag(s.Version))
	answer.JSON(w, status, appendSchedule(nil, s))
	return nil
}

// appendSchedule appends a schedule's document: what the user said with the defaults filled in, and how far it has come.
func appendSchedule(b []byte, s *core.Schedule) []byte {
	legible := schedule.Legible(s.Rule)
	r := &legible
	b = show.AppendString(append(b, `{"name":`...), s.Name)
	text := func(name, value string) {
		if value != "" {
			b = show.AppendField(b, name, value)
		}
	}
	length := func(name string, d core.ScheduleLength) {
		if d != 0 {
			b = show.AppendField(b, name, time.Duration(d).String())
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
	b = show.AppendTime(b, "starts_at", r.StartsAt)
	b = show.AppendTime(b, "ends_at", r.EndsAt)
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
	b = show.AppendField(b, "type", r.Type)
	b = show.AppendRaw(append(b, `,"payload":`...), r.Payload, "{}")
	if r.Priority != "" {
		b = show.AppendField(b, "priority", r.Priority)
	}
	if r.MaxAttempts != 0 {
		b = strconv.AppendInt(append(b, `,"max_attempts":`...), int64(r.MaxAttempts), 10)
	}
	if r.Timeout != 0 {
		b = show.AppendField(b, "timeout", time.Duration(r.Timeout).String())
	}
	var backoff []time.Duration
	for _, d := range r.Backoff {
		backoff = append(backoff, time.Duration(d))
	}
	b = show.AppendBackoff(b, backoff)
	if r.ExpiresAfter != 0 {
		b = show.AppendField(b, "expires_after", time.Duration(r.ExpiresAfter).String())
	}
	if len(r.Target) > 0 {
		b = show.AppendTarget(append(b, `,"target":`...), r.Target)
	}
	b = append(b, `,"tags":[`...)
	for i, tag := range r.Tags {
		b = show.AppendString(show.Comma(b, i), tag)
	}
	return append(b, ']')
}

// appendScheduleState appends how far the schedule has come, and its rule in words.
func appendScheduleState(b []byte, s *core.Schedule) []byte {
	b = strconv.AppendInt(append(b, `,"version":`...), s.Version, 10)
	if rule, err := schedule.Parse(s); err != nil {
		b = show.AppendField(b, "invalid", unreadable(err))
	} else {
		if stuck := schedule.Stuck(s, rule); stuck != "" {
			b = show.AppendField(b, "invalid", stuck)
		}
		b = show.AppendField(b, "description", rule.Describe())
		b = show.AppendTime(b, "next_due", s.State.NextDue)
	}
	b = show.AppendTime(b, "accounted_to", s.State.Accounted)
	if s.State.Waiting != nil {
		b = show.AppendTime(b, "waiting_for", s.State.Waiting.ScheduledFor)
	}
	b = show.AppendTime(b, "paused_at", s.State.PausedAt)
	b = show.AppendTime(b, "expect_by", s.State.ExpectBy)
	b = strconv.AppendBool(append(b, `,"alerted":`...), s.State.Alerted)
	b = strconv.AppendBool(append(b, `,"active":`...), s.Active)
	b = show.AppendField(b, "tz_data", s.State.TZData)
	b = show.AppendTime(b, "created_at", s.CreatedAt)
	b = show.AppendTime(b, "updated_at", s.UpdatedAt)
	return show.AppendOutOfRange(b, show.TimeField{Name: "starts_at", Time: s.Rule.StartsAt}, show.TimeField{Name: "ends_at", Time: s.Rule.EndsAt}, show.TimeField{Name: "next_due", Time: s.State.NextDue},
		show.TimeField{Name: "accounted_to", Time: s.State.Accounted}, show.TimeField{Name: "paused_at", Time: s.State.PausedAt}, show.TimeField{Name: "expect_by", Time: s.State.ExpectBy},
		show.TimeField{Name: "created_at", Time: s.CreatedAt}, show.TimeField{Name: "updated_at", Time: s.UpdatedAt})
}
