package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/internal/wait"
	"github.com/belfry-dev/belfry/core/recurrence"
)

// MaxBackfill is the maximum number of instants for which one Backfill makes runs.
const MaxBackfill = 10_000

// scheduleRounds is how often an act is tried again because a tick changed the schedule first.
const scheduleRounds = 50

// waitBetweenRounds waits before an act is tried again: a tick may lock the schedule's row while it writes its batch. All
// rounds together wait about two seconds.
func waitBetweenRounds(ctx context.Context, round int) {
	wait.Sleep(ctx, min(time.Duration(round)*2*time.Millisecond, 50*time.Millisecond))
}

// Store holds the store methods that Acts need.
type Store interface {
	core.ScheduleStore
	Now(ctx context.Context) (time.Time, error)
	MarkDelivered(ctx context.Context, names []string) error
	Cancel(ctx context.Context, id int64) (core.Job, error)
}

// Acts carry out users' requests about schedules. Like a tick, an act plans a step from the stored schedule and writes it
// only if the schedule has not changed since. So acts and ticks never lose or repeat an instant. It is safe for concurrent
// use.
type Acts struct {
	store Store
	opts  Options
	wake  func()
}

// NewActs returns the acts on store. wake is called after a job was created or a schedule may have come due; nil means no
// call.
func NewActs(store Store, opts Options, wake func()) *Acts {
	if wake == nil {
		wake = func() {}
	}
	if opts.Cache == nil {
		opts.Cache = new(recurrence.Cache)
	}
	return &Acts{store: store, opts: opts, wake: wake}
}

// Match says which version of a schedule an act expects. The zero Match accepts any version, and none.
type Match struct {
	Version int64 // exactly this version. Zero means any
	Absent  bool  // the schedule must not exist
}

// Check calls the package's Check, then refuses a missed_grace below this installation's minimum.
func (a *Acts) Check(tenant, name string, r *core.ScheduleRule, now time.Time) error {
	var errs core.FieldErrors
	err := Check(tenant, name, r, now)
	if err != nil && !errors.As(err, &errs) {
		return err
	}
	if grace := time.Duration(r.MissedGrace); grace != 0 && (grace < a.opts.MinGrace() || grace > MaxMissedGrace) {
		errs = slices.DeleteFunc(errs, func(f *core.FieldError) bool { return f.Field == "missed_grace" })
		errs.Add("missed_grace", "%s", a.GraceRule())
	}
	return errs.Err()
}

// GraceRule returns the rule for a missed_grace that is set.
func (a *Acts) GraceRule() string {
	return fmt.Sprintf("must lie between %s, which a late tick or a change of schedulers may take here, and 24h", a.opts.MinGrace())
}

// Put creates a schedule or replaces its definition. An equal definition changes nothing. Faults of the definition are
// FieldErrors. It returns ErrStale if the schedule does not match.
func (a *Acts) Put(ctx context.Context, tenant, name string, rule core.ScheduleRule, match Match) (s core.Schedule, made bool, err error) {
	now, err := a.store.Now(ctx)
	if err != nil {
		return s, false, err
	}
	if err := a.Check(tenant, name, &rule, now); err != nil {
		return s, false, err
	}
	if err := a.markDelivered(ctx, &rule); err != nil {
		return s, false, err
	}
	for round := range scheduleRounds {
		waitBetweenRounds(ctx, round)
		s, err = a.store.GetSchedule(ctx, tenant, name)
		switch {
		case errors.Is(err, core.ErrNotFound) && match.Version != 0:
			return s, false, fmt.Errorf("put schedule: %w", core.ErrStale)
		case errors.Is(err, core.ErrNotFound):
			if s, err = a.create(ctx, tenant, name, rule); !errors.Is(err, core.ErrConflict) {
				return s, err == nil, err
			}
			continue
		case err != nil:
			return s, false, err
		case match.Absent || match.Version != 0 && match.Version != s.Version:
			return s, false, fmt.Errorf("put schedule: %w", core.ErrStale)
		}
		done, err := a.step(ctx, &s, func(now time.Time) (*Plan, error) { return Redefine(&s, &rule, now, a.opts) })
		if err != nil {
			return s, false, err
		}
		if done {
			s, err = a.store.GetSchedule(ctx, tenant, name)
			return s, false, err
		}
	}
	return s, false, fmt.Errorf("put schedule: %w", core.ErrBusy)
}

func (a *Acts) create(ctx context.Context, tenant, name string, rule core.ScheduleRule) (core.Schedule, error) {
	now, err := a.store.Now(ctx)
	if err != nil {
		return core.Schedule{}, err
	}
	state, err := Start(&rule, now, a.opts)
	if err != nil {
		return core.Schedule{}, err
	}
	s, err := a.store.CreateSchedule(ctx, core.Schedule{Tenant: tenant, Name: name, Rule: rule, State: state, CreatedAt: state.Anchor})
	if err == nil {
		a.wake()
	}
	return s, err
}

// markDelivered marks the schedule's type as delivered if its jobs carry a target.
func (a *Acts) markDelivered(ctx context.Context, rule *core.ScheduleRule) error {
	switch {
	case len(rule.Target) == 0:
		return nil
	case a.opts.Types != nil:
		return a.opts.Types.MarkDelivered(ctx, []string{rule.Type})
	}
	return a.store.MarkDelivered(ctx, []string{rule.Type})
}

