package show

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/jsonscan"
)

// AppendJob appends the job document to b. It is written by hand because encoding/json rewrites a payload's
// bytes even in a RawMessage. Fields that have no value are left out, except those every job has.
func AppendJob(b []byte, j *core.Job, duplicate bool) []byte {
	b = append(b, `{"id":"`...)
	b = strconv.AppendInt(b, j.ID, 10)
	b = AppendField(append(b, '"'), "type", j.Type)
	absent := "{}"
	if j.Unreadable != "" {
		absent = "null"
	}
	b = AppendRaw(append(b, `,"payload":`...), j.Payload, absent)
	b = AppendField(b, "priority", j.Priority.String())
	if j.Tenant != "" {
		b = AppendField(b, "tenant", j.Tenant)
	}
	b = AppendTime(b, "run_at", always(j.RunAt))
	b = AppendField(b, "status", j.Status.String())
	if j.Reason != "" {
		b = AppendField(b, "reason", j.Reason)
	}
	b = strconv.AppendBool(append(b, `,"cancel_wanted":`...), j.CancelWanted)
	b = strconv.AppendInt(append(b, `,"attempts":`...), int64(j.Attempts), 10)
	b = strconv.AppendInt(append(b, `,"max_attempts":`...), int64(j.MaxAttempts), 10)
	if j.Snoozes > 0 {
		b = strconv.AppendInt(append(b, `,"snoozes":`...), int64(j.Snoozes), 10)
	}
	b = appendErrors(b, j.Errors)
	if len(j.Result) > 0 {
		b = AppendRaw(append(b, `,"result":`...), j.Result, "null")
	}
	b = appendTerms(b, j)
	if j.WorkerID != "" {
		b = AppendField(b, "worker_id", j.WorkerID)
	}
	if j.Status == core.Running {
		b = AppendTime(b, "lease_until", j.LeaseUntil)
	}
	b = appendRun(b, j.Run)
	b = AppendTime(b, "created_at", always(j.CreatedAt))
	b = AppendTime(b, "started_at", j.StartedAt)
	b = AppendTime(b, "finished_at", j.FinishedAt)
	b = appendJobOutOfRange(b, j)
	if j.Unreadable != "" {
		b = AppendField(b, "unreadable", j.Unreadable)
	}
	if duplicate {
		b = append(b, `,"duplicate":true`...)
	}
	return append(b, '}')
}

// always is a time that every job has: none is the database's -infinity.
func always(t time.Time) time.Time {
	if t.IsZero() {
		return time.Date(-infiniteYear, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return t
}

// appendJobOutOfRange is AppendOutOfRange of a job.
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
	return AppendOutOfRange(b, TimeField{"run_at", always(j.RunAt)}, TimeField{"expires_at", j.ExpiresAt}, TimeField{"lease_until", leaseUntil},
		TimeField{"scheduled_for", scheduledFor}, TimeField{"covers_from", coversFrom}, TimeField{"created_at", always(j.CreatedAt)},
		TimeField{"started_at", j.StartedAt}, TimeField{"finished_at", j.FinishedAt})
}

// appendTerms appends what the submitter asked for beyond the defaults.
func appendTerms(b []byte, j *core.Job) []byte {
	if j.DedupeKey != "" {
		b = AppendField(b, "dedupe_key", j.DedupeKey)
	}
	if j.Timeout != 0 {
		b = AppendField(b, "timeout", j.Timeout.String())
	}
	b = AppendTime(b, "expires_at", j.ExpiresAt)
	b = AppendBackoff(b, j.Backoff)
	if len(j.Target) > 0 {
		b = AppendTarget(append(b, `,"target":`...), j.Target)
	}
	b = append(b, `,"tags":[`...)
	for i, tag := range j.Tags {
		b = AppendString(Comma(b, i), tag)
	}
	return append(b, ']')
}

// appendRun appends what a job of a schedule knows of its instant.
func appendRun(b []byte, r *core.Run) []byte {
	if r == nil {
		return b
	}
	b = AppendField(b, "schedule", r.Schedule)
	b = AppendTime(b, "scheduled_for", r.ScheduledFor)
	if r.CatchUp {
		b = append(b, `,"catch_up":true`...)
	}
	if r.Covers > 1 {
		b = strconv.AppendInt(append(b, `,"covers":`...), r.Covers, 10)
		b = AppendTime(b, "covers_from", r.First())
	}
	return b
}

func appendErrors(b []byte, errs []core.AttemptError) []byte {
	b = append(b, `,"errors":[`...)
	for i, e := range errs {
		b = strconv.AppendInt(append(Comma(b, i), `{"attempt":`...), int64(e.Attempt), 10)
		b = AppendTime(b, "at", e.At)
		b = AppendField(b, "error", e.Error)
		if e.Kind != "" {
			b = AppendField(b, "kind", e.Kind)
		}
		if e.Losses > 0 {
			b = strconv.AppendInt(append(b, `,"losses":`...), int64(e.Losses), 10)
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

func Comma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

func AppendField(b []byte, name, value string) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	return AppendString(b, value)
}

// AppendRaw appends JSON as it is kept. What is no JSON, because someone changed the row by hand, is shown as
// a string, so that one damaged row cannot break a list.
func AppendRaw(b, raw []byte, absent string) []byte {
	if len(raw) == 0 {
		return append(b, absent...)
	}
	if _, err := jsonscan.Scan(raw); err != nil {
		return AppendString(b, string(raw))
	}
	return append(b, raw...)
}

// AppendString appends a JSON string. Only what must be escaped is.
func AppendString(b []byte, s string) []byte {
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

// AppendBackoff appends the list of waits, unless there is none.
func AppendBackoff(b []byte, waits []time.Duration) []byte {
	if len(waits) == 0 {
		return b
	}
	b = append(b, `,"backoff":[`...)
	for i, wait := range waits {
		b = AppendString(Comma(b, i), wait.String())
	}
	return append(b, ']')
}

// AppendTarget appends a target as answers show it: the names of its headers, and no value. One that was damaged by
// hand is shown without anything of it.
func AppendTarget(b, raw []byte) []byte {
	url, headers, _ := ParseTarget(raw)
	b = AppendString(append(b, `{"url":`...), url)
	if len(headers) > 0 {
		b = append(b, `,"headers":{`...)
		for i, name := range slices.Sorted(maps.Keys(headers)) {
			b = AppendString(append(AppendString(Comma(b, i), name), ':'), MaskedValue)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

func ParseTarget(raw []byte) (url string, headers map[string]string, ok bool) {
	var doc struct {
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
	}
	err := json.Unmarshal(raw, &doc)
	return doc.URL, doc.Headers, err == nil
}

// MaskedValue stands for the value of a target's header in answers. As a header's value it is refused, so that an
// answer sent back as it came cannot overwrite a secret with its mask.
const MaskedValue = "********"
