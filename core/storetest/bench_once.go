package storetest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/submit"
)

// BenchOnce submits single jobs from 16 callers, alternating between rounds without and with idempotency keys; see BenchTurns.
// Both make the answer that a caller gets.
func BenchOnce(b *testing.B, store core.SubmitStore) {
	submitter := submit.New(store, submit.Options{})
	render := func(j *core.NewJob, s core.Submitted) core.Answer {
		return core.Answer{Status: 201, Body: fmt.Appendf(nil, `{"id":"%d","type":"%s"}`, s.ID, j.Type)}
	}
	job := core.NewJob{Type: "echo", Delay: time.Hour}
	var keys atomic.Int64
	BenchTurns(b, func(ctx context.Context) error {
		checked, err := submitter.Check(ctx, job, time.Now())
		if err != nil {
			return err
		}
		answer, err := submitter.Write(ctx, checked)
		if err == nil {
			render(&job, answer)
		}
		return err
	}, func(ctx context.Context) error {
		key := core.IdempotencyKey{Holder: "h", Key: fmt.Sprint("bench ", keys.Add(1)), Keep: time.Hour}
		key.Hash = sha256.Sum256([]byte(key.Key))
		checked, err := submitter.Check(ctx, job, time.Now())
		if err == nil {
			_, err = submitter.WriteOneOnce(ctx, key, checked, render)
		}
		return err
	})
}

// BenchTurns has 16 callers submit jobs, in turns of a tenth of a second without and with idempotency keys, and reports how
// many a second of each, and the median of the rounds' ratios, which says more than theirs where others use the machine, too.
// Every other round begins with the keys.
func BenchTurns(b *testing.B, plain, keyed func(context.Context) error) {
	const callers, turn = 16, 100 * time.Millisecond
	submit, names := [2]func(context.Context) error{plain, keyed}, [2]string{"plain", "keyed"}
	var counts, seconds [2]float64
	var ratios []float64
	round := 0
	for b.Loop() {
		var rates [2]float64
		for i := range submit {
			which := (i + round) % 2
			var n atomic.Int64
			var group sync.WaitGroup
			began := time.Now()
			for range callers {
				group.Go(func() {
					for time.Since(began) < turn {
						if err := submit[which](b.Context()); err != nil {
							b.Error(err)
							return
						}
						n.Add(1)
					}
				})
			}
			group.Wait()
			jobs, took := float64(n.Load()), time.Since(began).Seconds()
			counts[which], seconds[which], rates[which] = counts[which]+jobs, seconds[which]+took, jobs/took
		}
		ratios = append(ratios, rates[1]/max(rates[0], 1))
		round++
	}
	for i, name := range names {
		b.ReportMetric(counts[i]/seconds[i], name+"/s")
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "keyed/plain")
	b.ReportMetric(0, "ns/op")
}
