package work

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/core/typecache/typestoretest"
)

// deliveredJob is what a deliverer or a handler was given.
type deliveredJob struct {
	by     string
	typ    string
	target string
}

// ledger notes who did which job.
type ledger struct {
	mu   sync.Mutex
	done []deliveredJob
}

// by is a handler that notes itself.
func (l *ledger) by(name string) core.Handler {
	return core.HandlerFunc(func(_ context.Context, job *core.Job) (json.RawMessage, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.done = append(l.done, deliveredJob{name, job.Type, string(job.Target)})
		for i := range job.Target {
			job.Target[i] = 'x' // it is the handler's copy
		}
		return nil, nil
	})
}

func (l *ledger) take() []deliveredJob {
	l.mu.Lock()
	defer l.mu.Unlock()
	done := l.done
	l.done = nil
	return done
}

// submitTargeted writes a job with a target of its own.
func (m *memStore) submitTargeted(t *testing.T, job core.NewJob, target string) int64 {
	t.Helper()
	id := m.submit(t, job)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.jobs[id].Target = json.RawMessage(target)
	return id
}

const ownTarget, typesTarget = `{"url":"https://own.example"}`, `{"url":"https://example.com"}`

// deliverRig is a worker with a handler for "work" and a deliverer, and the types it knows.
func deliverRig(t *testing.T, store *memStore, opts Options) (*rig, *ledger, *typecache.Cache) {
	t.Helper()
	l, types := &ledger{}, typecache.New(typestoretest.NewStore(), typecache.Options{})
	if err := types.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	opts.Deliver, opts.Types = l.by("deliverer"), types
	return newRig(t, store, core.Handlers{"work": l.by("handler")}, opts), l, types
}

func put(t *testing.T, types *typecache.Cache, name string, target []byte) {
	t.Helper()
	if _, _, err := types.PutType(t.Context(), core.JobType{Name: name, Target: target}); err != nil {
		t.Fatal(err)
	}
}

// TestWhoDoesTheWork: own target before the type's, that before the handler; who is nobody here waits without an attempt.
func TestWhoDoesTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		_, l, types := deliverRig(t, store, Options{})
		put(t, types, "hook", typestoretest.Target)
		if err := types.MarkDelivered(t.Context(), []string{"marked", "hook"}); err != nil {
			t.Fatal(err)
		}
		once := func(want deliveredJob, job core.NewJob, target string) {
			t.Helper()
			id := int64(0)
			if target != "" {
				id = store.submitTargeted(t, job, target)
			} else {
				id = store.submit(t, job)
			}
			time.Sleep(1100 * time.Millisecond)
			if got := l.take(); !slices.Equal(got, []deliveredJob{want}) || store.get(id).Status != core.Done {
				t.Errorf("%+v: got %+v, want %+v", job, got, want)
			}
		}
		for range 2 {
			once(deliveredJob{"handler", "work", ""}, core.NewJob{Type: "work"}, "")
			once(deliveredJob{"deliverer", "work", ownTarget}, core.NewJob{Type: "work"}, ownTarget)
			once(deliveredJob{"deliverer", "hook", typesTarget}, core.NewJob{Type: "hook"}, "")
			once(deliveredJob{"deliverer", "hook", ownTarget}, core.NewJob{Type: "hook"}, ownTarget)
			once(deliveredJob{"deliverer", "marked", ownTarget}, core.NewJob{Type: "marked"}, ownTarget)
		}
		put(t, types, "work", typestoretest.Target)
		once(deliveredJob{"deliverer", "work", typesTarget}, core.NewJob{Type: "work"}, "")
		put(t, types, "work", nil)
		once(deliveredJob{"handler", "work", ""}, core.NewJob{Type: "work"}, "")

		id := store.submit(t, core.NewJob{Type: "marked"})
		time.Sleep(2 * time.Minute)
		if job := store.get(id); job.Status != core.Scheduled || job.Attempts != 0 || job.Snoozes != 0 || job.LeaseToken != 0 || len(job.Errors) != 0 {
			t.Errorf("nobody's job: %s after %d attempts and %d snoozes under token %d, %v", job.Status, job.Attempts, job.Snoozes, job.LeaseToken, job.Errors)
		}
		put(t, types, "marked", typestoretest.Target)
		time.Sleep(1100 * time.Millisecond)
		if job := store.get(id); job.Status != core.Done || job.Attempts != 1 {
			t.Errorf("a job whose type got a target: %s after %d attempts", job.Status, job.Attempts)
		}
	})
}

