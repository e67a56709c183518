package core

import (
	"fmt"
	"reflect"
	"time"

	"github.com/belfry-dev/belfry/core/recurrence"
)

// ScheduleOptions are what plans of schedules depend on beside the schedule itself.
type ScheduleOptions struct {
	TickPeriod time.Duration // with Takeover: the least that counts as missed. Zero means 1 s
	Takeover   time.Duration // how long another scheduler may take to come in. Zero means 5 s
	Types      *Types        // defaults of types. Nil means none
}

func (o ScheduleOptions) grace(r *ScheduleRule) time.Duration {
	period, takeover := o.TickPeriod, o.Takeover
	if period <= 0 {
		period = time.Second
	}
	if takeover <= 0 {
		takeover = 5 * time.Second
	}
	return recurrence.Grace(time.Duration(r.MissedGrace), period, takeover)
}

// SchedulePlan is one step of a schedule, and what goes with it.
type SchedulePlan struct {
	Advance
	Limited int64 // instants dropped because more were missed than missed_limit: an alert is due
	Cancel  bool  // the schedule's active runs are to be cancelled before
	More    bool  // more is due at the same now: plan again from the state this leads to
}

// StartSchedule is the state of a new schedule at now, or of one whose rule was changed: nothing before now is due.
func StartSchedule(r *ScheduleRule, now time.Time) (ScheduleState, error) {
	now = now.Truncate(time.Microsecond)
	st := ScheduleState{Anchor: now, Accounted: now, TZData: TZDataVersion()}
	rule, err := r.Parse(now)
	if err != nil {
		return st, err
	}
	if r.Paused {
		st.PausedAt = now
	} else {
		st.NextDue = storeTime(rule.NextToAccount(now))
	}
	expectNext(&st, r, rule, now)
	return st, nil
}

// PlanSchedule decides what becomes of a schedule at now: of the instants that are due, or of the run that waits once
// no run is active. It accounts for every instant up to now exactly once. A nil plan means that nothing is to be done.
func PlanSchedule(s *Schedule, now time.Time, o ScheduleOptions) (*SchedulePlan, error) {
	now = now.Truncate(time.Microsecond)
	rule, err := s.Rule.Parse(s.State.Anchor)
	if err != nil {
		return nil, fmt.Errorf("schedule %q: %w", s.Name, err)
	}
	if s.State.Waiting != nil && !s.Active {
		p := s.step()
		p.Inactive, p.Attach, p.State.Waiting = true, true, nil
		p.Jobs = []NewJob{s.run(*s.State.Waiting, now, o)}
		p.More = !s.State.NextDue.IsZero() && !s.State.NextDue.After(now)
		return p, nil
	}
	if s.State.NextDue.IsZero() || s.State.NextDue.After(now) {
		return nil, nil
	}
	return s.account(rule, recurrence.State{Next: s.State.NextDue}, now, o), nil
}

// ResumeSchedule is the step that ends a pause at now: what came due in it fares by the missed policy. rule is the
// new definition, whose Paused is false.
func ResumeSchedule(s *Schedule, r *ScheduleRule, now time.Time, o ScheduleOptions) (*SchedulePlan, error) {
	now = now.Truncate(time.Microsecond)
	rule, err := s.Rule.Parse(s.State.Anchor)
	if err != nil {
		return nil, err
	}
	from := s.State
	next := storeTime(rule.NextToAccount(from.Accounted))
	p := s.account(rule, recurrence.State{Next: next, PausedFrom: from.PausedAt, PausedUntil: now}, now, o)
	p.Rule, p.State.PausedAt = r, time.Time{}
	if p.State.ExpectBy.IsZero() {
		expectNext(&p.State, r, rule, now)
	}
	return p, nil
}

// PauseSchedule is the step that begins a pause at now, once all instants up to now are accounted for.
func PauseSchedule(s *Schedule, r *ScheduleRule, now time.Time, o ScheduleOptions) (*SchedulePlan, error) {
	p, err := PlanSchedule(s, now, o)
	if err != nil {
		return nil, err
	}
	if p == nil {
		p = s.step()
	}
	if p.More {
		return p, nil // the rest first
	}
	p.Rule, p.State.PausedAt, p.State.NextDue = r, now.Truncate(time.Microsecond), time.Time{}
	if !r.ExpectPaused {
		p.State.ExpectBy, p.State.Expected = time.Time{}, time.Time{}
	}
	return p, nil
}

// RedefineSchedule is the step that gives a schedule another definition at now: the old rule is accounted for up to
// now, the new one counts from now. Nil means that the definitions are equal. More: plan again from where it leads.
func RedefineSchedule(s *Schedule, r *ScheduleRule, now time.Time, o ScheduleOptions) (*SchedulePlan, error) {
	now = now.Truncate(time.Microsecond)
	if reflect.DeepEqual(*r, s.Rule) {
		return nil, nil
	}
	same := s.Rule
	same.Paused = r.Paused
	switch onlyPaused := reflect.DeepEqual(*r, same); {
	case onlyPaused && r.Paused:
		return PauseSchedule(s, r, now, o)
	case onlyPaused:
		return ResumeSchedule(s, r, now, o)
	}
	p, err := s.settle(now, o)
	if err != nil || p.More {
		return p, err
	}
	st, err := StartSchedule(r, now)
	if err != nil {
		return nil, err
	}
	if r.Every == s.Rule.Every && r.StartsAt.Equal(s.Rule.StartsAt) && r.Every != 0 {
		st.Anchor = s.State.Anchor
		rule, err := r.Parse(st.Anchor)
		if err != nil {
			return nil, err
		}
		if !r.Paused {
			st.NextDue = storeTime(rule.NextToAccount(now))
		}
		expectNext(&st, r, rule, now)
	}
	st.Waiting, st.Alerted = p.State.Waiting, p.State.Alerted
	p.Rule, p.State = r, st
	return p, nil
}

