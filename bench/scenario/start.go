package scenario

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/bench/measure"
	"github.com/belfry-dev/belfry/bench/system"
)

// The pace of startAtOnce, and the jobs at its beginning that do not count because connections open then.
const (
	startRate   = 200
	startWarmUp = startRate
)

func startAtOnce() Scenario {
	return Scenario{
		Name:  "start",
		Title: "Insert at 200/s, one process: from the call that inserts to the handler's entry",
		Full:  Size{For: 15 * time.Second},
		Quick: Size{For: 3 * time.Second},
		Tiny:  Size{For: 200 * time.Millisecond},
		Cases: []Case{
			{Label: "River", System: system.River},
			{Label: "Belfry", System: system.Belfry},
		},
		Lines: []Line{
			{Text: "insert → start at 200/s, p50", Metric: P50, Ours: "Belfry", Against: "River"},
			{Text: "insert → start at 200/s, p99", Metric: P99, Ours: "Belfry", Against: "River"},
		},
		Measure: measureStart,
	}
}

// measureStart inserts at a steady pace whatever the inserts before it do.
func measureStart(ctx context.Context, b *Bench) (Figures, error) {
	n := startWarmUp + int(b.Size.For*startRate/time.Second)
	r, began, zero := newRun(n), make([]atomic.Int64, n), time.Now()
	stop, err := b.System.Work(ctx, func(seq int) { r.enter(seq, time.Since(zero)-time.Duration(began[seq].Load())) })
	if err != nil {
		return nil, err
	}
	figures, err := b.meter(ctx, func() (int, error) {
		var (
			inserts sync.WaitGroup
			failed  = make(chan error, n)
			pace    = time.NewTicker(time.Second / startRate)
		)
		defer pace.Stop()
		for seq := range n {
			<-pace.C
			inserts.Go(func() {
				began[seq].Store(int64(time.Since(zero)))
				if err := b.System.Insert(ctx, system.Job{Seq: seq}); err != nil {
					failed <- err
				}
			})
		}
		inserts.Wait()
		select {
		case err := <-failed:
			return 0, err
		default:
			return n, r.wait(ctx)
		}
	})
	if err = errors.Join(err, stop(ctx)); err != nil {
		return nil, err
	}
	delete(figures, JobsPerSecond) // the pace, not the speed
	addQuantiles(figures, r.lag, startWarmUp)
	return figures, nil
}

func addQuantiles(figures Figures, lag *measure.Latencies, first int) {
	q := lag.Quantiles(first, 0.5, 0.99)
	figures[P50], figures[P99] = q[0], q[1]
}
