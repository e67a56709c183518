// Package typecache caches job types.
package typecache

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Options configure a Cache.
type Options struct {
	Every   time.Duration // maximum age of the cache. Zero means 5 s
	OnError func(error)   // called when a refresh of Run fails. Nil means no call
}

// typesTimeout bounds one read.
const typesTimeout = 10 * time.Second

// Cache caches the store's job types: their definitions, and the marks on types whose jobs carry targets of their own. It is
// the TypeStore of its process. What is written through it is visible here at once; what another process writes becomes
// visible within Every (5 s) if Run or Fresh is called. One statement reads everything. It is safe for concurrent use.
type Cache struct {
	core.TypeStore
	opts Options

	turn chan struct{} // one read or change of the cache at a time; taken by sending
	view atomic.Pointer[typesView]
}

// typesView holds the types of one read. It is immutable.
type typesView struct {
	byName    map[string]core.JobType
	delivered []string      // sorted
	version   int64         // of delivered; zero: nothing was read yet
	read      time.Time     // when the read began
	changed   chan struct{} // closed when delivered changes
	expecting bool          // some type has ExpectWithin
}

// New returns a Cache of store. It is empty until the first Refresh.
func New(store core.TypeStore, opts Options) *Cache {
	if opts.Every <= 0 {
		opts.Every = 5 * time.Second
	}
	t := &Cache{TypeStore: store, opts: opts, turn: make(chan struct{}, 1)}
	t.view.Store(&typesView{changed: make(chan struct{})})
	return t
}

// Lookup returns the cached definition of a type, or a JobType that only has the mark. It does not ask the store.
func (t *Cache) Lookup(name string) (core.JobType, bool) {
	known, ok := t.view.Load().byName[name]
	return known, ok
}

// Expecting reports whether some type sets ExpectWithin.
func (t *Cache) Expecting() bool { return t.view.Load().expecting }

// Delivered returns the sorted names of the types that have a target or the mark of delivered jobs, and a version that rises
// when the names change. The caller must not change the slice.
func (t *Cache) Delivered() (names []string, version int64) {
	v := t.view.Load()
	return v.delivered, v.version
}

// Changed returns a channel that is closed when the version of Delivered changes.
func (t *Cache) Changed() <-chan struct{} { return t.view.Load().changed }

// Refresh reads all types again. After an error the cache is unchanged.
func (t *Cache) Refresh(ctx context.Context) error {
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer t.releaseTurn()
	return t.refresh(ctx)
}

// RefreshOlder reads all types again unless they were read at most age ago.
func (t *Cache) RefreshOlder(ctx context.Context, age time.Duration) error {
	if v := t.view.Load(); v.version > 0 && v.age(time.Now()) < age {
		return nil
	}
	return t.Refresh(ctx)
}

func (t *Cache) releaseTurn() { <-t.turn }

func (t *Cache) refresh(ctx context.Context) error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, typesTimeout) // writes wait for turn
	defer cancel()
	types, err := t.TypeStore.Types(ctx)
	if err != nil {
		return fmt.Errorf("types: %w", err)
	}
	byName := make(map[string]core.JobType, len(types))
	for _, known := range types {
		byName[known.Name] = known
	}
	t.set(byName, began)
	return nil
}

