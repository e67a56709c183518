package storetest

import (
	"context"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Fault makes one call of a method fail. Unless Before is set, the call is made and only its answer is lost, as when a
// connection dies after the commit.
type Fault struct {
	Method string // for example "Submit", "ClaimDue", "Start", "Heartbeat", "Finish", "Tick", "Cancel", "AddRollups"
	Nth    int    // the call that fails, counted per method from 1; zero means every call
	Before bool   // the call is not made at all
	Err    error  // what the caller sees; nil means core.ErrUnavailable
}

// Faulty is a store with failing calls. Methods without faults go straight through.
type Faulty struct {
	core.Store
	faults []Fault
	mu     sync.Mutex
	calls  map[string]int
}

// NewFaulty wraps store.
func NewFaulty(store core.Store, faults ...Fault) *Faulty {
	return &Faulty{Store: store, faults: faults, calls: map[string]int{}}
}

// Calls returns how often a method was called.
func (f *Faulty) Calls(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[method]
}

// fault counts the call and returns its fault, if any.
func (f *Faulty) fault(method string) (before, after error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[method]++
	for _, fault := range f.faults {
		if fault.Method != method || fault.Nth != 0 && fault.Nth != f.calls[method] {
			continue
		}
		err := fault.Err
		if err == nil {
			err = core.ErrUnavailable
		}
		if fault.Before {
			return err, nil
		}
		return nil, err
	}
	return nil, nil
}

// faulty makes one call with the faults of its method.
func faulty[T any](f *Faulty, method string, call func() (T, error)) (T, error) {
	var nothing T
	before, after := f.fault(method)
	if before != nil {
		return nothing, before
	}
	answer, err := call()
	if err == nil && after != nil {
		return nothing, after
	}
	return answer, err
}

// Submit calls the store's Submit.
func (f *Faulty) Submit(ctx context.Context, jobs []core.NewJob) ([]core.Submitted, error) {
	return faulty(f, "Submit", func() ([]core.Submitted, error) { return f.Store.Submit(ctx, jobs) })
}

// Cancel calls the store's Cancel.
func (f *Faulty) Cancel(ctx context.Context, id int64) (core.Job, error) {
	return faulty(f, "Cancel", func() (core.Job, error) { return f.Store.Cancel(ctx, id) })
}

// Tick calls the store's Tick.
func (f *Faulty) Tick(ctx context.Context, req core.TickRequest) (core.TickResult, error) {
	return faulty(f, "Tick", func() (core.TickResult, error) { return f.Store.Tick(ctx, req) })
}

// ClaimDue calls the store's ClaimDue.
func (f *Faulty) ClaimDue(ctx context.Context, req core.ClaimRequest) (core.ClaimResult, error) {
	return faulty(f, "ClaimDue", func() (core.ClaimResult, error) { return f.Store.ClaimDue(ctx, req) })
}

// Start calls the store's Start.
func (f *Faulty) Start(ctx context.Context, refs []core.Ref, req core.ClaimRequest) (core.StartResult, error) {
	return faulty(f, "Start", func() (core.StartResult, error) { return f.Store.Start(ctx, refs, req) })
}

// Heartbeat calls the store's Heartbeat.
func (f *Faulty) Heartbeat(ctx context.Context, beats []core.Ref, lease time.Duration) ([]core.Beat, error) {
	return faulty(f, "Heartbeat", func() ([]core.Beat, error) { return f.Store.Heartbeat(ctx, beats, lease) })
}

// Finish calls the store's Finish.
func (f *Faulty) Finish(ctx context.Context, ends []core.End) ([]core.EndAnswer, error) {
	return faulty(f, "Finish", func() ([]core.EndAnswer, error) { return f.Store.Finish(ctx, ends) })
}

// AddRollups calls the store's AddRollups.
func (f *Faulty) AddRollups(ctx context.Context, shard int, rows []core.Rollup) error {
	_, err := faulty(f, "AddRollups", func() (struct{}, error) { return struct{}{}, f.Store.AddRollups(ctx, shard, rows) })
	return err
}
