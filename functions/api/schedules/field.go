package schedules

import (
	"encoding/json"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/decode"
)

// scheduleField reads one field of a definition. What must not be zero where it stands is held against its rule here.
func (a *Calls) scheduleField(d *decode.Decoder, s *core.ScheduleRule, name string, value []byte) {
	length := func(to *core.ScheduleLength) {
		if v, ok := d.Duration(name, value); ok {
			*to = core.ScheduleLength(v)
		}
	}
	word := func(to *string) { *to = d.Some(name, value) }
	switch name {
	case "cron":
		word(&s.Cron)
	case "every":
		if length(&s.Every); s.Every == 0 && clean(d, name) {
			d.Fault(name, "must lie between 1s and 876000h (100 years)")
		}
	case "time_zone":
		word(&s.TimeZone)
	case "dst_gap":
		word(&s.DSTGap)
	case "dst_overlap":
		word(&s.DSTOverlap)
	case "starts_at":
		s.StartsAt = d.Instant(name, value, a.Now())
	case "ends_at":
		s.EndsAt = d.Instant(name, value, a.Now())
	case "missed":
		word(&s.Missed)
	case "missed_window":
		if length(&s.MissedWindow); s.MissedWindow == 0 && clean(d, name) {
			d.Fault(name, "must lie between 1µs and 876000h (100 years); leave the field out for no bound")
		}
	case "missed_limit":
		s.MissedLimit = d.Whole(name, value, 1, schedule.MaxMissedLimit)
	case "missed_grace":
		if length(&s.MissedGrace); s.MissedGrace == 0 && clean(d, name) {
			d.Fault(name, a.Schedules.GraceRule())
		}
	case "overlap":
		word(&s.Overlap)
	case "jitter":
		length(&s.Jitter)
	case "expect_within":
		if length(&s.ExpectWithin); s.ExpectWithin == 0 && clean(d, name) {
			d.Fault(name, schedule.ExpectRule+"; leave the field out to expect nothing")
		}
	case "expires_after":
		if length(&s.ExpiresAfter); s.ExpiresAfter == 0 && clean(d, name) {
			d.Fault(name, core.ExpiresAfterRule)
		}
	case "expect_paused":
		s.ExpectPaused = d.Flag(name, value)
	case "paused":
		s.Paused = d.Flag(name, value)
	case "timeout":
		if length(&s.Timeout); s.Timeout == 0 && clean(d, name) {
			d.Fault(name, "must lie between 1s and 24h")
		}
	default:
		a.scheduleJobField(d, s, name, value)
	}
}

// scheduleJobField reads a field that a schedule's jobs get.
func (a *Calls) scheduleJobField(d *decode.Decoder, s *core.ScheduleRule, name string, value []byte) {
	switch name {
	case "type":
		s.Type, _ = d.Text(name, value)
	case "payload":
		s.Payload = json.RawMessage(value)
		d.Large = d.Large || len(value) > core.MaxPayloadBytes
	case "priority":
		if p := call.Priority(d, name, value); p.Valid() {
			s.Priority = p.String()
		}
	case "max_attempts":
		s.MaxAttempts = d.Whole(name, value, 1, core.MaxAttempts)
	case "backoff":
		s.Backoff = []core.ScheduleLength{}
		d.Array(name, value, core.MaxBackoff, func(field string, value []byte) {
			wait, _ := d.Duration(field, value)
			s.Backoff = append(s.Backoff, core.ScheduleLength(wait))
		})
		if len(s.Backoff) == 0 && clean(d, name) {
			d.Fault(name, "must list 1 to 20 durations")
		}
	case "target":
		s.Target = a.Target(d, name, value)
	case "tags":
		d.Array(name, value, core.MaxTags, func(field string, value []byte) {
			tag, _ := d.Text(field, value)
			s.Tags = append(s.Tags, tag)
		})
	}
}

// clean reports whether nothing was found wrong with a field yet.
func clean(d *decode.Decoder, field string) bool {
	for _, e := range d.Errs {
		if e.Field == d.Path+field {
			return false
		}
	}
	return true
}