// step plans and writes one step. done reports that nothing more is to do; otherwise the caller tries again.
func (a *Acts) step(ctx context.Context, s *core.Schedule, plan func(now time.Time) (*Plan, error)) (done bool, err error) {
	now, err := a.store.Now(ctx)
	if err != nil {
		return false, err
	}
	p, err := plan(now)
	if err != nil || p == nil {
		return p == nil, err
	}
	if p.Cancel {
		if err := CancelRuns(ctx, a.store, s); err != nil {
			return false, err
		}
	}
	answers, err := a.store.AdvanceSchedules(ctx, []core.Advance{p.Advance}, nil)
	if err != nil {
		return false, err
	}
	a.wake()
	return !answers[0].Stale && !p.More, nil
}

// Pause sets paused. It changes nothing if the schedule is already paused.
func (a *Acts) Pause(ctx context.Context, tenant, name string) (core.Schedule, error) {
	return a.pause(ctx, tenant, name, true)
}

// Resume clears paused: runs that came due in the pause follow the missed policy.
func (a *Acts) Resume(ctx context.Context, tenant, name string) (core.Schedule, error) {
	return a.pause(ctx, tenant, name, false)
}

func (a *Acts) pause(ctx context.Context, tenant, name string, paused bool) (core.Schedule, error) {
	for round := range scheduleRounds {
		waitBetweenRounds(ctx, round)
		s, err := a.store.GetSchedule(ctx, tenant, name)
		if err != nil || s.Rule.Paused == paused && s.Fault == "" {
			return s, err
		}
		if s.Fault != "" { // a new definition would overwrite the damaged one
			return s, fmt.Errorf("pause or resume: %w: %s", ErrUnreadable, s.Fault)
		}
		rule := s.Rule
		rule.Paused = paused
		done, err := a.step(ctx, &s, func(now time.Time) (*Plan, error) { return Redefine(&s, &rule, now, a.opts) })
		if err != nil {
			return s, err
		}
		if done {
			return a.store.GetSchedule(ctx, tenant, name)
		}
	}
	return core.Schedule{}, fmt.Errorf("pause or resume: %w", core.ErrBusy)
}

// Trigger makes a run now, outside the rule: it is not in the ledger, and the overlap policy does not apply.
func (a *Acts) Trigger(ctx context.Context, tenant, name string) (jobID int64, err error) {
	ids, err := a.makeRuns(ctx, tenant, name, func(_ *core.Schedule, now time.Time) []core.Run {
		return []core.Run{{Schedule: name, ScheduledFor: now.Truncate(time.Microsecond)}}
	})
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

// Backfilled is the result of Backfill.
type Backfilled struct {
	Count int64     // instants in the range
	Made  []int64   // job ids; none in a dry run
	Next  time.Time // where the next call must start if this one reached its bounds. Zero means that the range is done
}

// Backfill makes a run, marked as made up late, for each instant of the current rule in [from, to). One call makes at most
// MaxBackfill runs, or about 16 MiB of payloads. The ledger does not change. A dry run only counts. If to is later than the
// store's time, it returns FieldErrors: future runs are made by the rule.
func (a *Acts) Backfill(ctx context.Context, tenant, name string, from, to time.Time, dry bool) (Backfilled, error) {
	var out Backfilled
	s, err := a.store.GetSchedule(ctx, tenant, name)
	if err != nil {
		return out, err
	}
	now, err := a.store.Now(ctx)
	if err != nil {
		return out, err
	}
	if to.After(now) {
		return out, core.FieldErrors{{Field: "to", Rule: "must not be later than now: runs of instants to come are made by the rule"}}
	}
	rule, err := parseWith(&s, a.opts.Cache)
	if err != nil {
		return out, err
	}
	last := to.Add(-time.Microsecond)
	out.Count = rule.Count(from.Add(-time.Microsecond), last)
	if dry || out.Count == 0 {
		return out, nil
	}
	limit := min(MaxBackfill, runsAtOnce(&s))
	instants := instantsOf(rule, from, last, limit+1)
	if len(instants) > limit {
		out.Next = instants[limit]
		instants = instants[:limit]
	}
	out.Made, err = a.makeRuns(ctx, tenant, name, func(s *core.Schedule, _ time.Time) []core.Run {
		runs := make([]core.Run, len(instants))
		for i, at := range instants {
			runs[i] = core.Run{Schedule: s.Name, ScheduledFor: at, CatchUp: true}
		}
		return runs
	})
	return out, err
}

// instantsOf lists up to limit instants at which a rule is due, in [from, to].
func instantsOf(rule *recurrence.Rule, from, to time.Time, limit int) (list []time.Time) {
	for t := from.Add(-time.Microsecond); len(list) < limit; {
		next, ok := rule.Next(t)
		if !ok || next.At.After(to) {
			break
		}
		list = append(list, storeTime(next.At))
		t = next.At
	}
	return list
}

// makeRuns creates jobs of a schedule outside its rule.
func (a *Acts) makeRuns(ctx context.Context, tenant, name string, of func(s *core.Schedule, now time.Time) []core.Run) ([]int64, error) {
	for round := range scheduleRounds {
		waitBetweenRounds(ctx, round)
		s, err := a.store.GetSchedule(ctx, tenant, name)
		if err != nil {
			return nil, err
		}
		if s.Fault != "" {
			return nil, fmt.Errorf("make runs: %w: %s", ErrUnreadable, s.Fault)
		}
		now, err := a.store.Now(ctx)
		if err != nil {
			return nil, err
		}
		step := step(&s).Advance
		for _, run := range of(&s, now) {
			step.Jobs = append(step.Jobs, runOf(&s, run, now, run.CatchUp, a.opts))
		}
		answers, err := a.store.AdvanceSchedules(ctx, []core.Advance{step}, nil)
		if err != nil {
			return nil, err
		}
		if !answers[0].Stale {
			a.wake()
			return answers[0].JobIDs, nil
		}
	}
	return nil, fmt.Errorf("make runs: %w", core.ErrBusy)
}
