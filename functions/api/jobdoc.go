package api

import (
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/belfry-dev/belfry/core"
)

// appendJob appends the job document to b. It is written by hand because encoding/json rewrites a payload's
// bytes even in a RawMessage. Fields that have no value are left out, except those every job has.
func appendJob(b []byte, j *core.Job, duplicate bool) []byte {
	b = append(b, `{"id":"`...)
	b = strconv.AppendInt(b, j.ID, 10)
	b = appendField(append(b, '"'), "type", j.Type)
	b = appendRaw(append(b, `,"payload":`...), j.Payload, "{}")
	b = appendField(b, "priority", j.Priority.String())
	if j.Tenant != "" {
		b = appendField(b, "tenant", j.Tenant)
	}
	b = appendTime(b, "run_at", runAt(j))
	b = appendField(b, "status", j.Status.String())
	if j.Reason != "" {
		b = appendField(b, "reason", j.Reason)
	}
	b = strconv.AppendBool(append(b, `,"cancel_wanted":`...), j.CancelWanted)
	b = strconv.AppendInt(append(b, `,"attempts":`...), int64(j.Attempts), 10)
	b = strconv.AppendInt(append(b, `,"max_attempts":`...), int64(j.MaxAttempts), 10)
	if j.Snoozes > 0 {
		b = strconv.AppendInt(append(b, `,"snoozes":`...), int64(j.Snoozes), 10)
	}
	b = appendErrors(b, j.Errors)
	if len(j.Result) > 0 {
		b = appendRaw(append(b, `,"result":`...), j.Result, "null")
	}
	b = appendTerms(b, j)
	if j.WorkerID != "" {
		b = appendField(b, "worker_id", j.WorkerID)
	}
	if j.Status == core.Running {
		b = appendTime(b, "lease_until", j.LeaseUntil)
	}
	b = appendRun(b, j.Run)
	b = appendTime(b, "created_at", j.CreatedAt)
	b = appendTime(b, "started_at", j.StartedAt)
	b = appendTime(b, "finished_at", j.FinishedAt)
	b = appendJobOutOfRange(b, j)
	if duplicate {
		b = append(b, `,"duplicate":true`...)
	}
	return append(b, '}')
}

// runAt is when a job may start. Every job has such a time: none is the database's -infinity.
func runAt(j *core.Job) time.Time {
	if j.RunAt.IsZero() {
		return time.Date(-infiniteYear, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return j.RunAt
}

// appendJobOutOfRange is appendOutOfRange of a job.
func appendJobOutOfRange(b []byte, j *core.Job) []byte {
	var scheduledFor, coversFrom time.Time
	if j.Run != nil {
		if scheduledFor = j.Run.ScheduledFor; j.Run.Covers > 1 {
			coversFrom = j.Run.First()
		}
	}
	leaseUntil := j.LeaseUntil
	if j.Status != core.Running {
		leaseUntil = time.Time{}
	}
	return appendOutOfRange(b, timeField{"run_at", runAt(j)}, timeField{"expires_at", j.ExpiresAt}, timeField{"lease_until", leaseUntil},
		timeField{"scheduled_for", scheduledFor}, timeField{"covers_from", coversFrom}, timeField{"created_at", j.CreatedAt},
		timeField{"started_at", j.StartedAt}, timeField{"finished_at", j.FinishedAt})
}

// appendTerms appends what the submitter asked for beyond the defaults.
func appendTerms(b []byte, j *core.Job) []byte {
	if j.DedupeKey != "" {
		b = appendField(b, "dedupe_key", j.DedupeKey)
	}
	if j.Timeout != 0 {
		b = appendField(b, "timeout", j.Timeout.String())
	}
	b = appendTime(b, "expires_at", j.ExpiresAt)
	b = appendBackoff(b, j.Backoff)
	if len(j.Target) > 0 {
		b = appendTarget(append(b, `,"target":`...), j.Target)
	}
	b = append(b, `,"tags":[`...)
	for i, tag := range j.Tags {
		b = appendString(comma(b, i), tag)
	}
	return append(b, ']')
}

// appendRun appends what a job of a schedule knows of its instant.
func appendRun(b []byte, r *core.Run) []byte {
	if r == nil {
		return b
	}
	b = appendField(b, "schedule", r.Schedule)
	b = appendTime(b, "scheduled_for", r.ScheduledFor)
	if r.CatchUp {
		b = append(b, `,"catch_up":true`...)
	}
	if r.Covers > 1 {
		b = strconv.AppendInt(append(b, `,"covers":`...), r.Covers, 10)
		b = appendTime(b, "covers_from", r.First())
	}
	return b
}

func appendErrors(b []byte, errs []core.AttemptError) []byte {
	b = append(b, `,"errors":[`...)
	for i, e := range errs {
		b = strconv.AppendInt(append(comma(b, i), `{"attempt":`...), int64(e.Attempt), 10)
		b = appendTime(b, "at", e.At)
		b = appendField(b, "error", e.Error)
		if e.Kind != "" {
			b = appendField(b, "kind", e.Kind)
		}
		if e.Losses > 0 {
			b = strconv.AppendInt(append(b, `,"losses":`...), int64(e.Losses), 10)
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

func appendField(b []byte, name, value string) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	return appendString(b, value)
}

// appendRaw appends JSON as it is kept. What is no JSON, because someone changed the row by hand, is shown as
// a string, so that one damaged row cannot break a list.
func appendRaw(b, raw []byte, absent string) []byte {
	if len(raw) == 0 {
		return append(b, absent...)
	}
	if _, err := core.ScanJSON(raw); err != nil {
		return appendString(b, string(raw))
	}
	return append(b, raw...)
}

// appendString appends a JSON string. Only what must be escaped is.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r) // what is not UTF-8 becomes U+FFFD
			i += size
			continue
		}
		i++
	}
	return append(b, '"')
}
