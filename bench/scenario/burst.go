package scenario

import (
	"context"
	"errors"
	"time"

	"github.com/belfry-dev/belfry/bench/system"
)

// burstAhead is how far ahead the burst lies when the inserting begins: River moves delayed jobs to its
// waiting state up to 5 s ahead, in a pass every 5 s, and must have had the chance.
const burstAhead = 9 * time.Second

func burst() Scenario {
	return Scenario{
		Name:  "burst",
		Title: "Delayed jobs that fall due in the same second, workers idle before: schedule lag",
		Full:  Size{Jobs: 20_000},
		Quick: Size{Jobs: 5000},
		Tiny:  Size{Jobs: 200},
		Cases: []Case{
			{Label: "River", System: system.River},
			{Label: "Belfry", System: system.Belfry},
		},
		Lines: []Line{
			{Text: "20k due in the same second, lag p50", Metric: P50, Ours: "Belfry", Against: "River"},
			{Text: "20k due in the same second, lag p99", Metric: P99, Ours: "Belfry", Against: "River"},
			{Text: "peak memory of the burst", Metric: PeakMemory, Ours: "Belfry", Against: "River"},
		},
		Measure: measureBurst,
	}
}

func measureBurst(ctx context.Context, b *Bench) (Figures, error) {
	due := time.Now().Add(burstAhead).Truncate(time.Second)
	r := newRun(b.Size.Jobs)
	stop, err := b.System.Work(ctx, func(seq int) { r.enter(seq, time.Since(due)) })
	if err != nil {
		return nil, err
	}
	figures, err := b.meter(ctx, func() (int, error) {
		if err := b.fill(ctx, b.Size.Jobs, due); err != nil {
			return 0, err
		}
		if time.Until(due) < time.Second {
			return 0, errors.New("inserting took too long: jobs were due before all were there")
		}
		if err := r.wait(ctx); err != nil {
			return 0, err
		}
		return b.Size.Jobs, b.finished(ctx)
	})
	if err = errors.Join(err, stop(ctx)); err != nil {
		return nil, err
	}
	for _, metric := range []Metric{JobsPerSecond, ClientShare, ServerShare} { // of the wait, mostly
		delete(figures, metric)
	}
	addQuantiles(figures, r.lag, 0)
	return figures, nil
}
