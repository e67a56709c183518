package assemble

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/adapters/local"
	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// TestDispatchBesideTheTick: jobs that are due are published at their submit until as many are queued as the smallest
// window holds; the others wait for the tick, in whichever process they are submitted.
func TestDispatchBesideTheTick(t *testing.T) {
	address := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	open := func() *Dispatcher {
		queue, err := local.Open(map[core.Priority]string{core.Critical: "mem://c", core.Default: "mem://d", core.Bulk: "mem://b"})
		if err != nil {
			t.Fatal(err)
		}
		d, err := NewDispatcher(t.Context(), store, queue, boot.Settings{Window: 10_000}, nil, true)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close(context.Background()) })
		return d
	}
	queued := func(d *Dispatcher, p core.Priority, n int) (queued int) {
		jobs := make([]core.NewJob, n)
		for i := range jobs {
			jobs[i] = core.NewJob{Type: "echo", MaxAttempts: 1, Priority: p}
		}
		answers, err := d.Submit(t.Context(), jobs)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range answers {
			if a.Status == core.Queued {
				queued++
			}
		}
		return queued
	}
	first := open()
	if n := queued(first, core.Default, 60); n != 60 {
		t.Errorf("of 60 jobs %d were published", n)
	}
	// Another process sees them, whatever the first has in mind.
	other := open()
	if n := queued(other, core.Default, 60); n != tick.WindowFloor-60 {
		t.Errorf("of 60 more %d were published, want %d", n, tick.WindowFloor-60)
	}
	if n := queued(other, core.Critical, 5); n != 5 {
		t.Errorf("of 5 critical jobs %d were published", n)
	}
	if counted, err := store.CountQueued(t.Context(), false); err != nil || counted.Priorities != [3]int{5, tick.WindowFloor, 0} {
		t.Errorf("queued are %v, %v", counted, err)
	}
	if n := queued(open(), core.Default, 60); n != 0 {
		t.Errorf("where there is no room %d were published", n)
	}
}

// counted is what a store says.
type counted struct {
	core.QueuedCount
	err   error
	asked int
}

func (c *counted) CountQueued(context.Context, bool) (core.QueuedCount, error) {
	c.asked++
	return c.QueuedCount, c.err
}

// With groups of types each has room of its own: a full queue of one is nobody else's.
func TestRoomIsOfEachGroup(t *testing.T) {
	groups, err := queuegroup.New(map[string][]string{"media": {"video.*"}})
	if err != nil {
		t.Fatal(err)
	}
	store := &counted{QueuedCount: core.QueuedCount{Types: []core.QueuedType{{Priority: core.Default, Type: "video.encode", N: 60}, {Priority: core.Default, Type: "video.cut", N: 50}, {Priority: core.Default, Type: "mail", N: 95}}}}
	r := &room{store: store, groups: groups}
	for queue, want := range map[queuegroup.Key]int{{Priority: core.Default, Group: "media"}: 0, {Priority: core.Default}: 5, {Priority: core.Bulk, Group: "media"}: 10} {
		if got := r.take(t.Context(), queue, 10, time.Now()); got != want {
			t.Errorf("%s: %d of 10 taken, want %d", queue, got, want)
		}
	}
}

func TestRoomIsCountedOnceASecond(t *testing.T) {
	store := &counted{QueuedCount: core.QueuedCount{Priorities: [3]int{100, 95, 10_000}}}
	r, now := &room{store: store}, time.Now()
	steps := []struct {
		after time.Duration
		take  int
		want  int
		asked int
	}{{0, 3, 3, 1}, {time.Millisecond, 3, 2, 1}, {0, 3, 0, 1}, {time.Second, 1, 1, 2}}
	for i, step := range steps {
		now = now.Add(step.after)
		if got := r.take(t.Context(), queuegroup.Key{Priority: core.Default}, step.take, now); got != step.want || store.asked != step.asked {
			t.Errorf("step %d: %d taken and asked %d times, want %d and %d", i, got, store.asked, step.want, step.asked)
		}
	}
	if got := r.take(t.Context(), queuegroup.Key{Priority: core.Critical}, 1, now); got != 0 {
		t.Errorf("%d taken of a full queue", got)
	}
	store.err = errors.New("it does not answer")
	now = now.Add(time.Second)
	for _, wait := range []time.Duration{0, fullFor - time.Millisecond} {
		if got := r.take(t.Context(), queuegroup.Key{Priority: core.Default}, 1, now.Add(wait)); got != 0 || store.asked != 3 {
			t.Errorf("%s after no answer: %d taken, asked %d times", wait, got, store.asked)
		}
	}
}

// slow is a store that answers once it is let, or not at all.
type slow struct {
	DispatcherStore
	asked  atomic.Int32
	answer chan [3]int
}

func (s *slow) CountQueued(ctx context.Context, _ bool) (core.QueuedCount, error) {
	s.asked.Add(1)
	select {
	case queued := <-s.answer:
		return core.QueuedCount{Priorities: queued}, nil
	case <-ctx.Done():
		return core.QueuedCount{}, ctx.Err()
	}
}

// TestRoomIsCountedUnderNoLock: while the store does not answer the submit that counts, the others go on with the count
// before, or wait as long as their own callers do and not behind one another; a caller that hangs up while it counts
// leaves the count to the next.
func TestRoomIsCountedUnderNoLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slow{answer: make(chan [3]int)}
		r, start := &room{store: store}, time.Now()
		gone, hangUp := context.WithCancel(t.Context())
		take := func(ctx context.Context) chan int {
			took := make(chan int, 1)
			go func() { took <- r.take(ctx, queuegroup.Key{Priority: core.Default}, 1, time.Now()) }()
			synctest.Wait()
			return took
		}
		counts := take(gone)
		short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		waits, hurried := take(t.Context()), take(short)
		if got := <-hurried; got != 0 || time.Since(start) != 10*time.Millisecond {
			t.Errorf("%d after %s: it waited for the store beyond its own time", got, time.Since(start))
		}
		hangUp()
		if got := <-counts; got != 0 {
			t.Errorf("%d for a caller that has gone", got)
		}
		synctest.Wait()
		store.answer <- [3]int{0, tick.WindowFloor - 10, 0}
		if got := <-waits; got != 1 || store.asked.Load() != 2 {
			t.Errorf("%d, and the store was asked %d times: the count of who hung up was not made again", got, store.asked.Load())
		}
		time.Sleep(roomFor)
		counts = take(t.Context())
		for range 5 { // at once, from the count before
			if got := <-take(t.Context()); got != 1 {
				t.Errorf("%d while another counts", got)
			}
		}
		store.answer <- [3]int{0, tick.WindowFloor - 1, 0}
		if got := <-counts; got != 1 {
			t.Errorf("%d counted", got)
		}
		if got := <-take(t.Context()); got != 0 {
			t.Errorf("%d beyond what was counted", got)
		}
	})
}
