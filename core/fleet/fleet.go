// Package fleet keeps in memory which workers live and what they handle.
package fleet

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/typecache"
)

// publishAge is how old what workers handle may be where new jobs are published without waiting for the tick to find them.
// A type whose worker has just come waits for the tick until then.
const publishAge = 5 * time.Second

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

// Publisher returns a function that says whether a new job is of a type that is published now; see core.Fleet.Publishes.
// types knows what is deliverable beside jobs with a target of their own; nil means nothing. Where it is not known what workers handle
// no job is published at once: it waits for the tick.
func (v *View) Publisher(ctx context.Context, types *typecache.Cache, unannounced bool) func(*core.NewJob) bool {
	fleet, err := v.About(ctx, publishAge)
	return func(j *core.NewJob) bool {
		deliverable := j.Target != nil
		if !deliverable && types != nil {
			known, ok := types.Lookup(j.Type)
			deliverable = ok && known.MayDeliver()
		}
		return err == nil && fleet.Publishes(j.Type, deliverable, unannounced)
	}
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
