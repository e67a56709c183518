package recurrence

import "time"

// Rule is a schedule's rule: an expression in a zone, with the schedule's choices. It is immutable and safe for concurrent
// use.
type Rule struct {
	expression
	zone       *zone
	gap        GapPolicy
	overlap    RepeatPolicy
	start, end time.Time // zero means no bound
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

// findZone determines a rule's zone.
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

// String returns the expression without its zone, fields separated by single spaces.
func (r *Rule) String() string { return r.text }

// ZoneName returns the name of the rule's zone.
func (r *Rule) ZoneName() string { return r.zone.name }

// Location returns the rule's zone.
func (r *Rule) Location() *time.Location { return r.zone.location }

// Fixed reports whether the rule has fixed times, so that dst_gap and dst_overlap apply.
func (r *Rule) Fixed() bool { return r.fields != nil && r.fields.fixed }

// Offset returns how far the clock of the rule's zone is ahead of UTC at an instant, in seconds. It returns false for rules
// that do not follow the wall clock: @every, and those that are not Fixed.
func (r *Rule) Offset(at time.Time) (seconds int, ok bool) {
	if !r.Fixed() {
		return 0, false
	}
	_, seconds = at.In(r.zone.location).Zone()
	return seconds, true
}

// Choices returns the rule's choices about daylight saving, with defaults filled in.
func (r *Rule) Choices() (GapPolicy, RepeatPolicy) { return r.gap, r.overlap }

// ZoneHash identifies the database's data about the rule's zone, as 16 hex digits. It is empty for @every, which needs no
// zone. A stored next due instant stays valid as long as the hash is the same, even if TZDataVersion changes.
func (r *Rule) ZoneHash() string {
	if r.every > 0 {
		return ""
	}
	return r.zone.hash()
}
