package scenario

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/bench/system"
)

func insertOne() Scenario {
	return Scenario{
		Name:  "insert-one",
		Title: "Insert single jobs, each durable before its call returns; no workers",
		Full:  Size{For: 5 * time.Second},
		Quick: Size{For: time.Second},
		Tiny:  Size{For: 100 * time.Millisecond},
		Cases: []Case{
			{Label: "River, 1 caller", System: system.River, Callers: 1},
			{Label: "Belfry, 1 caller", System: system.Belfry, Callers: 1},
			{Label: "River, 16 callers", System: system.River, Callers: 16},
			{Label: "Belfry, 16 callers", System: system.Belfry, Callers: 16},
		},
		Lines: []Line{
			{Text: "insert one at a time, 1 caller", Metric: JobsPerSecond, Ours: "Belfry, 1 caller", Against: "River, 1 caller"},
			{Text: "insert one at a time, 16 callers", Metric: JobsPerSecond, Ours: "Belfry, 16 callers", Against: "River, 16 callers"},
		},
		Measure: measureInsertOne,
	}
}

func measureInsertOne(ctx context.Context, b *Bench) (Figures, error) {
	if err := b.System.Insert(ctx, system.Job{}); err != nil { // connects, prepares
		return nil, err
	}
	return b.meter(ctx, func() (int, error) {
		return together(b.Case.Callers, b.Size.For, func(seq int) error {
			return b.System.Insert(ctx, system.Job{Seq: seq})
		})
	})
}

// together has n callers call do, with rising numbers from 0, until the time is over or one fails.
func together(n int, d time.Duration, do func(seq int) error) (calls int, err error) {
	var (
		callers sync.WaitGroup
		next    atomic.Int64
		failed  atomic.Pointer[error]
		until   = time.Now().Add(d)
	)
	for range max(n, 1) {
		callers.Go(func() {
			for time.Now().Before(until) && failed.Load() == nil {
				if err := do(int(next.Add(1) - 1)); err != nil {
					failed.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	callers.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return int(next.Load()), nil
}