// settle accounts for all instants up to now, those of a pause as skipped.
func (s *Schedule) settle(now time.Time, o ScheduleOptions) (*SchedulePlan, error) {
	if s.State.PausedAt.IsZero() {
		p, err := PlanSchedule(s, now, o)
		if p == nil && err == nil {
			p = s.step()
		}
		return p, err
	}
	rule, err := s.Rule.Parse(s.State.Anchor)
	if err != nil {
		return nil, err
	}
	skipping := *s
	skipping.Rule.Missed = "skip"
	next := storeTime(rule.NextToAccount(s.State.Accounted))
	until := now.Add(time.Microsecond) // the pause goes on
	return skipping.account(rule, recurrence.State{Next: next, PausedFrom: s.State.PausedAt, PausedUntil: until}, now, o), nil
}

// step is a step that changes nothing yet.
func (s *Schedule) step() *SchedulePlan {
	return &SchedulePlan{Advance: Advance{ID: s.ID, Version: s.Version, Accounted: s.State.Accounted, State: s.State}}
}

// account turns a plan of recurrence into a step.
func (s *Schedule) account(rule *recurrence.Rule, from recurrence.State, now time.Time, o ScheduleOptions) *SchedulePlan {
	from.Active, from.Waiting = s.Active, s.State.Waiting != nil
	r := &s.Rule
	plan := rule.Plan(from, now, recurrence.Policy{
		Missed: recurrence.MissedPolicy(r.Missed), Window: time.Duration(r.MissedWindow), Limit: r.MissedLimit, Grace: o.grace(r),
		Overlap: recurrence.OverlapPolicy(r.Overlap),
	}, 2*MaxMissedLimit)
	p := s.step()
	p.Limited, p.More = plan.Limited, plan.More
	p.Inactive = r.Exclusive() && !s.Active && len(plan.Runs) > 0
	p.State.NextDue = storeTime(plan.State.Next)
	p.State.TZData = TZDataVersion()
	if p.State.Accounted = now; plan.More && !plan.State.Next.IsZero() {
		p.State.Accounted = storeTime(plan.State.Next).Add(-time.Microsecond)
	}
	made := make([]int, len(plan.Runs))
	for i, run := range plan.Runs {
		kept := Run{Schedule: s.Name, ScheduledFor: storeTime(run.ScheduledFor), CatchUp: run.CatchUp}
		if run.Covers > 1 {
			kept.Covers, kept.CoversFrom = run.Covers, storeTime(run.CoversFrom)
		}
		if run.Waits {
			made[i], p.State.Waiting = -1, &kept
			continue
		}
		p.Cancel = p.Cancel || run.CancelsPrevious
		made[i] = len(p.Jobs)
		p.Jobs = append(p.Jobs, s.run(kept, now, o))
	}
	at := 0
	for _, e := range plan.Entries {
		row := Ledgered{Job: -1, Occurrence: Occurrence{
			From: storeTime(e.From), To: storeTime(e.To), Count: e.Count, Outcome: string(e.Outcome), Reason: string(e.Reason),
		}}
		if e.Outcome == recurrence.Skipped {
			p.Occurrences = append(p.Occurrences, row)
			continue
		}
		for at < len(plan.Runs) && storeTime(plan.Runs[at].ScheduledFor).Before(row.From) {
			at++
		}
		at = s.spread(p, row, plan.Runs, made, at)
	}
	return p
}

// spread writes the ledger rows of an entry that runs stand for: one for each run, so that each row has its job.
func (s *Schedule) spread(p *SchedulePlan, row Ledgered, runs []recurrence.Run, made []int, at int) int {
	if row.Outcome == OccurrenceCovered {
		if at < len(runs) {
			row.Job = made[at]
		}
		p.Occurrences = append(p.Occurrences, row)
		return at
	}
	for ; at < len(runs) && !storeTime(runs[at].ScheduledFor).After(row.To); at++ {
		one := row
		one.From = storeTime(runs[at].ScheduledFor)
		one.To, one.Count, one.Job = one.From, 1, made[at]
		p.Occurrences = append(p.Occurrences, one)
	}
	return at
}

// run is the job of one run. A punctual one is due at its instant, however late the tick; one made up late, or that had
// to wait, at now. Jitter moves it by a part of an interval that is the same on every machine.
func (s *Schedule) run(run Run, now time.Time, o ScheduleOptions) NewJob {
	j := s.Rule.job(s.Tenant)
	if o.Types != nil {
		if t, ok := o.Types.Lookup(j.Type); ok {
			t.Complete(&j)
		}
	}
	j.Run = &run
	if !run.CatchUp {
		j.RunAt = run.ScheduledFor
	} else {
		j.RunAt = now
	}
	if s.Rule.Jitter > 0 {
		j.RunAt = j.RunAt.Add(recurrence.Jitter(s.Tenant+"/"+s.Name, run.ScheduledFor, time.Duration(s.Rule.Jitter))).Truncate(time.Microsecond)
	}
	return j
}

// expectNext sets which instant's success is expected next: the first after t.
func expectNext(st *ScheduleState, r *ScheduleRule, rule *recurrence.Rule, t time.Time) {
	st.ExpectBy, st.Expected = time.Time{}, time.Time{}
	if r.ExpectWithin <= 0 || r.Paused && !r.ExpectPaused {
		return
	}
	if next, ok := rule.Next(t); ok {
		st.Expected = storeTime(next.At)
		st.ExpectBy = st.Expected.Add(time.Duration(r.ExpectWithin))
	}
}

// storeTime is t as stores keep it.
func storeTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}
