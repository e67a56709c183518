package work

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/share"
)

func TestHandlerEnds(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		name    string
		handler func(ctx context.Context, job *core.Job) error
		status  core.Status
		kinds   string // of the errors kept
		text    string // in the last of them
	}{
		{"ok", func(context.Context, *core.Job) error { return nil }, core.Done, "", ""},
		{"fails twice, then succeeds", func(_ context.Context, job *core.Job) error {
			if job.Attempts < 3 {
				return boom
			}
			return nil
		}, core.Done, "error error", "boom"},
		{"always fails", func(context.Context, *core.Job) error { return boom }, core.Failed, "error error error error error", "boom"},
		{"permanent", func(context.Context, *core.Job) error { return core.Permanent(boom) }, core.Failed, "permanent", "boom"},
		{"panics", func(context.Context, *core.Job) error { panic("bad\x00thing") }, core.Failed, "panic panic panic panic panic", "bad\uFFFDthing"},
		{"ends its goroutine", func(context.Context, *core.Job) error { runtime.Goexit(); return nil }, core.Failed, "panic panic panic panic panic", "goroutine"},
		{"snoozes thrice", func(_ context.Context, job *core.Job) error {
			if job.Snoozes < 3 {
				return core.Snooze(time.Minute)
			}
			return nil
		}, core.Done, "", ""},
		{"scribbles on its job", func(_ context.Context, job *core.Job) error { job.ID, job.LeaseToken = 999, 999; return nil }, core.Done, "", ""},
		{"scribbles on its job and fails", func(_ context.Context, job *core.Job) error {
			job.ID, job.LeaseToken = 999, 999
			return core.Permanent(boom)
		}, core.Failed, "permanent", "boom"},
		{"waits for its timeout", func(ctx context.Context, job *core.Job) error {
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), core.ErrTimeout) || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return core.Permanent(errors.New("another cause"))
			}
			return ctx.Err()
		}, core.Failed, "timeout timeout timeout timeout timeout", "deadline"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newMemStore()
				newRig(t, store, handle(c.handler), Options{})
				id := store.submit(t, core.NewJob{Timeout: time.Minute})
				other := store.submit(t, core.NewJob{Type: "other", Delay: time.Hour})
				time.Sleep(90 * time.Minute)
				job := store.get(id)
				var kinds []string
				for _, e := range job.Errors {
					kinds = append(kinds, e.Kind)
				}
				if job.Status != c.status || strings.Join(kinds, " ") != c.kinds {
					t.Fatalf("%s with errors %q, want %s with %q", job.Status, kinds, c.status, c.kinds)
				}
				if n := len(job.Errors); n > 0 && !strings.Contains(job.Errors[n-1].Error, c.text) {
					t.Errorf("error %q, want %q in it", job.Errors[n-1].Error, c.text)
				}
				if job.Attempts > job.MaxAttempts || store.get(other).Status.Live() {
					t.Errorf("%d attempts; the other job is %s", job.Attempts, store.get(other).Status)
				}
			})
		})
	}
}

// TestPanicTellsWhere: the error of a panic holds the place it came from.
func TestPanicTellsWhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := newRig(t, store, handle(func(context.Context, *core.Job) error { panic("here") }), Options{})
		id := store.submit(t, core.NewJob{MaxAttempts: 1})
		time.Sleep(time.Second)
		if e := store.get(id).Errors[0].Error; !strings.Contains(e, "run_test.go") || len(e) > core.MaxErrorBytes {
			t.Errorf("error of a panic: %q", e)
		}
		if r.told(Panicked) != 1 || r.worker.Counts().Panics != 1 {
			t.Errorf("%d panics told", r.told(Panicked))
		}
	})
}

