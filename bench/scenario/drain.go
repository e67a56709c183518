package scenario

import (
	"context"
	"errors"
	"time"

	"github.com/belfry-dev/belfry/bench/system"
)

// slots is how many handlers River, tuned, may run at once.
const slots = 2000

func drainEmpty() Scenario {
	const (
		river, direct, wide, queue, wideQueue = "River", "Belfry, default settings", "Belfry, 2,000 slots", "Belfry, mem topics, default settings", "Belfry, mem topics, 2,000 slots"
	)
	return Scenario{
		Name:  "drain",
		Title: "Drain due jobs from a table that holds nothing else; until the last is durably finished",
		Full:  Size{Jobs: 100_000},
		Quick: Size{Jobs: 20_000},
		Tiny:  Size{Jobs: 500},
		Cases: []Case{
			{Label: river, System: system.River},
			{Label: direct, System: system.Belfry},
			{Label: wide, System: system.Belfry, Settings: system.Settings{Slots: slots}},
			{Label: queue, System: system.Belfry, Settings: system.Settings{Queue: "mem"}},
			{Label: wideQueue, System: system.Belfry, Settings: system.Settings{Slots: slots, Queue: "mem"}},
		},
		Lines: []Line{
			{Text: "drain 100k jobs, direct, default settings", Metric: JobsPerSecond, Ours: direct, Against: river},
			{Text: "drain 100k jobs, direct, 2,000 slots", Metric: JobsPerSecond, Ours: wide, Against: river},
			{Text: "drain 100k jobs, mem topics, default settings", Metric: JobsPerSecond, Ours: queue, Against: river},
			{Text: "drain 100k jobs, mem topics, 2,000 slots", Metric: JobsPerSecond, Ours: wideQueue, Against: river},
			{Text: "client CPU of the drain, default settings", Metric: ClientPerJob, Ours: direct, Against: river},
			{Text: "server CPU of the drain, default settings", Metric: ServerPerJob, Ours: direct, Against: river},
			{Text: "WAL of the drain, default settings", Metric: WALPerJob, Ours: direct, Against: river},
			{Text: "peak memory of the drain, default settings", Metric: PeakMemory, Ours: direct, Against: river},
			{Text: "peak memory of the drain, 2,000 slots", Metric: PeakMemory, Ours: wide, Against: river},
		},
		Measure: drain,
	}
}

// drain inserts the jobs, then starts workers and measures until none is left.
func drain(ctx context.Context, b *Bench) (Figures, error) {
	if err := b.fill(ctx, b.Size.Jobs, time.Time{}); err != nil {
		return nil, err
	}
	var stop func(context.Context) error
	figures, err := b.meter(ctx, func() (int, error) {
		r := newRun(b.Size.Jobs)
		var err error
		if stop, err = b.System.Work(ctx, func(seq int) { r.enter(seq, 0) }); err != nil {
			return 0, err
		}
		if err := r.wait(ctx); err != nil {
			return 0, err
		}
		return b.Size.Jobs, b.finished(ctx)
	})
	if stop != nil {
		err = errors.Join(err, stop(ctx))
	}
	return figures, err
}

// finished returns when the end of every started job is durable.
func (b *Bench) finished(ctx context.Context) error {
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for {
		unfinished, err := b.System.Unfinished(ctx)
		if err != nil || !unfinished {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-again.C:
		}
	}
}