// TestDeliveredTypesChange: a worker without handlers claims what comes to be delivered, at once, and leaves what no longer
// is. That it delivers is all it has to announce.
func TestDeliveredTypesChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		l, types := &ledger{}, typecache.New(typestoretest.NewStore(), typecache.Options{})
		newRig(t, store, nil, Options{Deliver: l.by("deliverer"), Types: types, Poll: time.Minute})
		early := store.submit(t, core.NewJob{Type: "hook"})
		time.Sleep(90 * time.Second)
		if n := store.called("ClaimDue"); n != 0 || store.get(early).Status != core.Scheduled {
			t.Errorf("%d claims without a type", n)
		}
		if err := types.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		put(t, types, "hook", typestoretest.Target)
		time.Sleep(time.Second)
		if store.get(early).Status != core.Done || !slices.Equal(store.announced(), []string{"delivers"}) {
			t.Errorf("a second after it came to be delivered the job is %s; announced %q", store.get(early).Status, store.announced())
		}
		put(t, types, "other", typestoretest.Target)
		if err := types.DeleteType(t.Context(), "hook"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		left, other := store.submit(t, core.NewJob{Type: "hook"}), store.submit(t, core.NewJob{Type: "other"})
		time.Sleep(2 * time.Minute)
		if store.get(left).Status != core.Scheduled || store.get(left).Snoozes != 0 || store.get(other).Status != core.Done {
			t.Errorf("no longer delivered: %s; delivered: %s", store.get(left).Status, store.get(other).Status)
		}
	})
}

// TestReceiveDelivers: in queue mode types come to be known before they are refused, and unknown ones are refused.
func TestReceiveDelivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, queue, known := newMemStore(), newMemQueue(time.Minute), typestoretest.NewStore()
		l, types := &ledger{}, typecache.New(known, typecache.Options{})
		newQueueRig(t, store, queue, nil, Options{Deliver: l.by("deliverer"), Types: types})
		time.Sleep(time.Second)
		elsewhere := typecache.New(known, typecache.Options{})
		put(t, elsewhere, "hook", typestoretest.Target)
		ids := []int64{store.dispatch(t, queue, core.NewJob{Type: "hook"}), store.dispatch(t, queue, core.NewJob{Type: "nobody's"}), store.dispatch(t, queue, core.NewJob{Type: "hook"})}
		time.Sleep(5 * time.Second)
		for i, want := range []core.Status{core.Done, core.Scheduled, core.Done} {
			if job := store.get(ids[i]); job.Status != want {
				t.Errorf("job %d of type %s: %s, want %s", i, job.Type, job.Status, want)
			}
		}
		if store.called("Unhandled") != 1 || queue.left() != 0 {
			t.Errorf("%d refusals, %d messages left", store.called("Unhandled"), queue.left())
		}
		reads, _ := known.Count()
		for range 20 {
			store.dispatch(t, queue, core.NewJob{Type: "hook"})
		}
		time.Sleep(5 * time.Second)
		if after, _ := known.Count(); after != reads {
			t.Errorf("%d reads for types that are known", after-reads)
		}
		known.Failing(core.ErrUnavailable)
		store.dispatch(t, queue, core.NewJob{Type: "new"})
		time.Sleep(5 * time.Second)
		if store.called("Unhandled") != 1 {
			t.Error("a type was called unhandled that could not be asked for")
		}
		known.Failing(nil)
		time.Sleep(5 * time.Second)
		if store.called("Unhandled") != 2 {
			t.Errorf("%d refusals", store.called("Unhandled"))
		}
	})
}

// TestThousandsOfTypes: with 2,000 delivered types an idle worker sends one statement a poll, each type's jobs start
// soon, punctually where they lie ahead, and beside a backlog.
func TestThousandsOfTypes(t *testing.T) {
	for _, slots := range []int{1000, 10} {
		t.Run(fmt.Sprint(slots, " slots"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 2_000
				store := newMemStore()
				_, l, types := deliverRig(t, store, Options{Slots: slots})
				names := make([]string, n)
				for i := range names {
					names[i] = fmt.Sprintf("type-%04d", i)
				}
				if err := types.MarkDelivered(t.Context(), names); err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Second)
				if got := store.announced(); !slices.Equal(got, []string{"delivers", "work"}) {
					t.Errorf("announced are %q", got)
				}
				store.mu.Lock()
				clear(store.calls)
				store.mu.Unlock()
				time.Sleep(100 * time.Second)
				store.mu.Lock()
				if waiting, claims := store.calls["Waiting"], store.calls["ClaimDue"]; waiting > 101 || waiting < 50 || claims > 0 || len(store.calls) != 2 || store.calls["Announce"] > 4 {
					t.Errorf("calls in 100 idle seconds: %v", store.calls)
				}
				store.mu.Unlock()

				var ids []int64
				for i, name := range names {
					ids = append(ids, store.submitTargeted(t, core.NewJob{Type: name, Priority: core.Priorities[i%3]}, ownTarget))
				}
				time.Sleep(5 * time.Second)
				for i, id := range ids {
					if job := store.get(id); job.Status != core.Done {
						t.Fatalf("after 5 s the job of type %d is %s", i, job.Status)
					}
				}
				l.take()

				ahead := store.submitTargeted(t, core.NewJob{Type: names[777], Delay: 12345678 * time.Microsecond}, ownTarget)
				time.Sleep(15 * time.Second)
				if job := store.get(ahead); job.Status != core.Done || job.StartedAt.Sub(job.RunAt) > 5*time.Millisecond {
					t.Errorf("a job that lay ahead: %s, started %s late", job.Status, job.StartedAt.Sub(job.RunAt))
				}
			})
		})
	}
}

