package tick

import (
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/local"
	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
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

func (i *idle) asleep(now time.Time) bool { return i.memory.Asleep(now, i.options.Log) }

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
