// Package fleet keeps in memory which workers live and what they handle.
package fleet

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// fleetTimeout bounds one read.
const fleetTimeout = 2 * time.Second

// View keeps in memory what workers handle, as it was a moment ago. Safe for concurrent use.
type View struct {
	store core.FleetStore
	turn  chan struct{} // one read at a time; taken by sending
	view  atomic.Pointer[fleetRead]
}

type fleetRead struct {
	core.Fleet
	at time.Time // when it was asked for
}

// NewView returns a View of store. It reads nothing before it is asked.
func NewView(store core.FleetStore) *View {
	return &View{store: store, turn: make(chan struct{}, 1)}
}

// Within returns what workers handle, read at most age ago. Of callers at once one reads and the others wait for it.
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

// About is Within, for callers that no one may hold up: while another one reads, what was read at most PresenceTTL ago will do.
func (v *View) About(ctx context.Context, age time.Duration) (core.Fleet, error) {
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

// read reads. The turn is the caller's.
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

// fresh is what was read at most age ago.
func (v *View) fresh(age time.Duration) (core.Fleet, bool) {
	read := v.view.Load()
	if read == nil {
		return core.Fleet{}, false
	}
	now := time.Now()
	old := max(now.Sub(read.at), now.Round(0).Sub(read.at.Round(0))) // the monotonic clock stands still while a function is frozen
	return read.Fleet, old < age
}