// emptyAsks counts quotas that found nothing.
type emptyAsks struct {
	*memStore
	n atomic.Int64
}

func (s *emptyAsks) ClaimDue(ctx context.Context, req core.ClaimRequest) (core.ClaimResult, error) {
	res, err := s.memStore.ClaimDue(ctx, req)
	for _, taken := range res.Taken {
		if taken.N == 0 {
			s.n.Add(1)
		}
	}
	return res, err
}

// TestThousandsOfTypesBesideABacklog: one type's backlog leaves the others their turn, and those without jobs are not
// asked.
func TestThousandsOfTypesBesideABacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &emptyAsks{memStore: newMemStore()}
		types := typecache.New(typestoretest.NewStore(), typecache.Options{})
		slow := core.HandlerFunc(func(context.Context, *core.Job) (json.RawMessage, error) {
			time.Sleep(100 * time.Millisecond)
			return nil, nil
		})
		var names []string
		for i := range 2_000 {
			names = append(names, fmt.Sprintf("type-%04d", i))
		}
		if err := types.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := types.MarkDelivered(t.Context(), names); err != nil {
			t.Fatal(err)
		}
		for range 20_000 {
			store.submitTargeted(t, core.NewJob{Type: names[0]}, ownTarget)
		}
		newRig(t, store, nil, Options{Deliver: slow, Types: types, Slots: 100, Poll: 10 * time.Second})
		time.Sleep(3 * time.Second)
		store.mu.Lock()
		clear(store.calls)
		store.mu.Unlock()
		var ids []int64
		for i := range 50 {
			ids = append(ids, store.submitTargeted(t, core.NewJob{Type: names[1+i*39], Priority: core.Priorities[i%3]}, ownTarget))
		}
		time.Sleep(time.Second)
		late := 0
		for _, id := range ids {
			if store.get(id).Status != core.Done {
				late++
			}
		}
		if late > 0 {
			t.Errorf("%d of 50 jobs did not run within a second beside a backlog", late)
		}
		if n := store.tally()[core.Scheduled]; n == 0 {
			t.Error("there was no backlog")
		}
		if n := store.called("Waiting"); n < 3 || n > 20 {
			t.Errorf("%d surveys in a second beside a backlog", n)
		}
		if n := store.n.Load(); n > 200 {
			t.Errorf("%d times a lane without jobs was asked", n)
		}
	})
}

// boundedDeliverer has three slots, and deliveries that end when they are told to.
type boundedDeliverer struct {
	inUse   atomic.Int64
	release chan struct{}
}

func (d *boundedDeliverer) Work(context.Context, *core.Job) (json.RawMessage, error) {
	d.inUse.Add(1)
	defer d.inUse.Add(-1)
	<-d.release
	return nil, nil
}

func (d *boundedDeliverer) DeliverySlots() (slots, inUse int) { return 3, int(d.inUse.Load()) }

// A worker says how many of its slots are in use: soon where deliveries fill theirs, else with its announcements.
func TestSlotsInUseAreAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		deliver := &boundedDeliverer{release: make(chan struct{})}
		types := typecache.New(typestoretest.NewStore(), typecache.Options{})
		if err := types.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := types.MarkDelivered(t.Context(), []string{"hook"}); err != nil {
			t.Fatal(err)
		}
		newRig(t, store, core.Handlers{"work": core.HandlerFunc(func(context.Context, *core.Job) (json.RawMessage, error) { return nil, nil })},
			Options{Slots: 10, Deliver: deliver, Types: types})
		use := func() (use core.SlotUse) {
			store.mu.Lock()
			defer store.mu.Unlock()
			for _, p := range store.present {
				use = p.SlotUse
			}
			return use
		}
		time.Sleep(time.Second)
		if got := use(); got != (core.SlotUse{Slots: 10, DeliverySlots: 3}) {
			t.Errorf("idle: %+v", got)
		}
		store.submitTargeted(t, core.NewJob{Type: "hook"}, ownTarget)
		time.Sleep(core.PresenceEvery + slotsLook)
		if got := use(); got != (core.SlotUse{Slots: 10, Busy: 1, DeliverySlots: 3, Deliveries: 1}) {
			t.Errorf("one delivery, a while ago: %+v", got)
		}
		store.submitTargeted(t, core.NewJob{Type: "hook"}, ownTarget)
		store.submitTargeted(t, core.NewJob{Type: "hook"}, ownTarget)
		time.Sleep(slotsLook + time.Second)
		if got := use(); got != (core.SlotUse{Slots: 10, Busy: 3, DeliverySlots: 3, Deliveries: 3}) {
			t.Errorf("full: %+v", got)
		}
		close(deliver.release)
		time.Sleep(slotsLook + time.Second)
		if got := use(); got != (core.SlotUse{Slots: 10, DeliverySlots: 3}) {
			t.Errorf("empty again: %+v", got)
		}
	})
}
