package schedule

import (
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/recurrence"
	"github.com/belfry-dev/belfry/core/typecache"
)

// Options are the inputs of plans besides the schedule itself.
type Options struct {
	TickPeriod time.Duration     // with Takeover: the minimum lateness of a missed run. Zero means 1 s
	Takeover   time.Duration     // how long another scheduler may need to take over. Zero means 5 s
	Types      *typecache.Cache  // defaults of types. Nil means none
	Cache      *recurrence.Cache // zones and parsed rules. Nil means that each plan loads its zone and parses its rule
}

// MinGrace returns the minimum lateness that counts as missed: what a tick or a takeover may take.
func (o Options) MinGrace() time.Duration { return o.graceOf(1) }

func (o Options) grace(r *core.ScheduleRule) time.Duration {
	return o.graceOf(time.Duration(r.MissedGrace))
}

func (o Options) graceOf(asked time.Duration) time.Duration {
	period, takeover := o.TickPeriod, o.Takeover
	if period <= 0 {
		period = time.Second
	}
	if takeover <= 0 {
		takeover = 5 * time.Second
	}
	return recurrence.Grace(asked, period, takeover)
}

// PlanBytes is the approximate maximum size of the jobs of one step. The next step makes the rest.
const PlanBytes = 16 << 20

// Plan is one step of a schedule and the changes that go with it.
type Plan struct {
	core.Advance
	Cancel bool // cancel the schedule's active runs first
	More   bool // more is due at the same now: plan again from the new state
}

// Start returns the state of a schedule that is created or gets a new rule at now: nothing before now is due.
func Start(r *core.ScheduleRule, now time.Time, o Options) (core.ScheduleState, error) {
	now = now.Truncate(time.Microsecond)
	st := core.ScheduleState{Anchor: now, Accounted: now, TZData: TZDataVersion()}
	rule, err := parseRule(r, now, o.Cache)
	if err != nil {
		return st, err
	}
	if r.Paused {
		st.PausedAt = now
	} else {
		st.NextDue = storeTime(rule.NextToAccount(now))
	}
	st.ZoneMark = zoneMark(rule, st.Accounted)
	expectNext(&st, r, rule, now)
	return st, nil
}

// Next plans the next step of a schedule at now: it handles the due instants, or starts the waiting run once no run is
// active. It accounts exactly once for every instant after Accounted up to now, independently of NextDue. A nil plan means
// that there is nothing to do.
func Next(s *core.Schedule, now time.Time, o Options) (*Plan, error) {
	now = now.Truncate(time.Microsecond)
	rule, err := parseWith(s, o.Cache)
	if err != nil {
		return nil, fmt.Errorf("schedule %q: %w", s.Name, err)
	}
	due := !s.State.NextDue.IsZero() && !s.State.NextDue.After(now)
	if s.State.Waiting != nil && !s.Active {
		p := step(s)
		p.Inactive, p.Attach, p.State.Waiting = s.Rule.Exclusive(), true, nil
		p.Jobs = []core.NewJob{runOf(s, *s.State.Waiting, now, true, o)}
		p.More = due
		return p, nil
	}
	if !due {
		return nil, nil
	}
	return account(s, rule, recurrence.State{}, now, o), nil
}

// step returns a step without changes.
func step(s *core.Schedule) *Plan {
	return &Plan{Advance: core.Advance{ID: s.ID, Version: s.Version, Moves: s.Moves, State: s.State}}
}

