package tick

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
	"github.com/belfry-dev/belfry/core/schedule"
)

const (
	advanceJobs   = 5_000            // jobs in one transaction that advances schedules; a single schedule may have more
	waitingAtOnce = 500              // schedules with a waiting run checked in one pass, so that their number does not slow idle passes
	alertsAtOnce  = 100              // alerts published at once
	alertTimeout  = 30 * time.Second // timeout of publishing them
	zonesAtOnce   = 1_000            // schedules recomputed in one pass after the time zone database changed
)

// advance applies the next steps of the schedules that the tick found: it creates their jobs and accounts for their
// instants, batch by batch, under the leases of this pass. A schedule that another pass or a user changed first is left
// alone. After half of the pass's time the rest is left to the next pass, which has fresh leases.
func (t *Ticker) advance(ctx context.Context, p *pass) error {
	res, report := p.res, &p.report
	t.waitingAfter = res.WaitingTo
	report.NextIn = min(report.NextIn, max(res.ScheduleIn, 0))
	if err := t.recompute(ctx, res); err != nil {
		return err
	}
	report.More = report.More || len(res.Schedules) >= t.opts.ScheduleLimit
	found, err := t.successes(ctx, res)
	if err != nil {
		return err
	}
	b := batch{t: t, res: res, report: report}
	for i := range res.Schedules {
		s := &res.Schedules[i]
		success, asked := found[s.ID]
		if !asked && s.Overdue(res.Now) {
			continue // set apart
		}
		plan, err := schedule.PlanTick(s, success, res.Now, t.opts.Schedules)
		t.opts.Counts.Judge(s.ID, res.Now, err)
		if err != nil {
			t.event(Event{Kind: ScheduleBroken, Err: err, Count: 1})
		}
		b.add(s, plan)
		if !b.full() {
			continue
		}
		if err := b.write(ctx); err != nil {
			return err
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < t.opts.LeaseLength/2 {
			report.More = true
			return nil
		}
	}
	return b.write(ctx)
}

// successes reads the successes of the overdue schedules.
func (t *Ticker) successes(ctx context.Context, res core.TickResult) (map[int64]core.Success, error) {
	var asks []core.SuccessQuery
	var ids []int64
	for i := range res.Schedules {
		if s := &res.Schedules[i]; s.Overdue(res.Now) {
			asks = append(asks, core.SuccessQuery{Tenant: s.Tenant, Name: s.Name, Since: s.State.Expected})
			ids = append(ids, s.ID)
		}
	}
	if len(asks) == 0 {
		return nil, nil
	}
	found := make(map[int64]core.Success, len(ids))
	places := make([]int, len(asks))
	for i := range places {
		places[i] = i
	}
	err := apart.Halve(ctx, places, func(part []int) error {
		answers, err := t.store.Succeeded(ctx, apart.Pick(asks, part))
		if err != nil {
			return fmt.Errorf("tick: %w", err)
		}
		for i, place := range part {
			found[ids[place]] = answers[i]
		}
		return nil
	}, func(i int, err error) error {
		return t.scheduleApart(ctx, &core.Schedule{ID: ids[i], Name: asks[i].Name}, "look for a success", err)
	})
	return found, err
}

// recompute computes the next instants of schedules that another time zone database computed, one page per pass, until none
// is left in the held buckets. Schedules in other buckets belong to their holders; they are checked when this ticker takes
// their buckets.
func (t *Ticker) recompute(ctx context.Context, res core.TickResult) error {
	if len(res.Held) > t.zonesHeld {
		t.zonesChecked = false
	}
	t.zonesHeld = len(res.Held)
	if t.zonesChecked {
		return nil
	}
	list, err := t.store.ListSchedules(ctx, core.ScheduleQuery{TZDataNot: schedule.TZDataVersion(), Limit: zonesAtOnce})
	if errors.Is(err, core.ErrRow) {
		return nil // due schedules continue with their old instants; the rest follow when this is mended
	}
	if err != nil {
		return fmt.Errorf("tick: %w", err)
	}
	steps, of, places := make([]core.Advance, len(list)), make([]*core.Schedule, len(list)), make([]int, len(list))
	for i := range list {
		s := &list[i]
		of[i], places[i] = s, i
		steps[i] = schedule.Recompute(s, res.Now, t.opts.Schedules).Advance
	}
	moved := 0
	answers, err := t.advanceEach(ctx, of, steps, places, res.Held)
	if err != nil {
		return err
	}
	for _, a := range answers {
		if !a.Stale {
			moved++
		}
	}
	if moved > 0 {
		t.event(Event{Kind: ZonesRecomputed, Count: moved})
	}
	t.zonesChecked = moved == 0 || len(list) < zonesAtOnce && moved == len(list)
	return nil
}

// watchTypes finds types that had no success for too long.
func (t *Ticker) watchTypes(ctx context.Context, _ *pass) error {
	if err := t.store.WatchTypes(ctx); err != nil {
		return fmt.Errorf("tick: %w", err)
	}
	return nil
}

// alert publishes waiting alerts in the background.
func (t *Ticker) alert(_ context.Context, p *pass) error {
	t.alerting.Store(true)
	t.background.Go(func() {
		defer t.alerting.Store(false)
		ctx, cancel := context.WithTimeout(p.beside, alertTimeout)
		defer cancel()
		alerts, err := t.store.Alerts(ctx, core.AlertQuery{Unsent: true, Limit: alertsAtOnce})
		if err == nil && len(alerts) > 0 {
			if err = t.opts.OnAlerts(ctx, alerts); err == nil {
				err = t.markAlerts(ctx, alerts)
			}
		}
		if err != nil {
			t.event(Event{Kind: AlertsUnsent, Err: err, Count: len(alerts)})
		}
	})
	return nil
}

// markAlerts marks alerts as published. An alert that cannot be marked is set apart, and published again with the next try.
func (t *Ticker) markAlerts(ctx context.Context, alerts []core.Alert) error {
	return apart.Halve(ctx, alerts, func(part []core.Alert) error { return t.store.MarkAlerts(ctx, part) }, func(a core.Alert, err error) error {
		return t.store.SetApart(ctx, []core.RowFault{{Kind: core.ApartAlert, ID: a.ID, About: a.Kind + " " + a.Subject, Act: "mark as published", Error: apart.Text(err)}})
	})
}