// Fresh refreshes a cache older than Every, for a process that does not call Run or was frozen. While another call
// refreshes, it does not wait. It returns an error only if nothing was ever read.
func (t *Cache) Fresh(ctx context.Context) error {
	v := t.view.Load()
	if v.version > 0 && v.age(time.Now()) < t.opts.Every {
		return nil
	}
	select {
	case t.turn <- struct{}{}:
	default:
		if v.version > 0 {
			return nil
		}
		select {
		case t.turn <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	defer t.releaseTurn()
	if v = t.view.Load(); v.version > 0 && v.age(time.Now()) < t.opts.Every {
		return nil
	}
	if err := t.refresh(ctx); err != nil && v.version == 0 {
		return err
	}
	return nil
}

// age returns the age of the view. The monotonic clock stops while a machine sleeps, and the wall clock can be set, so the
// longer of the two counts.
func (v *typesView) age(now time.Time) time.Duration {
	return max(now.Sub(v.read), now.Round(0).Sub(v.read.Round(0)))
}

// RoomToMark returns the error of MarkDelivered if a mark on this type would exceed the maximum number of cached types.
func (t *Cache) RoomToMark(name string) error {
	byName := t.view.Load().byName
	if _, known := byName[name]; !known && len(byName) >= core.MaxTypes {
		return core.TooManyTypes()
	}
	return nil
}

// Run keeps the cache fresh until ctx ends, with one statement in a little less than Every.
func (t *Cache) Run(ctx context.Context) {
	every := t.opts.Every - t.opts.Every/10
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		wait := every
		if v := t.view.Load(); v.version > 0 && v.age(time.Now()) < every {
			wait -= v.age(time.Now()) // another caller refreshed it
		} else if err := t.Refresh(ctx); err != nil && ctx.Err() == nil && t.opts.OnError != nil {
			t.opts.OnError(err)
		}
		timer.Reset(max(wait, 0))
	}
}

// PutType creates or replaces a definition.
func (t *Cache) PutType(ctx context.Context, definition core.JobType) (kept core.JobType, made bool, err error) {
	kept, made, err = t.TypeStore.PutType(ctx, definition)
	if err == nil {
		t.change(func(byName map[string]core.JobType) {
			if !byName[kept.Name].UpdatedAt.After(kept.UpdatedAt) {
				byName[kept.Name] = kept
			}
		})
	}
	return kept, made, err
}

// DeleteType removes a definition.
func (t *Cache) DeleteType(ctx context.Context, name string) error {
	err := t.TypeStore.DeleteType(ctx, name)
	if err == nil {
		t.change(func(byName map[string]core.JobType) {
			if byName[name].Delivered {
				byName[name] = core.JobType{Name: name, Delivered: true}
			} else {
				delete(byName, name)
			}
		})
	}
	return err
}

// MarkDelivered marks types whose jobs carry targets of their own. It does not write cached marks again.
func (t *Cache) MarkDelivered(ctx context.Context, names []string) error {
	byName := t.view.Load().byName
	fresh := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return byName[name].Delivered })
	if len(fresh) == 0 {
		return nil
	}
	if err := t.TypeStore.MarkDelivered(ctx, fresh); err != nil {
		return err
	}
	t.change(func(byName map[string]core.JobType) {
		for _, name := range fresh {
			known := byName[name]
			known.Name, known.Delivered = name, true
			byName[name] = known
		}
	})
	return nil
}

// change applies a write to the cache. Holding turn, it follows any read that began before the write; a later read includes
// the write.
func (t *Cache) change(do func(byName map[string]core.JobType)) {
	t.turn <- struct{}{}
	defer t.releaseTurn()
	v := t.view.Load()
	if v.version == 0 {
		return // the first read will include the write
	}
	byName := maps.Clone(v.byName)
	do(byName)
	t.set(byName, v.read)
}

// set replaces the cache by byName. The caller holds turn.
func (t *Cache) set(byName map[string]core.JobType, read time.Time) {
	var delivered []string
	expecting := false
	for name, known := range byName {
		expecting = expecting || known.ExpectWithin > 0
		if known.MayDeliver() {
			delivered = append(delivered, name)
		}
	}
	slices.Sort(delivered)
	old := t.view.Load()
	v := &typesView{byName: byName, delivered: old.delivered, version: old.version, read: read, changed: old.changed, expecting: expecting}
	if old.version == 0 || !slices.Equal(delivered, old.delivered) {
		v.delivered, v.version, v.changed = delivered, old.version+1, make(chan struct{})
		defer close(old.changed)
	}
	t.view.Store(v)
}
