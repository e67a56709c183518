// Package typecache keeps in memory what the store knows of types.
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

// Options configure Types.
type Options struct {
	Every   time.Duration // how old what is known may become. Zero means 5 s
	OnError func(error)   // told when a refresh of Run fails. Nil means nobody
}

// typesTimeout bounds one read.
const typesTimeout = 10 * time.Second

// Cache keeps in memory what the store knows of types: definitions, and marks on types whose jobs bring targets of their
// own. It is the TypeStore of its process: what is written through it is known here at once; what another process
// writes within Every (5 s), where Run or Fresh is called. One statement reads it all. Safe for concurrent use.
type Cache struct {
	core.TypeStore
	opts Options

	turn chan struct{} // one read or change of the cache at a time; taken by sending
	view atomic.Pointer[typesView]
}

// typesView is what is known of types at one time. It is never changed.
type typesView struct {
	byName    map[string]core.JobType
	delivered []string      // sorted
	version   int64         // of delivered; zero: nothing has been read yet
	read      time.Time     // when it was asked for
	changed   chan struct{} // closed once delivered is another
	expecting bool          // of some type a success is expected
}

// New returns Types of store. Nothing is known before the first Refresh.
func New(store core.TypeStore, opts Options) *Cache {
	if opts.Every <= 0 {
		opts.Every = 5 * time.Second
	}
	t := &Cache{TypeStore: store, opts: opts, turn: make(chan struct{}, 1)}
	t.view.Store(&typesView{changed: make(chan struct{})})
	return t
}

// Lookup returns what is known of a type: its definition, or only a mark. It asks nobody.
func (t *Cache) Lookup(name string) (core.JobType, bool) {
	known, ok := t.view.Load().byName[name]
	return known, ok
}

// Expecting reports whether a success of some type is expected: ExpectWithin.
func (t *Cache) Expecting() bool { return t.view.Load().expecting }

// Delivered returns the names, sorted, of the types that have a target or the mark of delivered jobs, and a version that
// rises whenever they become others. The caller leaves the slice as it is.
func (t *Cache) Delivered() (names []string, version int64) {
	v := t.view.Load()
	return v.delivered, v.version
}

// Changed returns a channel that is closed once Delivered answers another version than now.
func (t *Cache) Changed() <-chan struct{} { return t.view.Load().changed }

// Refresh reads everything again. After an error what was known stays.
func (t *Cache) Refresh(ctx context.Context) error {
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer t.pass()
	return t.refresh(ctx)
}

// RefreshOlder reads everything again unless it was read at most age ago.
func (t *Cache) RefreshOlder(ctx context.Context, age time.Duration) error {
	if v := t.view.Load(); v.version > 0 && v.age(time.Now()) < age {
		return nil
	}
	return t.Refresh(ctx)
}

func (t *Cache) pass() { <-t.turn }

func (t *Cache) refresh(ctx context.Context) error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, typesTimeout) // writes wait for their turn
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

// Fresh refreshes what is older than Every, for a process without Run or one that was frozen meanwhile. While another
// call is at it, it does not wait. An error means that nothing is known yet.
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
	defer t.pass()
	if v = t.view.Load(); v.version > 0 && v.age(time.Now()) < t.opts.Every {
		return nil
	}
	if err := t.refresh(ctx); err != nil && v.version == 0 {
		return err
	}
	return nil
}

// age is how old the view is. The monotonic clock stands still while a machine sleeps, the wall clock can be set: the
// longer time holds.
func (v *typesView) age(now time.Time) time.Duration {
	return max(now.Sub(v.read), now.Round(0).Sub(v.read.Round(0)))
}

// RoomToMark refuses, as MarkDelivered would, a mark on a type that would be one too many, as far as is known here.
func (t *Cache) RoomToMark(name string) error {
	byName := t.view.Load().byName
	if _, known := byName[name]; !known && len(byName) >= core.MaxTypes {
		return core.TooManyTypes()
	}
	return nil
}

// Run keeps what is known fresh until ctx ends, by one statement in a little less than Every.
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
			wait -= v.age(time.Now()) // someone refreshed meanwhile
		} else if err := t.Refresh(ctx); err != nil && ctx.Err() == nil && t.opts.OnError != nil {
			t.opts.OnError(err)
		}
		timer.Reset(max(wait, 0))
	}
}

// PutType makes or replaces a definition.
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

// MarkDelivered notes types whose jobs bring targets of their own. Those known as such are not written again.
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

// change notes here what was just written. A read that began before the write is over by then, a later one sees it.
func (t *Cache) change(do func(byName map[string]core.JobType)) {
	t.turn <- struct{}{}
	defer t.pass()
	v := t.view.Load()
	if v.version == 0 {
		return // the first read will tell
	}
	byName := maps.Clone(v.byName)
	do(byName)
	t.set(byName, v.read)
}

// set makes byName what is known. The turn is the caller's.
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
