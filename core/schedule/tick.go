package schedule

import (
	"time"

	"github.com/belfry-dev/belfry/core"
)

const (
	brokenEvery    = time.Minute      // how often a schedule with an unreadable rule is checked
	recoverySlowly = 10 * time.Second // the longest pause between checks whether an overdue schedule has recovered
)

// PlanTick plans one schedule that a tick found: its due instants, its waiting run, and its overdue success. An error says
// why the rule cannot be read; the plan is then still valid and raises the alert about it.
func PlanTick(s *core.Schedule, found core.Success, now time.Time, o Options) (*Plan, error) {
	plan, err := Next(s, now, o)
	if err != nil {
		plan = step(s)
		plan.noteUnreadable(s, err)
		if due := s.State.NextDue; !due.IsZero() && !due.After(now) {
			plan.State.NextDue = now.Add(brokenEvery).Truncate(time.Microsecond)
		}
	}
	if plan == nil {
		plan = step(s)
	}
	if err == nil {
		plan.noteReadable(s, now)
	}
	if s.Overdue(now) {
		plan.Watch(s, found, now, o)
	}
	return plan, err
}

// Recompute returns the step that computes a schedule's next instant with this time zone database.
func Recompute(s *core.Schedule, now time.Time, o Options) *Plan {
	p := step(s)
	p.State.TZData = TZDataVersion()
	rule, err := parseWith(s, o.Cache)
	if err != nil {
		p.noteUnreadable(s, err)
		return p
	}
	p.noteReadable(s, now)
	if p.State.Accounted = p.passRepeated(s, rule); len(p.Occurrences) > 0 {
		p.State.ZoneMark = zoneMark(rule, p.State.Accounted)
	}
	if p.State.PausedAt.IsZero() {
		p.State.NextDue = storeTime(rule.NextToAccount(p.State.Accounted))
	}
	return p
}