// account turns a plan of recurrence into a step. It starts after Accounted; from adds the pause.
func account(s *core.Schedule, rule *recurrence.Rule, from recurrence.State, now time.Time, o Options) *Plan {
	p := step(s)
	accounted := p.passRepeated(s, rule)
	from.Next = storeTime(rule.NextToAccount(accounted))
	from.Active, from.Waiting = s.Active, s.State.Waiting != nil
	r := &s.Rule
	plan := rule.Plan(from, now, recurrence.Policy{
		Missed: recurrence.MissedPolicy(r.Missed), Window: time.Duration(r.MissedWindow), Limit: r.MissedLimit, Grace: o.grace(r),
		Overlap: recurrence.OverlapPolicy(r.Overlap),
	}, runsAtOnce(s))
	p.More = plan.More
	if plan.Limited > 0 {
		p.Alerts = append(p.Alerts, droppedAlert(s, plan.Limited, now))
	}
	p.Inactive = r.Exclusive() && !s.Active && len(plan.Runs) > 0
	p.State.NextDue = storeTime(plan.State.Next)
	p.State.TZData = TZDataVersion()
	if p.State.Accounted = later(now, accounted); plan.More && !plan.State.Next.IsZero() {
		p.State.Accounted = storeTime(plan.State.Next).Add(-time.Microsecond)
	}
	p.State.ZoneMark = zoneMark(rule, p.State.Accounted)
	made := make([]int, len(plan.Runs))
	for i, run := range plan.Runs {
		kept := core.Run{Schedule: s.Name, ScheduledFor: storeTime(run.ScheduledFor), CatchUp: run.CatchUp}
		if run.Covers > 1 {
			kept.Covers, kept.CoversFrom = run.Covers, storeTime(run.CoversFrom)
		}
		if run.Waits {
			made[i], p.State.Waiting = -1, &kept
			continue
		}
		p.Cancel = p.Cancel || run.CancelsPrevious
		made[i] = len(p.Jobs)
		p.Jobs = append(p.Jobs, runOf(s, kept, now, run.CatchUp, o))
	}
	at := 0
	for _, e := range plan.Entries {
		row := core.Ledgered{Job: -1, Occurrence: core.Occurrence{
			From: storeTime(e.From), To: storeTime(e.To), Count: e.Count, Outcome: string(e.Outcome), Reason: string(e.Reason),
		}}
		if e.Outcome == recurrence.Skipped {
			p.Occurrences = append(p.Occurrences, row)
			continue
		}
		for at < len(plan.Runs) && storeTime(plan.Runs[at].ScheduledFor).Before(row.From) {
			at++
		}
		at = addRunRows(s, p, row, plan.Runs, made, at)
	}
	return p
}

// addRunRows writes the ledger rows of an entry with runs: one row per run, so that each row has its job.
func addRunRows(s *core.Schedule, p *Plan, row core.Ledgered, runs []recurrence.Run, made []int, at int) int {
	if row.Outcome == core.OccurrenceCovered {
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

// runsAtOnce returns the maximum number of runs that one step makes.
func runsAtOnce(s *core.Schedule) int {
	return max(1, min(2*MaxMissedLimit, PlanBytes/(1024+len(s.Rule.Payload)+len(s.Rule.Target))))
}

// runOf returns the job of one run. A punctual run is due at its instant, however late the tick is. A run that is made up
// late, or that had to wait, is due at now. Jitter delays it by a part of an interval that is the same on every machine.
func runOf(s *core.Schedule, run core.Run, now time.Time, late bool, o Options) core.NewJob {
	j := jobOf(&s.Rule, s.Tenant)
	if o.Types != nil {
		if t, ok := o.Types.Lookup(j.Type); ok {
			t.Complete(&j)
		}
	}
	j.Run = &run
	if j.RunAt = run.ScheduledFor; late {
		j.RunAt = now
	}
	if s.Rule.Jitter > 0 {
		j.RunAt = j.RunAt.Add(recurrence.Jitter(s.Tenant+"/"+s.Name, run.ScheduledFor, time.Duration(s.Rule.Jitter))).Truncate(time.Microsecond)
	}
	return j
}

// expectNext expects the next success for the first instant after t.
func expectNext(st *core.ScheduleState, r *core.ScheduleRule, rule *recurrence.Rule, t time.Time) {
	st.ExpectBy, st.Expected = time.Time{}, time.Time{}
	if r.ExpectWithin <= 0 || r.Paused && !r.ExpectPaused {
		return
	}
	if next, ok := rule.Next(t); ok {
		st.Expected = storeTime(next.At)
		st.ExpectBy = st.Expected.Add(time.Duration(r.ExpectWithin))
	}
}

// storeTime returns t with the precision of stores.
func storeTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// later returns the later of two instants. If a store's clock is set back, accounted instants stay accounted.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
