package tick

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/local"
	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/functions/boot"
)

// idle is a tick that ends when idle, over a store whose clock can be moved.
type idle struct {
	store   *sqlite.Store
	options Options
	offset  *atomic.Int64
	memory  Memory
}

func newIdle(t *testing.T) *idle {
	t.Helper()
	i := &idle{offset: new(atomic.Int64)}
	var err error
	if i.store, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{Offset: i.offset, NoSync: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = i.store.Close() })
	queue, err := local.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	i.options = Options{Store: i.store, Queue: queue, Holder: "a", Log: slog.New(slog.DiscardHandler), Functions: true}
	i.options.Settings.Tick, i.options.Settings.BucketLease = 10*time.Millisecond, time.Minute
	i.options.Settings.TickIdle, i.options.Settings.TickSleep = time.Minute, 10*time.Minute
	return i
}

func (i *idle) submit(t *testing.T, delay time.Duration) int64 {
	t.Helper()
	answers, err := i.store.Submit(t.Context(), []core.NewJob{{Type: "a", Payload: []byte("{}"), Priority: core.Default, MaxAttempts: 1, Delay: delay}})
	if err != nil {
		t.Fatal(err)
	}
	return answers[0].ID
}

func (i *idle) asleep(now time.Time) bool { return i.memory.asleepAt(now, i.options.Log) }

// begin begins an invocation; ended is closed with its end.
func (i *idle) begin(t *testing.T) (ended chan struct{}) {
	t.Helper()
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		if err := Invoke(t.Context(), i.options, &i.memory, false); err != nil {
			t.Error(err)
		}
	}()
	return ended
}

func (i *idle) status(t *testing.T, id int64) core.Status {
	t.Helper()
	job, err := i.store.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return job.Status
}

// With nothing due an invocation ends, and the ones after it leave the store alone for a while.
func TestInvokeEndsIdle(t *testing.T) {
	i := newIdle(t)
	<-i.begin(t)
	now := time.Now()
	if !i.asleep(now) || !i.asleep(now.Add(9*time.Minute)) || i.asleep(now.Add(11*time.Minute)) {
		t.Errorf("asleep until %s, want for ten minutes", i.memory.asleep)
	}
	i.submit(t, 5*time.Minute)
	began := time.Now()
	<-i.begin(t)
	if now = time.Now(); !i.asleep(now.Add(3*time.Minute)) || i.asleep(now.Add(4*time.Minute)) {
		t.Errorf("asleep until %s, want until a minute before the job is due", i.memory.asleep)
	}
	if kept := i.memory.kept; kept.IsZero() || kept.After(began) {
		t.Errorf("upkeep at %s, want in the first invocation and not in the second", kept)
	}
	if next := i.memory.next(time.Minute, false, now.Add(2*time.Hour)); !next.upkeep.IsZero() {
		t.Errorf("upkeep is left until %s after two hours without", next.upkeep)
	}
}

// What is due before the next invocation is waited for, and what is queued is not left before it has started.
func TestInvokeWaitsForWhatIsDueSoon(t *testing.T) {
	i := newIdle(t)
	id := i.submit(t, 40*time.Second)
	ended := i.begin(t)
	for n := 0; n < 20; n++ { // passes
		if _, err := i.store.Now(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ended:
			t.Fatal("it ended with a job due in 40 s")
		case <-time.After(10 * time.Millisecond):
		}
	}
	i.offset.Add((40 * time.Second).Microseconds())
	for deadline := time.Now().Add(time.Minute); i.status(t, id) != core.Queued; {
		if time.Now().After(deadline) {
			t.Fatal("it is not queued")
		}
		<-time.After(time.Millisecond)
	}
	job, err := i.store.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	started, err := i.store.Start(t.Context(), []core.Ref{{ID: id, Token: job.LeaseToken}}, core.ClaimRequest{WorkerID: "w", ClaimID: 1, Lease: time.Hour})
	if err != nil || len(started.Jobs) != 1 {
		t.Fatal(started, err)
	}
	<-ended
	if !i.asleep(time.Now()) {
		t.Error("it does not rest after the job has started")
	}
}

// A tick that finds another at work leaves; one that was woken goes on for a while, because that other may be about to leave.
func TestInvokeBesideAnother(t *testing.T) {
	i := newIdle(t)
	other, err := i.store.Tick(t.Context(), core.TickRequest{Holder: "other", LeaseLength: time.Hour})
	if err != nil || len(other.Held) != core.Buckets {
		t.Fatal(len(other.Held), err)
	}
	<-i.begin(t)
	if i.asleep(time.Now()) {
		t.Error("it rests, and knows nothing of what is due")
	}
	if woken := i.memory.next(time.Minute, true, time.Now()); woken.leaveAfter != wokenFor || woken.leaveIdle != time.Minute {
		t.Errorf("%+v", woken)
	}
}

