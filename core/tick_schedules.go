package core

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	advanceJobs    = 5_000            // jobs of one transaction that advances schedules; one schedule may have more
	brokenEvery    = time.Minute      // how often a schedule whose rule cannot be read is looked at
	alertsAtOnce   = 100              // alerts published in one go
	alertTimeout   = 30 * time.Second // of publishing them
	zonesAtOnce    = 1_000            // schedules recomputed in one pass after the time zone database changed
	recoverySlowly = 30 * time.Second // the longest pause between looks for the recovery of a schedule that is overdue
)

// advance takes the schedules that the tick found to their next states: it makes their jobs and accounts for their
// instants, batch by batch, under the leases of this pass. What another pass or a user was faster with is left.
func (t *Ticker) advance(ctx context.Context, res TickResult, report *TickReport) error {
	if len(res.Held) == 0 {
		return nil
	}
	report.NextIn = min(report.NextIn, max(res.ScheduleIn, 0))
	if err := t.recompute(ctx, res); err != nil {
		return err
	}
	var plans []*SchedulePlan
	var alerts []Alert
	jobs := 0
	flush := func() error {
		err := t.write(ctx, res, plans, alerts, report)
		plans, alerts, jobs = nil, nil, 0
		return err
	}
	for i := range res.Schedules {
		s := &res.Schedules[i]
		plan, told, err := t.plan(ctx, s, res.Now)
		if err != nil {
			return err
		}
		plans, alerts = append(plans, plan), append(alerts, told...)
		if jobs += len(plan.Jobs); jobs >= advanceJobs {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	report.More = report.More || len(res.Schedules) >= t.opts.ScheduleLimit
	return flush()
}

// plan plans one schedule: its instants, or the run that waits, and whether a success is overdue.
func (t *Ticker) plan(ctx context.Context, s *Schedule, now time.Time) (*SchedulePlan, []Alert, error) {
	plan, err := PlanSchedule(s, now, t.opts.Schedules)
	if err != nil {
		t.event(TickEvent{Kind: ScheduleBroken, Err: err, Count: 1})
		plan = s.step()
		plan.State.NextDue = now.Add(brokenEvery).Truncate(time.Microsecond)
		return plan, nil, nil
	}
	if plan == nil {
		plan = s.step()
	}
	var alerts []Alert
	if plan.Limited > 0 {
		alerts = append(alerts, droppedAlert(s, plan.Limited, now))
	}
	if by := s.State.ExpectBy; !by.IsZero() && !by.After(now) {
		first, newest, err := t.store.Succeeded(ctx, s.Tenant, s.Name, s.State.Expected)
		if err != nil {
			return nil, nil, fmt.Errorf("tick: %w", err)
		}
		told, err := Watch(s, &plan.State, first, newest, now)
		if err != nil {
			return nil, nil, fmt.Errorf("tick: %w", err)
		}
		alerts = append(alerts, told...)
	}
	return plan, alerts, nil
}

// write raises the alerts and writes the steps. The alerts go first: what they tell is noted in the steps, and raising
// one again changes nothing.
func (t *Ticker) write(ctx context.Context, res TickResult, plans []*SchedulePlan, alerts []Alert, report *TickReport) error {
	if len(plans) == 0 {
		return nil
	}
	if len(alerts) > 0 {
		if err := t.store.RaiseAlerts(ctx, alerts); err != nil {
			return fmt.Errorf("tick: %w", err)
		}
	}
	byID := make(map[int64]*Schedule, len(res.Schedules))
	for i := range res.Schedules {
		byID[res.Schedules[i].ID] = &res.Schedules[i]
	}
	steps := make([]Advance, len(plans))
	for i, p := range plans {
		steps[i] = p.Advance
		if s := byID[p.ID]; p.Cancel && s != nil {
			if err := CancelRuns(ctx, t.store, s.Tenant, s.Name); err != nil {
				return fmt.Errorf("tick: %w", err)
			}
		}
	}
	answers, err := t.store.AdvanceSchedules(ctx, steps, res.Held)
	if err != nil {
		return fmt.Errorf("tick: %w", err)
	}
	var lanes []Lane
	for i, a := range answers {
		if a.Stale {
			continue
		}
		report.Schedules++
		report.Runs += len(a.JobIDs)
		report.More = report.More || plans[i].More
		for j := range steps[i].Jobs {
			lanes = append(lanes, Lane{Priority: steps[i].Jobs[j].Priority, Type: steps[i].Jobs[j].Type})
		}
	}
	if len(lanes) > 0 {
		t.wake(lanes)
		report.More = report.More || t.dispatcher != nil // they are to be published
	}
	return nil
}

// RunCanceller is what CancelRuns asks of a store.
type RunCanceller interface {
	ActiveRuns(ctx context.Context, tenant, name string) ([]int64, error)
	Cancel(ctx context.Context, id int64) (Job, error)
}

// CancelRuns cancels the runs of a schedule that wait, and asks those that run to stop.
func CancelRuns(ctx context.Context, store RunCanceller, tenant, name string) error {
	ids, err := store.ActiveRuns(ctx, tenant, name)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := store.Cancel(ctx, id); err != nil && !errors.Is(err, ErrConflict) && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}

// recompute gives schedules that were computed with another time zone database their next instant by this one, a page
// in each pass until none is left.
func (t *Ticker) recompute(ctx context.Context, res TickResult) error {
	if t.zonesChecked {
		return nil
	}
	list, err := t.store.ListSchedules(ctx, ScheduleQuery{TZDataNot: TZDataVersion(), Limit: zonesAtOnce})
	if err != nil {
		return fmt.Errorf("tick: %w", err)
	}
	var steps []Advance
	for i := range list {
		s := &list[i]
		step := s.step().Advance
		step.State.TZData = TZDataVersion()
		if rule, err := s.Rule.Parse(s.State.Anchor); err == nil && s.State.PausedAt.IsZero() {
			step.State.NextDue = storeTime(rule.NextToAccount(s.State.Accounted))
		}
		steps = append(steps, step)
	}
	if len(steps) > 0 {
		if _, err := t.store.AdvanceSchedules(ctx, steps, res.Held); err != nil {
			return fmt.Errorf("tick: %w", err)
		}
		t.event(TickEvent{Kind: ZonesRecomputed, Count: len(steps)})
	}
	t.zonesChecked = len(list) < zonesAtOnce
	return nil
}

// alert publishes alerts that wait for it, beside the passes.
func (t *Ticker) alert(ctx context.Context, res TickResult) {
	if t.opts.OnAlerts == nil || !res.Unsent || len(res.Held) == 0 || t.alerting.Swap(true) {
		return
	}
	t.background.Go(func() {
		defer t.alerting.Store(false)
		ctx, cancel := context.WithTimeout(ctx, alertTimeout)
		defer cancel()
		alerts, err := t.store.Alerts(ctx, AlertQuery{Unsent: true, Limit: alertsAtOnce})
		if err == nil && len(alerts) > 0 {
			if err = t.opts.OnAlerts(ctx, alerts); err == nil {
				err = t.store.MarkAlerts(ctx, alerts)
			}
		}
		if err != nil {
			t.event(TickEvent{Kind: AlertsUnsent, Err: err, Count: len(alerts)})
		}
	})
}
