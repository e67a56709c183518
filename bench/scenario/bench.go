package scenario

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/bench/measure"
	"github.com/belfry-dev/belfry/bench/system"
)

// batch is how many jobs are inserted at once where inserting is not what is measured.
const batch = 1000

// Bench is what a measurement has at hand.
type Bench struct {
	System  system.System
	Watcher *measure.Watcher
	DSN     string // of the database the system is on
	Case    Case
	Size    Size
}

// meter runs do, which says how many jobs it did, and answers what it took: time, processors, WAL, memory.
func (b *Bench) meter(ctx context.Context, do func() (jobs int, err error)) (Figures, error) {
	measure.ResetPeak()
	before, err := b.Watcher.Read(ctx)
	if err != nil {
		return nil, err
	}
	cpu, start := measure.CPU(), time.Now()
	jobs, err := do()
	elapsed, used := time.Since(start), measure.CPU()-cpu
	if err != nil {
		return nil, err
	}
	peak, err := measure.PeakMiB()
	if err != nil {
		return nil, err
	}
	after, err := b.Watcher.Read(ctx)
	if err != nil {
		return nil, err
	}
	server := after.Sub(before)
	figures := Figures{
		PeakMemory:  peak,
		ClientShare: 100 * used.Seconds() / elapsed.Seconds(),
		ServerShare: 100 * server.CPU.Seconds() / elapsed.Seconds(),
	}
	if jobs == 0 {
		// Sessions report their transactions up to a second late: a figure of long measurements only.
		figures[Transactions] = float64(server.Transactions) / elapsed.Seconds()
	} else {
		figures[JobsPerSecond] = float64(jobs) / elapsed.Seconds()
		figures[ClientPerJob] = float64(used.Microseconds()) / float64(jobs)
		figures[ServerPerJob] = float64(server.CPU.Microseconds()) / float64(jobs)
		figures[WALPerJob] = float64(server.WAL) / float64(jobs)
	}
	return figures, nil
}

// fill inserts n jobs, numbered from 0, in batches.
func (b *Bench) fill(ctx context.Context, n int, runAt time.Time) error {
	for first := 0; first < n; first += batch {
		jobs := make([]system.Job, 0, batch)
		for seq := first; seq < min(first+batch, n); seq++ {
			job := system.Job{Seq: seq, RunAt: runAt}
			if b.Case.Tenants > 0 {
				job.Tenant = fmt.Sprintf("tenant-%05d", seq%b.Case.Tenants)
			}
			jobs = append(jobs, job)
		}
		if err := b.System.InsertBatch(ctx, jobs); err != nil {
			return fmt.Errorf("fill: %w", err)
		}
	}
	return nil
}

// run is a number of jobs of which each should be entered exactly once.
type run struct {
	lag   *measure.Latencies
	left  atomic.Int64
	again atomic.Int64 // entered a second time, or not ours
	all   chan struct{}
}

func newRun(n int) *run {
	r := &run{lag: measure.NewLatencies(n), all: make(chan struct{})}
	r.left.Store(int64(n))
	return r
}

// enter records that job seq was entered this late. The jobs that lie beside have negative numbers.
func (r *run) enter(seq int, late time.Duration) {
	if !r.lag.Put(seq, late) {
		r.again.Add(1)
		return
	}
	if r.left.Add(-1) == 0 {
		close(r.all)
	}
}

// wait returns when all jobs have been entered.
func (r *run) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("%d jobs not entered: %w", r.left.Load(), ctx.Err())
	case <-r.all:
	}
	if n := r.again.Load(); n > 0 {
		return fmt.Errorf("%d handlers entered for jobs that had run before or were not due", n)
	}
	return nil
}