// TestHandlerIgnoresItsTimeout: the attempt ends as timed out, its slot is free, its lease is not
// extended any more, it is counted as leaked, and what it returns later is refused.
func TestHandlerIgnoresItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		release := make(chan struct{})
		var entered atomic.Int32
		r := newRig(t, store, handle(func(context.Context, *core.Job) error {
			if entered.Add(1) == 1 {
				<-release
			}
			return nil
		}), Options{Slots: 1, TimeoutGrace: 5 * time.Second})
		id := store.submit(t, core.NewJob{Timeout: time.Minute, Backoff: []time.Duration{time.Hour}})
		time.Sleep(68 * time.Second) // claimed within a second, a minute, the grace, and until the next look
		job := store.get(id)
		if job.Status != core.Scheduled || len(job.Errors) != 1 || job.Errors[0].Kind != core.KindTimeout {
			t.Fatalf("after timeout and grace: %s, %+v", job.Status, job.Errors)
		}
		if c := r.worker.Counts(); c.Running != 0 || c.Leaked != 1 || r.told(Leaked) != 1 {
			t.Errorf("counts %+v", c)
		}
		other := store.submit(t, core.NewJob{})
		time.Sleep(2 * time.Second)
		if got := store.get(other).Status; got != core.Done {
			t.Errorf("the freed slot's next job is %s", got)
		}
		beats := store.called("Heartbeat")
		time.Sleep(2 * time.Minute)
		if store.called("Heartbeat") != beats {
			t.Error("a leaked handler's lease is extended")
		}
		close(release)
		time.Sleep(time.Second)
		if job := store.get(id); job.Status != core.Scheduled || job.Attempts != 1 {
			t.Errorf("the late result changed the job: %s", job.Status)
		}
		if c := r.worker.Counts(); c.Leaked != 0 || c.LeaksEver != 1 || c.LateResults != 1 || r.told(LateResult) != 1 {
			t.Errorf("counts at last %+v", c)
		}
	})
}

// TestStop: jobs that honour their context are handed back without an
// attempt, one that ignores it is handed back as the last act, and Run returns by its deadline.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		causes := make(chan error, 3)
		forever := make(chan struct{})
		defer close(forever)
		r := newRig(t, store, handle(func(ctx context.Context, job *core.Job) error {
			switch string(job.Payload) {
			case `"short"`:
				time.Sleep(5 * time.Second)
				return nil
			case `"deaf"`:
				<-forever
				return nil
			}
			select {
			case <-time.After(time.Minute):
				return nil
			case <-ctx.Done():
				causes <- context.Cause(ctx)
				return ctx.Err()
			}
		}), Options{StopGrace: 10 * time.Second})
		short := store.submit(t, core.NewJob{Payload: []byte(`"short"`)})
		long := store.submit(t, core.NewJob{Payload: []byte(`"long"`)})
		deaf := store.submit(t, core.NewJob{Payload: []byte(`"deaf"`)})
		time.Sleep(2 * time.Second)
		ahead := store.submit(t, core.NewJob{Delay: time.Second})
		took, err := r.end()
		if err != nil || took > 20*time.Second {
			t.Errorf("Run returned %v after %s, want nil within 20s", err, took)
		}
		if took < 15*time.Second {
			t.Errorf("the deaf handler was handed back after %s, before its 15s", took)
		}
		for id, want := range map[int64]core.Status{short: core.Done, long: core.Scheduled, deaf: core.Scheduled, ahead: core.Scheduled} {
			if job := store.get(id); job.Status != want || want == core.Scheduled && job.Attempts != 0 {
				t.Errorf("job %s: %s after %d attempts, want %s", job.Payload, job.Status, job.Attempts, want)
			}
		}
		if err := <-causes; !errors.Is(err, core.ErrStopping) || len(causes) != 0 {
			t.Errorf("cause %v, and %d more", err, len(causes))
		}
	})
}

// TestStopIsPrompt: with nothing running, and also with handlers that end at once, Run returns without delay.
func TestStopIsPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := newRig(t, store, handle(func(context.Context, *core.Job) error { return nil }), Options{})
		id := store.submit(t, core.NewJob{})
		time.Sleep(5 * time.Second)
		if took, err := r.end(); err != nil || took > time.Millisecond {
			t.Errorf("%v after %s", err, took)
		}
		if store.get(id).Status != core.Done {
			t.Error("the job is not done")
		}
		if err := r.worker.Run(t.Context()); err == nil {
			t.Error("a worker ran twice")
		}
	})
}