// counting counts what is asked of a store, by method; broken fails DueIn.
type counting struct {
	tick.Store
	dueIn, ticks int
	broken       error
}

func (c *counting) DueIn(ctx context.Context, req core.DueRequest) (time.Duration, error) {
	c.dueIn++
	if c.broken != nil {
		return 0, c.broken
	}
	return c.Store.DueIn(ctx, req)
}

func (c *counting) Tick(ctx context.Context, req core.TickRequest) (core.TickResult, error) {
	c.ticks++
	return c.Store.Tick(ctx, req)
}

// A warm process asks one question while nothing is due, and makes whole passes in all other cases.
func TestSkips(t *testing.T) {
	for mode, set := range map[string]func(*boot.Settings){
		"idle":    func(s *boot.Settings) { s.TickIdle, s.TickSleep = time.Minute, 0 },
		"economy": func(s *boot.Settings) { s.Economy, s.TickIdle, s.TickSleep = true, 0, 0 },
	} {
		t.Run(mode, func(t *testing.T) {
			i := newIdle(t)
			set(&i.options.Settings)
			store := &counting{Store: i.store}
			i.options.Store, i.options.Stats = store, i.store
			now := time.Now()
			skips := func(why string, at time.Time, want bool) {
				t.Helper()
				store.dueIn, store.ticks = 0, 0
				if got := i.memory.Skips(t.Context(), i.options, at); got != want || store.ticks > 0 || want && store.dueIn != 1 {
					t.Errorf("%s: skips %t after %d questions and %d ticks", why, got, store.dueIn, store.ticks)
				}
			}
			skips("a process that has just started", now, false)
			<-i.begin(t)
			now = time.Now()
			skips("a minute later", now.Add(time.Minute), true)
			skips("ten minutes later", now.Add(10*time.Minute), false)
			skips("a clock set back", now.Add(-11*time.Minute), false)
			store.broken = errors.New("broken by the test")
			skips("a store that does not answer", now, false)
			store.broken = nil
			id := i.submit(t, 30*time.Second)
			skips("a job is due within the minute", now, mode == "economy")
			i.offset.Add(time.Minute.Microseconds())
			skips("a job is due", now, false)
			if _, err := i.store.Cancel(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			skips("none is", now, true)
			other, err := i.store.Tick(t.Context(), core.TickRequest{Holder: "other", LeaseLength: time.Hour})
			if err != nil || len(other.Held) != core.Buckets {
				t.Fatal(len(other.Held), err)
			}
			<-i.begin(t)
			skips("another ticks", now, false)
		})
	}
}

// A warm process that rests leaves the store alone after its question, too.
func TestSkipsAndRests(t *testing.T) {
	i := newIdle(t)
	i.options.Settings.TickSleep = 5 * time.Minute
	rested := 0
	i.options.Rest = func(context.Context) { rested++ }
	<-i.begin(t)
	later := time.Now().Add(6 * time.Minute)
	if i.asleep(later) || !i.memory.Skips(t.Context(), i.options, later) || !i.asleep(later.Add(4*time.Minute)) || rested != 2 {
		t.Errorf("asleep until %s, rested %d times", i.memory.asleep, rested)
	}
}

// The record of a quiet minute says what is known to be so, and repeats what else the last whole pass found.
func TestSkipsRecordsTheState(t *testing.T) {
	i := newIdle(t)
	i.options.Settings.TickSleep = 0
	var log bytes.Buffer
	i.options.Log, i.options.Stats = slog.New(slog.NewJSONHandler(&log, nil)), i.store
	if err := i.store.RaiseAlerts(t.Context(), []core.Alert{{Kind: core.AlertScheduleMissed, Subject: "a"}}); err != nil {
		t.Fatal(err)
	}
	<-i.begin(t)
	if !i.memory.Skips(t.Context(), i.options, time.Now()) {
		t.Fatal("it does not skip")
	}
	said := records(t, log.String())
	if len(said) != 2 || len(said[0]) != len(said[1]) {
		t.Fatalf("%v", said)
	}
	delete(said[0], "time")
	delete(said[1], "time")
	if !reflect.DeepEqual(said[0], said[1]) || said[1]["open_alerts"] != 1.0 {
		t.Errorf("said %v, then %v", said[0], said[1])
	}
}
