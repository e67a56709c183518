package schedule

import (
	"errors"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/recurrence"
)

// Limits of a schedule.
const (
	MaxScheduleNameBytes = 200
	MaxMissedLimit       = 10_000
	MaxJitter            = 24 * time.Hour
	MaxMissedGrace       = 24 * time.Hour
	MinEvery             = time.Second
)

// DefaultMissedLimit is how many missed runs of one backlog are made up if the schedule does not set a limit.
const DefaultMissedLimit = recurrence.DefaultMissedLimit

// TZDataVersion names the time zone database in this program.
func TZDataVersion() string { return recurrence.TZDataVersion() }

// ParseRule parses the rule for package recurrence. Without StartsAt, Every counts from anchor. The error is FieldErrors.
func ParseRule(r *core.ScheduleRule, anchor time.Time) (*recurrence.Rule, error) {
	return parseRule(r, anchor, nil)
}

// parseRule is ParseRule with a cache of zones and parsed rules.
func parseRule(r *core.ScheduleRule, anchor time.Time, cache *recurrence.Cache) (*recurrence.Rule, error) {
	text, zone := r.Cron, r.TimeZone
	if r.Every != 0 {
		text, zone = "@every "+time.Duration(r.Every).String(), ""
	}
	rule, err := recurrence.Parse(text, zone, recurrence.Options{
		DSTGap: recurrence.GapPolicy(r.DSTGap), DSTOverlap: recurrence.RepeatPolicy(r.DSTOverlap), StartsAt: r.StartsAt, EndsAt: r.EndsAt,
		Anchor: anchor, Cache: cache,
	})
	var faults recurrence.FieldErrors
	if errors.As(err, &faults) {
		var errs core.FieldErrors
		for _, f := range faults {
			field := f.Field
			if field == "cron" && r.Every != 0 {
				field = "every"
			}
			errs.Add(field, "%s", f.Message)
		}
		return nil, errs
	}
	return rule, err
}

// ExpectRule is the rule for an expect_within that is set.
const ExpectRule = "must lie between 1s and 9600h (400 days)"

// Check checks a schedule's name and definition and fills in the defaults, so that two definitions with the same meaning are
// equal. The error is FieldErrors. now need not be exact.
func Check(tenant, name string, r *core.ScheduleRule, now time.Time) error {
	var errs core.FieldErrors
	if name == "" {
		errs.Add("name", "is required")
	}
	core.CheckText(&errs, "name", name, MaxScheduleNameBytes)
	r.StartsAt, r.EndsAt = r.StartsAt.UTC().Truncate(time.Microsecond), r.EndsAt.UTC().Truncate(time.Microsecond)
	keepLengths(r, &errs)
	checkRule(&errs, r, now)
	choices(r, errs.Choose)
	if r.MissedLimit < 0 || r.MissedLimit > MaxMissedLimit {
		errs.Add("missed_limit", "must be a whole number from 1 to %d", MaxMissedLimit)
	}
	for _, b := range []struct {
		field string
		d     core.ScheduleLength
		max   time.Duration
		rule  string
	}{
		{"missed_window", r.MissedWindow, core.FutureYears * 365 * 24 * time.Hour, "must lie between 1µs and 876000h (100 years)"},
		{"missed_grace", r.MissedGrace, MaxMissedGrace, "must lie between 1µs and 24h"},
		{"jitter", r.Jitter, MaxJitter, "must lie between 0s and 24h"}, {"expect_within", r.ExpectWithin, core.MaxExpectWithin, ExpectRule},
	} {
		if b.d < 0 || time.Duration(b.d) > b.max {
			errs.Add(b.field, "%s", b.rule)
		}
	}
	core.CheckExpiresAfter(&errs, time.Duration(r.ExpiresAfter))
	if r.ExpectWithin > 0 && time.Duration(r.ExpectWithin) < core.MinExpectWithin {
		errs.Add("expect_within", ExpectRule)
	}
	if r.ExpectPaused && r.ExpectWithin == 0 {
		errs.Add("expect_paused", "means nothing without expect_within")
	}
	checked, err := core.CheckNewJob(jobOf(r, tenant), core.JobType{}, now)
	var faults core.FieldErrors
	if errors.As(err, &faults) {
		errs = append(errs, slices.DeleteFunc(faults, func(f *core.FieldError) bool { return f.Field == "priority" })...)
		return errs
	}
	job := checked.NewJob()
	r.Timeout, r.Backoff = core.ScheduleLength(job.Timeout), slices.Clone(r.Backoff)
	for i, wait := range job.Backoff {
		r.Backoff[i] = core.ScheduleLength(wait)
	}
	return errs.Err()
}

// choices calls tell for each field that accepts only certain words, with the default first.
func choices(r *core.ScheduleRule, tell func(field string, value *string, usual string, others ...string)) {
	tell("missed", &r.Missed, "once", "all", "skip")
	tell("overlap", &r.Overlap, core.OverlapAllow, core.OverlapSkip, core.OverlapQueueOne, core.OverlapCancelRunning)
	tell("dst_gap", &r.DSTGap, "run_at_transition", "shift", "skip")
	tell("dst_overlap", &r.DSTOverlap, "first", "last", "both")
	tell("priority", &r.Priority, "default", "critical", "bulk")
}

// keepLengths truncates the rule's durations to the precision that is stored.
func keepLengths(r *core.ScheduleRule, errs *core.FieldErrors) {
	for _, l := range []struct {
		field string
		d     *core.ScheduleLength
	}{
		{"missed_window", &r.MissedWindow}, {"missed_grace", &r.MissedGrace}, {"jitter", &r.Jitter},
	} {
		*l.d = core.ScheduleLength(core.KeepLength(errs, l.field, time.Duration(*l.d)))
	}
	for _, d := range []*core.ScheduleLength{&r.Every, &r.ExpectWithin, &r.ExpiresAfter} {
		*d = core.ScheduleLength(core.TruncateLength(time.Duration(*d)))
	}
}

// NoTiming is the error for cron if neither cron nor every is set.
const NoTiming = "is required, or every"

// checkRule checks the timing: exactly one of cron and every must be set, and it must parse.
func checkRule(errs *core.FieldErrors, r *core.ScheduleRule, now time.Time) {
	switch {
	case r.Cron == "" && r.Every == 0:
		errs.Add("cron", NoTiming)
	case r.Cron != "" && r.Every != 0:
		errs.Add("every", "set cron or every, not both")
	case r.Every != 0 && (time.Duration(r.Every) < MinEvery || time.Duration(r.Every) > core.MaxDelay):
		errs.Add("every", "must lie between %s and 876000h (100 years)", MinEvery)
	case r.Every != 0 && r.TimeZone != "":
		errs.Add("time_zone", "means nothing with every, which is plain elapsed time")
	default:
		if _, err := ParseRule(r, now); err != nil {
			var faults core.FieldErrors
			if errors.As(err, &faults) {
				*errs = append(*errs, faults...)
			}
		}
	}
}

// jobOf returns the job that a run of the schedule submits.
func jobOf(r *core.ScheduleRule, tenant string) core.NewJob {
	j := core.NewJob{
		Type: r.Type, Tenant: tenant, Payload: r.Payload, MaxAttempts: r.MaxAttempts, Timeout: time.Duration(r.Timeout), Target: r.Target, Tags: r.Tags,
		ExpiresAfter: time.Duration(r.ExpiresAfter),
	}
	j.Priority, _ = core.ParsePriority(r.Priority)
	for _, d := range r.Backoff {
		j.Backoff = append(j.Backoff, time.Duration(d))
	}
	return j
}
