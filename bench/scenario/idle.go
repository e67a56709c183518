package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/bench/system"
)

// idleSettle is how long a system may take to come to rest after its start. PostgreSQL counts a session's last
// transactions up to 10 s late; those of the start must not fall into the measurement.
const idleSettle = 12 * time.Second

func idle() Scenario {
	return Scenario{
		Name:  "idle",
		Title: "One process with workers and nothing to do",
		Full:  Size{For: 15 * time.Second},
		Quick: Size{For: 5 * time.Second},
		Tiny:  Size{For: 100 * time.Millisecond},
		Cases: []Case{
			{Label: "River", System: system.River},
			{Label: "Belfry", System: system.Belfry},
			{Label: "Belfry, mem topics", System: system.Belfry, Settings: system.Settings{Queue: "mem"}},
		},
		Lines: []Line{
			{Text: "idle, transactions/s", Metric: Transactions, Ours: "Belfry", Against: "River"},
			{Text: "idle, transactions/s, mem topics", Metric: Transactions, Ours: "Belfry, mem topics", Against: "River"},
			{Text: "idle, client CPU %", Metric: ClientShare, Ours: "Belfry", Against: "River"},
			{Text: "idle, server CPU %", Metric: ServerShare, Ours: "Belfry", Against: "River"},
		},
		Measure: func(ctx context.Context, b *Bench) (Figures, error) {
			stop, err := b.System.Work(ctx, func(int) {})
			if err != nil {
				return nil, err
			}
			err = rest(ctx, min(idleSettle, 10*b.Size.For))
			var figures Figures
			if err == nil {
				figures, err = b.meter(ctx, func() (int, error) { return 0, rest(ctx, b.Size.For) })
			}
			return figures, errors.Join(err, stop(ctx))
		},
	}
}

// rest waits.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return fmt.Errorf("idle: %w", ctx.Err())
	case <-timer.C:
		return nil
	}
}
