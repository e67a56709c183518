package core

import "time"

const (
	brokenEvery    = time.Minute      // how often a schedule whose rule cannot be read is looked at
	recoverySlowly = 10 * time.Second // the longest pause between looks for the recovery of a schedule that is overdue
)

// PlanTick plans one schedule that a tick found: its instants, or the run that waits, and whether a success is overdue. An
// error says why its rule cannot be read; then the step, which is planned all the same, raises the alert about that.
func PlanTick(s *Schedule, found Success, now time.Time, o ScheduleOptions) (*SchedulePlan, error) {
	plan, err := PlanSchedule(s, now, o)
	if err != nil {
		plan = s.step()
		plan.noteUnreadable(s, err)
		if due := s.State.NextDue; !due.IsZero() && !due.After(now) {
			plan.State.NextDue = now.Add(brokenEvery).Truncate(time.Microsecond)
		}
	}
	if plan == nil {
		plan = s.step()
	}
	if err == nil {
		plan.noteReadable(s, now)
	}
	if s.Overdue(now) {
		plan.Watch(s, found, now, o)
	}
	return plan, err
}

// Recompute is the step that gives a schedule its next instant by this time zone database.
func Recompute(s *Schedule, now time.Time, o ScheduleOptions) *SchedulePlan {
	p := s.step()
	p.State.TZData = TZDataVersion()
	rule, err := s.parse(o.Zones)
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
