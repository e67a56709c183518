package scenario

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/bench/system"
)

// finishers is how many connections finish at once.
const finishers = 32

func finishOne() Scenario {
	return Scenario{
		Name:  "finish-one",
		Title: "Finish started jobs one at a time from 32 connections, each end durable in a call of its own",
		Full:  Size{Jobs: 20_000},
		Quick: Size{Jobs: 4000},
		Tiny:  Size{Jobs: 200},
		Cases: []Case{
			{Label: "River", System: system.River, Settings: system.Settings{Conns: finishers}},
			{Label: "Belfry", System: system.Belfry, Settings: system.Settings{Conns: finishers}},
		},
		Lines: []Line{
			{Text: "finish one at a time, 32 connections", Metric: JobsPerSecond, Ours: "Belfry", Against: "River"},
		},
		Measure: measureFinishOne,
	}
}

func measureFinishOne(ctx context.Context, b *Bench) (Figures, error) {
	if err := b.fill(ctx, b.Size.Jobs, time.Time{}); err != nil {
		return nil, err
	}
	var claimed []system.Claimed
	for len(claimed) < b.Size.Jobs {
		more, err := b.System.Claim(ctx, min(batch, b.Size.Jobs-len(claimed)))
		if err != nil {
			return nil, err
		}
		if len(more) == 0 {
			return nil, fmt.Errorf("claimed %d jobs of %d", len(claimed), b.Size.Jobs)
		}
		claimed = append(claimed, more...)
	}
	return b.meter(ctx, func() (int, error) {
		var (
			callers sync.WaitGroup
			next    atomic.Int64
			failed  = make(chan error, finishers)
		)
		for range finishers {
			callers.Go(func() {
				for i := next.Add(1) - 1; int(i) < len(claimed); i = next.Add(1) - 1 {
					if err := b.System.FinishOne(ctx, claimed[i]); err != nil {
						failed <- err
						return
					}
				}
			})
		}
		callers.Wait()
		select {
		case err := <-failed:
			return 0, err
		default:
			return len(claimed), nil
		}
	})
}
