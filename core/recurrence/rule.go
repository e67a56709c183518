package recurrence

import "time"

// Rule is a schedule's rule: an expression in a zone, with the schedule's choices. It does not change and is
// safe for concurrent use.
type Rule struct {
	expression
	zone       *zone
	gap        GapPolicy
	overlap    RepeatPolicy
	start, end time.Time // zero where there is no bound
	anchor     int64     // of @every, in microseconds
}

// Parse reads an expression. zoneName is the schedule's time_zone; empty means the zone of the expression's
// CRON_TZ= or TZ= prefix, or UTC. The error is FieldErrors, and names every field that breaks a rule.
//
// The expression is 5 fields (minute, hour, day of month, month, day of week), or 6 with seconds first;
// @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly; or "@every 90s". For any input Parse
// returns after work in proportion to MaxExpression.
func Parse(text, zoneName string, options Options) (*Rule, error) {
	var errs FieldErrors
	e, err := options.Cache.parse(text)
	if err != nil {
		errs.add("cron", "%s", err)
	}
	r := &Rule{expression: e, zone: findZone(&errs, e.zone, zoneName, options.Cache)}
	options.check(&errs)
	r.gap, r.overlap, r.start, r.end = options.DSTGap, options.DSTOverlap, options.StartsAt, options.EndsAt
	if e.every > 0 {
		anchor := options.Anchor
		if !options.StartsAt.IsZero() {
			anchor = options.StartsAt
		}
		if anchor.IsZero() {
			errs.add("anchor", "@every counts from starts_at or from the schedule's creation, and neither is known")
		}
		r.anchor = anchor.UnixMicro()
	}
	if err := errs.err(); err != nil {
		return nil, err
	}
	return r, nil
}

// findZone settles which zone a rule has.
func findZone(errs *FieldErrors, prefix, name string, cache *Cache) *zone {
	field := "time_zone"
	switch {
	case prefix != "" && name != "" && prefix != name:
		errs.add(field, "the expression's prefix names another zone, %s", shown(prefix))
		return nil
	case prefix != "":
		field, name = "cron", prefix
	case name == "":
		name = "UTC"
	}
	found, near := cache.find(name)
	switch {
	case found != nil:
	case near != "":
		errs.add(field, "%s is no time zone; %s is", shown(name), near)
	default:
		errs.add(field, "%s is no time zone of the IANA database %s", shown(name), TZDataVersion())
	}
	return found
}

// String is the expression without its zone, fields separated by single spaces.
func (r *Rule) String() string { return r.text }

// ZoneName is the name of the rule's zone.
func (r *Rule) ZoneName() string { return r.zone.name }

// Location is the rule's zone.
func (r *Rule) Location() *time.Location { return r.zone.location }

// Fixed reports whether the rule is a fixed-time one, for which dst_gap and dst_overlap count.
func (r *Rule) Fixed() bool { return r.fields != nil && r.fields.fixed }

// Offset is what the clock of the rule's zone is ahead of UTC at an instant, in seconds; false for a rule that goes on with
// the hours whatever the clock shows: @every, and those that are not Fixed.
func (r *Rule) Offset(at time.Time) (seconds int, ok bool) {
	if !r.Fixed() {
		return 0, false
	}
	_, seconds = at.In(r.zone.location).Zone()
	return seconds, true
}

// Choices are the rule's choices about daylight saving, defaults filled in.
func (r *Rule) Choices() (GapPolicy, RepeatPolicy) { return r.gap, r.overlap }

// ZoneHash identifies what the database says about the rule's zone, 16 hex digits; empty for @every, which
// needs no zone. A stored next due instant holds as long as it stays the same, even if TZDataVersion changes.
func (r *Rule) ZoneHash() string {
	if r.every > 0 {
		return ""
	}
	return r.zone.hash()
}
