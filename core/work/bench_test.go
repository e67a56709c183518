package work

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// emptyStore hands out no-op jobs without end and takes their ends: what is left to measure is the engine.
type emptyStore struct {
	*memStore
	left   atomic.Int64
	ended  atomic.Int64
	nextID atomic.Int64
	all    chan struct{}
}

func (s *emptyStore) ClaimDue(_ context.Context, req core.ClaimRequest) (core.ClaimResult, error) {
	now := time.Now()
	res := core.ClaimResult{Now: now, Taken: make([]core.Taken, len(req.Quotas)), DueIn: time.Hour}
	for i, q := range req.Quotas {
		if q.Priority != core.Default {
			continue
		}
		n := int(min(int64(q.Limit), max(s.left.Load(), 0)))
		s.left.Add(-int64(n))
		res.Taken[i].N = n
		res.Jobs = make([]core.Job, n)
		for k := range res.Jobs {
			res.Jobs[k] = core.Job{ID: s.nextID.Add(1), Type: "noop", Priority: core.Default, Status: core.Running, LeaseToken: 1, Attempts: 1, MaxAttempts: 5, RunAt: now}
		}
	}
	return res, nil
}

func (s *emptyStore) Finish(_ context.Context, ends []core.End) ([]core.EndAnswer, error) {
	answers := make([]core.EndAnswer, len(ends))
	for i := range ends {
		answers[i].Status = core.Done
	}
	if s.ended.Add(-int64(len(ends))) == 0 {
		close(s.all)
	}
	return answers, nil
}

// runNoops runs n no-op jobs through a worker.
func runNoops(tb testing.TB, n int) {
	s := &emptyStore{memStore: newMemStore(), all: make(chan struct{})}
	s.left.Store(int64(n))
	s.ended.Store(int64(n))
	noop := core.HandlerFunc(func(context.Context, *core.Job) (json.RawMessage, error) { return nil, nil })
	w, err := New(s, core.Handlers{"noop": noop}, Options{ID: "bench"})
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- w.Run(ctx) }()
	<-s.all
	cancel()
	if err := <-stopped; err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkWorkerNoop is the engine's own cost per job.
func BenchmarkWorkerNoop(b *testing.B) {
	b.ReportAllocs()
	runNoops(b, b.N)
}

// TestWorkerAllocations bounds what the engine allocates for a job that does nothing: the attempt and its goroutine.
func TestWorkerAllocations(t *testing.T) {
	const jobs = 50_000
	runNoops(t, 1_000)
	if per := testing.AllocsPerRun(1, func() { runNoops(t, jobs) }) / jobs; per > 3 {
		t.Errorf("%.2f allocations per job, want 3 at most", per)
	}
}
