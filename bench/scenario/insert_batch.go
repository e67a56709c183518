package scenario

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/bench/system"
)

func insertBatch() Scenario {
	return Scenario{
		Name:  "insert-batch",
		Title: "Insert batches of 1,000, one caller, each batch durable before its call returns; no workers",
		Full:  Size{Jobs: 100_000},
		Quick: Size{Jobs: 30_000},
		Tiny:  Size{Jobs: 1000},
		Cases: []Case{
			{Label: "River", System: system.River},
			{Label: "Belfry", System: system.Belfry},
		},
		Lines: []Line{
			{Text: "insert in batches of 1,000", Metric: JobsPerSecond, Ours: "Belfry", Against: "River"},
		},
		Measure: func(ctx context.Context, b *Bench) (Figures, error) {
			if err := b.System.Insert(ctx, system.Job{}); err != nil { // connects, prepares
				return nil, err
			}
			return b.meter(ctx, func() (int, error) {
				return b.Size.Jobs, b.fill(ctx, b.Size.Jobs, time.Time{})
			})
		},
	}
}
