package tick

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
	"github.com/belfry-dev/belfry/core/schedule"
)

// batch collects steps of schedules and writes them in one transaction.
type batch struct {
	t      *Ticker
	res    core.TickResult
	report *Report

	of          []*core.Schedule
	plans       []*schedule.Plan
	jobs, bytes int
}

func (b *batch) add(s *core.Schedule, p *schedule.Plan) {
	b.of, b.plans = append(b.of, s), append(b.plans, p)
	b.jobs += len(p.Jobs)
	b.bytes += len(p.Jobs) * (len(s.Rule.Payload) + len(s.Rule.Target))
}

func (b *batch) full() bool { return b.jobs >= advanceJobs || b.bytes >= schedule.PlanBytes }

// write writes the steps, if there are any, and empties the batch.
func (b *batch) write(ctx context.Context) error {
	if len(b.plans) == 0 {
		return nil
	}
	steps, places := make([]core.Advance, len(b.plans)), make([]int, 0, len(b.plans))
	for i, p := range b.plans {
		steps[i] = p.Advance
		if p.Cancel {
			switch err := schedule.CancelRuns(ctx, b.t.store, b.of[i]); {
			case errors.Is(err, core.ErrRow):
				if err := b.t.scheduleApart(ctx, b.of[i], "cancel runs", err); err != nil {
					return err
				}
				continue
			case err != nil:
				return fmt.Errorf("tick: %w", err)
			}
		}
		places = append(places, i)
	}
	answers, err := b.t.advanceEach(ctx, b.of, steps, places, b.res.Held)
	if err != nil {
		return err
	}
	made := map[core.Lane][]*core.NewJob{}
	for i, a := range answers {
		if a.Stale {
			continue
		}
		b.report.Schedules++
		b.t.opts.Counts.Account(steps[i].Occurrences)
		b.report.Runs += len(a.JobIDs)
		b.report.More = b.report.More || b.plans[i].More
		for j := range steps[i].Jobs {
			job := &steps[i].Jobs[j]
			lane := core.Lane{Priority: job.Priority, Type: job.Type}
			made[lane] = append(made[lane], job)
		}
	}
	if len(made) > 0 {
		b.t.wake(slices.Collect(maps.Keys(made)))
		if b.t.dispatcher != nil && b.t.dispatcher.recordCreated(ctx, made) {
			b.report.More = true // the new jobs must be published
		}
	}
	b.of, b.plans, b.jobs, b.bytes = nil, nil, 0, 0
	return nil
}

// advanceEach applies the steps at these indexes. All others are answered as stale, and so are schedules that raise an error
// and are set apart.
func (t *Ticker) advanceEach(ctx context.Context, of []*core.Schedule, steps []core.Advance, places []int, held []core.Held) ([]core.Advanced, error) {
	answers := make([]core.Advanced, len(steps))
	for i := range answers {
		answers[i].Stale = true
	}
	err := apart.Halve(ctx, places, func(part []int) error {
		got, err := t.store.AdvanceSchedules(ctx, apart.Pick(steps, part), held)
		if err != nil {
			return fmt.Errorf("tick: %w", err)
		}
		for i := range got {
			answers[part[i]] = got[i]
		}
		return nil
	}, func(i int, err error) error { return t.scheduleApart(ctx, of[i], "advance", err) })
	return answers, err
}

// scheduleApart sets a schedule apart.
func (t *Ticker) scheduleApart(ctx context.Context, s *core.Schedule, act string, err error) error {
	if err := t.store.SetApart(ctx, []core.RowFault{{Kind: core.ApartSchedule, ID: s.ID, About: s.Name, Act: act, Error: apart.Text(err)}}); err != nil {
		return fmt.Errorf("tick: %w", err)
	}
	return nil
}
