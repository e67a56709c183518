package storetest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/submit"
)

// BenchOnce submits single jobs from 16 callers, in turns without and with idempotency keys, and reports how many a second
// of each, and their ratio.
func BenchOnce(b *testing.B, store core.SubmitStore) {
	const callers, turn = 16, 250 * time.Millisecond
	submitter := submit.New(store, submit.Options{})
	render := func(j *core.NewJob, s core.Submitted) core.Answer {
		return core.Answer{Status: 201, Body: fmt.Appendf(nil, `{"id":"%d","type":"%s"}`, s.ID, j.Type)}
	}
	var keys atomic.Int64
	submit := map[bool]func(context.Context) error{
		false: func(ctx context.Context) error {
			_, err := submitter.Submit(ctx, core.NewJob{Type: "echo", Delay: time.Hour})
			return err
		},
		true: func(ctx context.Context) error {
			key := core.IdempotencyKey{Holder: "h", Key: fmt.Sprint("bench ", keys.Add(1)), Keep: time.Hour}
			key.Hash = sha256.Sum256([]byte(key.Key))
			job, err := submitter.Check(ctx, core.NewJob{Type: "echo", Delay: time.Hour}, time.Now())
			if err == nil {
				_, err = submitter.WriteOneOnce(ctx, key, job, render)
			}
			return err
		},
	}
	counts, took := map[bool]int64{}, map[bool]time.Duration{}
	for b.Loop() {
		for _, keyed := range []bool{false, true} {
			var n atomic.Int64
			var group sync.WaitGroup
			began := time.Now()
			for range callers {
				group.Go(func() {
					for time.Since(began) < turn {
						if err := submit[keyed](b.Context()); err != nil {
							b.Error(err)
							return
						}
						n.Add(1)
					}
				})
			}
			group.Wait()
			counts[keyed], took[keyed] = counts[keyed]+n.Load(), took[keyed]+time.Since(began)
		}
	}
	rate := func(keyed bool) float64 { return float64(counts[keyed]) / took[keyed].Seconds() }
	b.ReportMetric(rate(false), "plain/s")
	b.ReportMetric(rate(true), "keyed/s")
	b.ReportMetric(rate(true)/rate(false), "keyed/plain")
	b.ReportMetric(0, "ns/op")
}
