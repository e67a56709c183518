// Package fleet caches which workers are alive and which types they handle.
package fleet

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/typecache"
)

// publishAge is the maximum age of the fleet's state when the submitter publishes new jobs itself. If a type's first worker
// came after that read, its jobs wait for the tick.
const publishAge = 5 * time.Second

// fleetTimeout bounds one read.
const fleetTimeout = 2 * time.Second

// View caches which types the workers handle. It is safe for concurrent use.
type View struct {
	store core.FleetStore
	turn  chan struct{} // one read at a time; taken by sending
	view  atomic.Pointer[fleetRead]
}

type fleetRead struct {
	core.Fleet
	at time.Time // when it was asked for
}

// NewView returns a View of store. The first call reads it.
func NewView(store core.FleetStore) *View {
	return &View{store: store, turn: make(chan struct{}, 1)}
}

// Publisher returns a function that reports whether the submitter publishes a new job itself; see core.Fleet.Publishes.
// types knows which types can be delivered to a target even if the job has none; nil means none. If the fleet cannot be
// read, no job is published at once: all wait for the tick.
func (v *View) Publisher(ctx context.Context, types *typecache.Cache, unannounced bool) func(*core.NewJob) bool {
	fleet, err := v.recent(ctx, publishAge)
	return func(j *core.NewJob) bool {
		deliverable := j.Target != nil
		if !deliverable && types != nil {
			known, ok := types.Lookup(j.Type)
			deliverable = ok && known.MayDeliver()
		}
		return err == nil && fleet.Publishes(j.Type, deliverable, unannounced)
	}
}

// Within returns the fleet as read at most age ago. Of several concurrent callers one reads, and the others wait for it.
func (v *View) Within(ctx context.Context, age time.Duration) (core.Fleet, error) {
	if f, ok := v.fresh(age); ok {
		return f, nil
	}
	select {
	case v.turn <- struct{}{}:
	case <-ctx.Done():
		return core.Fleet{}, context.Cause(ctx)
	}
	defer func() { <-v.turn }()
	if f, ok := v.fresh(age); ok {
		return f, nil
	}
	return v.read(ctx)
}

// recent is like Within, but does not wait for a reader in another goroutine if the last read is at most PresenceTTL old.
func (v *View) recent(ctx context.Context, age time.Duration) (core.Fleet, error) {
	if f, ok := v.fresh(age); ok {
		return f, nil
	}
	select {
	case v.turn <- struct{}{}:
		defer func() { <-v.turn }()
		return v.read(ctx)
	default:
	}
	if f, ok := v.fresh(core.PresenceTTL); ok {
		return f, nil
	}
	return v.Within(ctx, age)
}

// read reads the fleet from the store. The caller holds turn.
func (v *View) read(ctx context.Context) (core.Fleet, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, fleetTimeout)
	defer cancel()
	f, err := v.store.Fleet(ctx)
	if err != nil {
		return core.Fleet{}, err
	}
	v.view.Store(&fleetRead{f, began})
	return f, nil
}

// fresh returns the last read, and whether it is less than age old.
func (v *View) fresh(age time.Duration) (core.Fleet, bool) {
	read := v.view.Load()
	if read == nil {
		return core.Fleet{}, false
	}
	now := time.Now()
	old := max(now.Sub(read.at), now.Round(0).Sub(read.at.Round(0))) // the monotonic clock stops while a function is frozen
	return read.Fleet, old < age
}
