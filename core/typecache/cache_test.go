package typecache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/typecache/typestoretest"
)

// delivered checks the names of the delivered types, and returns the version.
func delivered(t *testing.T, types *Cache, want ...string) int64 {
	t.Helper()
	got, version := types.Delivered()
	if !slices.Equal(got, want) {
		t.Errorf("delivered: %q, want %q", got, want)
	}
	return version
}

// TestTypesTellOfWritesAtOnce: a write through Types is visible in it without another read.
func TestTypesTellOfWritesAtOnce(t *testing.T) {
	store := typestoretest.NewStore()
	types := New(store, Options{})
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := types.Lookup("a"); ok || delivered(t, types) != 0 {
		t.Error("something is known before the first read")
	}
	must(types.Refresh(ctx))
	v1 := delivered(t, types)
	changed := types.Changed()
	_, _, err := types.PutType(ctx, core.JobType{Name: "b", Timeout: time.Minute})
	must(err)
	if known, ok := types.Lookup("b"); !ok || known.Timeout != time.Minute || delivered(t, types) != v1 {
		t.Errorf("a definition without a target: %+v, %t", known, ok)
	}
	select {
	case <-changed:
		t.Error("a definition without a target changed the delivered types")
	default:
	}
	_, _, err = types.PutType(ctx, core.JobType{Name: "b", Target: typestoretest.Target})
	must(err)
	v2 := delivered(t, types, "b")
	<-changed
	must(types.MarkDelivered(ctx, []string{"c", "a"}))
	v3 := delivered(t, types, "a", "b", "c")
	must(types.MarkDelivered(ctx, []string{"a", "c"}))
	must(types.DeleteType(ctx, "b"))
	v4 := delivered(t, types, "a", "c")
	if v1 >= v2 || v2 >= v3 || v3 >= v4 {
		t.Errorf("versions %d, %d, %d, %d do not rise", v1, v2, v3, v4)
	}
	_, _, err = types.PutType(ctx, core.JobType{Name: "c"})
	must(err)
	must(types.DeleteType(ctx, "c"))
	if known, ok := types.Lookup("c"); !ok || known.Defined || delivered(t, types, "a", "c") != v4 {
		t.Errorf("a mark without a definition: %+v, %t", known, ok)
	}
	if reads, writes := store.Count(); reads != 1 || writes != 6 {
		t.Errorf("%d reads and %d writes, want 1 and 6: known marks are not written again", reads, writes)
	}
	store.Failing(core.ErrUnavailable)
	if err := types.MarkDelivered(ctx, []string{"d"}); !errors.Is(err, core.ErrUnavailable) || delivered(t, types, "a", "c") != v4 {
		t.Errorf("a write that failed: %v", err)
	}
	if err := types.Refresh(ctx); !errors.Is(err, core.ErrUnavailable) || delivered(t, types, "a", "c") != v4 {
		t.Errorf("a read that failed: %v", err)
	}
}

// TestTypesRun: a change reaches other processes within 5 s, with one statement in each.
func TestTypesRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := typestoretest.NewStore()
		var faults []error
		here, there := New(store, Options{}), New(store, Options{OnError: func(err error) { faults = append(faults, err) }})
		ctx, stop := context.WithCancel(t.Context())
		var runs sync.WaitGroup
		runs.Go(func() { there.Run(ctx) })
		synctest.Wait()
		for i := range 20 {
			time.Sleep(777 * time.Millisecond)
			name := fmt.Sprint("t", i)
			changed := there.Changed()
			if _, _, err := here.PutType(ctx, core.JobType{Name: name, Target: typestoretest.Target}); err != nil {
				t.Fatal(err)
			}
			select {
			case <-changed:
			case <-time.After(5 * time.Second):
				t.Fatalf("%s is not known after 5 s", name)
			}
			if known, ok := there.Lookup(name); !ok || known.Target == nil {
				t.Fatalf("%s: %+v, %t", name, known, ok)
			}
		}
		before, _ := store.Count()
		time.Sleep(100 * time.Second)
		if after, _ := store.Count(); after-before > 23 {
			t.Errorf("%d reads in 100 s", after-before)
		}
		store.Failing(core.ErrUnavailable)
		time.Sleep(10 * time.Second)
		if _, ok := there.Lookup("t0"); !ok {
			t.Error("an outage makes known types unknown")
		}
		store.Failing(nil)
		stop()
		runs.Wait()
		if len(faults) < 2 || len(faults) > 3 || !errors.Is(faults[0], core.ErrUnavailable) {
			t.Errorf("faults reported: %v", faults)
		}
	})
}

// TestTypesFresh: without Run, a caller refreshes an old cache. Concurrent callers do so once, and an outage does not affect
// a caller with a filled cache.
func TestTypesFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := typestoretest.NewStore()
		store.Slow = 100 * time.Millisecond
		types := New(store, Options{})
		store.Failing(core.ErrUnavailable)
		if err := types.Fresh(t.Context()); !errors.Is(err, core.ErrUnavailable) {
			t.Errorf("an empty cache, and no error: %v", err)
		}
		store.Failing(nil)
		many := func() {
			var group sync.WaitGroup
			for range 20 {
				group.Go(func() {
					if err := types.Fresh(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
		}
		store.Known["a"] = core.JobType{Name: "a", Delivered: true}
		many()
		delivered(t, types, "a")
		if reads, _ := store.Count(); reads != 2 {
			t.Errorf("%d reads, want that which failed and one for all", reads)
		}
		store.Known["b"] = core.JobType{Name: "b", Delivered: true}
		time.Sleep(4 * time.Second)
		many()
		delivered(t, types, "a")
		time.Sleep(time.Second)
		many()
		delivered(t, types, "a", "b")
		if reads, _ := store.Count(); reads != 3 {
			t.Errorf("%d reads, want one more", reads)
		}
		store.Failing(core.ErrUnavailable)
		time.Sleep(time.Minute)
		if err := types.Fresh(t.Context()); err != nil {
			t.Errorf("an outage stops who knows something: %v", err)
		}
	})
}

// TestTypesWriteDuringARead: a read that began before a write does not undo it in the cache.
func TestTypesWriteDuringARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := typestoretest.NewStore()
		types := New(store, Options{})
		if err := types.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		store.Slow = time.Second
		var read sync.WaitGroup
		read.Go(func() { _ = types.Refresh(t.Context()) })
		time.Sleep(500 * time.Millisecond)
		if err := types.MarkDelivered(t.Context(), []string{"a"}); err != nil {
			t.Fatal(err)
		}
		delivered(t, types, "a")
		read.Wait()
		delivered(t, types, "a")
	})
}