// TestStopDuringOutage: while the store is down Run still returns by its deadline and says what is not recorded.
func TestStopDuringOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := newRig(t, store, handle(func(context.Context, *core.Job) error { time.Sleep(time.Second); return nil }), Options{StopGrace: 2 * time.Second})
		store.submit(t, core.NewJob{})
		time.Sleep(500 * time.Millisecond)
		store.setFaults(func(string) error { return core.ErrUnavailable }, nil)
		time.Sleep(time.Second)
		if took, err := r.end(); err == nil || took > 4*time.Second {
			t.Errorf("%v after %s, want an error within 4s", err, took)
		}
	})
}

func TestWorkerOptionsAreChecked(t *testing.T) {
	noop := handle(func(context.Context, *core.Job) error { return nil })
	for field, opts := range map[string]Options{
		"id":             {},
		"slots":          {ID: "w", Slots: -1},
		"critical_slots": {ID: "w", Slots: 5, CriticalSlots: 5},
		"lease":          {ID: "w", Lease: 40 * time.Second, Heartbeat: 20 * time.Second},
		"weights":        {ID: "w", Weights: share.Weights{Bulk: -1}},
		"poll":           {ID: "w", Poll: -1},
		"priorities":     {ID: "w", Priorities: []core.Priority{core.Bulk, 4}},
	} {
		_, err := New(newMemStore(), noop, opts)
		var fault *core.FieldError
		if !errors.As(err, &fault) || fault.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for name, handlers := range map[string]core.Handlers{"none": {}, "nil": {"a": nil}, "unnamed": {"": noop["work"]}} {
		if _, err := New(newMemStore(), handlers, Options{ID: "w"}); err == nil {
			t.Errorf("handlers %s: no error", name)
		}
	}
}

// TestContextOfAttempt: values of Run's context reach handlers, and children of an attempt's context end with it.
func TestContextOfAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		store := newMemStore()
		var got []any
		w, err := New(store, handle(func(ctx context.Context, _ *core.Job) error {
			deadline, _ := ctx.Deadline()
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			<-child.Done()
			got = append(got, ctx.Value(key{}), time.Until(deadline), context.Cause(child))
			return nil
		}), Options{ID: "w"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "v"))
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		store.submit(t, core.NewJob{Timeout: time.Minute})
		time.Sleep(2 * time.Minute)
		cancel()
		if err := <-ended; err != nil || !slices.Equal(got, []any{"v", time.Duration(0), core.ErrTimeout}) {
			t.Errorf("%v, %v", got, err)
		}
	})
}

// TestMostTime: a host's bound ends an attempt before its job's own timeout, as timed out; what a target has accepted
// keeps its job's.
func TestMostTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		newRig(t, store, handle(func(ctx context.Context, job *core.Job) error {
			if string(job.Payload) == `"accepted"` {
				return core.ErrAccepted
			}
			<-ctx.Done()
			return ctx.Err()
		}), Options{Timeout: time.Hour, MaxTime: time.Minute})
		long := store.submit(t, core.NewJob{Timeout: 2 * time.Hour, MaxAttempts: 1})
		plain := store.submit(t, core.NewJob{MaxAttempts: 1})
		short := store.submit(t, core.NewJob{MaxAttempts: 1, Timeout: 10 * time.Second})
		accepted := store.submit(t, core.NewJob{Payload: []byte(`"accepted"`), Timeout: 2 * time.Hour})
		time.Sleep(15 * time.Second)
		if got := store.get(short).Status; got != core.Failed {
			t.Errorf("a shorter timeout: %s", got)
		}
		if a, b := store.get(long).Status, store.get(plain).Status; a != core.Running || b != core.Running {
			t.Errorf("within the bound: %s, %s", a, b)
		}
		time.Sleep(time.Minute)
		for _, id := range []int64{long, plain} {
			if job := store.get(id); job.Status != core.Failed || job.Errors[0].Kind != core.KindTimeout {
				t.Errorf("%s, %+v", job.Status, job.Errors)
			}
		}
		if job := store.get(accepted); job.LeaseUntil.Sub(job.StartedAt) < 2*time.Hour {
			t.Errorf("accepted until %s after %s", job.LeaseUntil, job.StartedAt)
		}
	})
}
