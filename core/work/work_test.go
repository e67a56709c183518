package work

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// rig is a worker on a memStore inside a synctest bubble.
type rig struct {
	worker *Worker
	stop   context.CancelFunc
	result chan error

	mu     sync.Mutex
	events []Event
}

// newRig starts a direct worker; it is stopped at the test's end unless the test stops it itself.
func newRig(t *testing.T, store core.WorkStore, handlers core.Handlers, opts Options) *rig {
	t.Helper()
	return startRig(t, store, handlers, opts, func(ctx context.Context, w *Worker) error { return w.Run(ctx) })
}

func startRig(t *testing.T, store core.WorkStore, handlers core.Handlers, opts Options, run func(context.Context, *Worker) error) *rig {
	t.Helper()
	r := &rig{result: make(chan error, 1)}
	if opts.ID == "" {
		opts.ID = "w"
	}
	opts.OnEvent = func(e Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	}
	w, err := New(store, handlers, opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r.worker, r.stop = w, cancel
	go func() { r.result <- run(ctx, w) }()
	t.Cleanup(func() {
		if r.stop != nil {
			_, _ = r.end()
		}
	})
	return r
}

// end stops the worker and returns Run's answer and how long it took.
func (r *rig) end() (took time.Duration, err error) {
	began := time.Now()
	r.stop()
	r.stop = nil
	err = <-r.result
	return time.Since(began), err
}

// told counts events of a kind.
func (r *rig) told(kind EventKind) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// submit writes one job and returns its id.
func (m *memStore) submit(t *testing.T, job core.NewJob) int64 {
	t.Helper()
	if job.Type == "" {
		job.Type = "work"
	}
	answers, err := m.Submit(t.Context(), []core.NewJob{job})
	if err != nil {
		t.Fatal(err)
	}
	return answers[0].ID
}

// handle makes the handlers of type "work", and of type "other", whose jobs do nothing.
func handle(f func(ctx context.Context, job *core.Job) error) core.Handlers {
	return core.Handlers{
		"work":  core.HandlerFunc(func(ctx context.Context, job *core.Job) (json.RawMessage, error) { return nil, f(ctx, job) }),
		"other": core.HandlerFunc(func(context.Context, *core.Job) (json.RawMessage, error) { return nil, nil }),
	}
}

func TestWorkerRunsWhatIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		var ran []int64
		var mu sync.Mutex
		r := newRig(t, store, handle(func(_ context.Context, job *core.Job) error {
			mu.Lock()
			defer mu.Unlock()
			ran = append(ran, job.ID)
			return nil
		}), Options{})
		for i := range 3000 {
			store.submit(t, core.NewJob{Priority: core.Priorities[i%3], Delay: time.Duration(i) * 10 * time.Millisecond})
		}
		time.Sleep(time.Minute)
		if got := store.tally()[core.Done]; got != 3000 {
			t.Errorf("%d done, want 3000", got)
		}
		if len(ran) != 3000 {
			t.Errorf("%d handlers entered, want 3000", len(ran))
		}
		if _, err := r.end(); err != nil {
			t.Error(err)
		}
	})
}
