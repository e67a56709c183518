package enginetest

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/tick"
)

// openStore opens an empty store in the test's directory.
func openStore(t *testing.T, offset *atomic.Int64) core.Store {
	t.Helper()
	store, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{Offset: offset})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return store
}

// watched is a store whose calls are counted and can be made to fail.
type watched struct {
	core.Store

	mu    sync.Mutex
	calls map[string]int
	// before fails a call that is then not carried out; after loses the answer of one that was. Nil means neither.
	before, after func(method string) error
	// finish stands in for Finish. Nil means the store's own.
	finish func(ctx context.Context, ends []core.End) ([]core.EndAnswer, error)
}

func watch(store core.Store) *watched { return &watched{Store: store, calls: map[string]int{}} }

func (w *watched) count(method string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[method]
}

func (w *watched) total() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, calls := range w.calls {
		n += calls
	}
	return n
}

// fail sets the faults from now on.
func (w *watched) fail(before, after func(method string) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before, w.after = before, after
}

func (w *watched) call(method string, do func() error) error {
	w.mu.Lock()
	w.calls[method]++
	before, after := w.before, w.after
	w.mu.Unlock()
	if before != nil {
		if err := before(method); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	if after != nil {
		return after(method)
	}
	return nil
}

func (w *watched) Tick(ctx context.Context, req core.TickRequest) (res core.TickResult, err error) {
	err = w.call("Tick", func() (err error) { res, err = w.Store.Tick(ctx, req); return err })
	return res, err
}

func (w *watched) ReleaseLeases(ctx context.Context, holder string) error {
	return w.call("ReleaseLeases", func() error { return w.Store.ReleaseLeases(ctx, holder) })
}

func (w *watched) Undispatch(ctx context.Context, refs []core.Ref) error {
	return w.call("Undispatch", func() error { return w.Store.Undispatch(ctx, refs) })
}

func (w *watched) Maintain(ctx context.Context, req core.MaintainRequest) (res core.MaintainResult, err error) {
	err = w.call("Maintain", func() (err error) { res, err = w.Store.Maintain(ctx, req); return err })
	return res, err
}

func (w *watched) Finish(ctx context.Context, ends []core.End) (answers []core.EndAnswer, err error) {
	finish := w.finish
	if finish == nil {
		finish = w.Store.Finish
	}
	err = w.call("Finish", func() (err error) { answers, err = finish(ctx, ends); return err })
	return answers, err
}

// submitJobs writes n jobs of a type and returns their ids.
func submitJobs(t *testing.T, store core.SubmitStore, n int, job core.NewJob) []int64 {
	t.Helper()
	if job.Type == "" {
		job.Type = "echo"
	}
	if job.Priority == 0 {
		job.Priority = core.Default
	}
	if job.MaxAttempts == 0 {
		job.MaxAttempts = core.DefaultMaxAttempts
	}
	jobs := make([]core.NewJob, n)
	for i := range jobs {
		jobs[i] = job
	}
	answers, err := store.Submit(t.Context(), jobs)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]int64, n)
	for i, a := range answers {
		ids[i] = a.ID
	}
	return ids
}

// get reads one job.
func get(t *testing.T, store core.JobStore, id int64) core.Job {
	t.Helper()
	job, err := store.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

var claimID atomic.Int64

// claim makes up to n due jobs of a type running, by a worker that will never be heard of again.
func claim(t *testing.T, store core.WorkStore, typ string, n int, lease time.Duration) []core.Job {
	t.Helper()
	res, err := store.ClaimDue(t.Context(), core.ClaimRequest{
		WorkerID: "gone", ClaimID: claimID.Add(1), Lease: lease,
		Quotas: []core.Quota{{Priority: core.Default, Type: typ, Limit: n}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Jobs) != n {
		t.Fatalf("claimed %d jobs, want %d", len(res.Jobs), n)
	}
	return res.Jobs
}

// newTicker makes a ticker, in direct mode unless opts say otherwise.
func newTicker(t *testing.T, store tick.Store, opts tick.Options) *tick.Ticker {
	t.Helper()
	if opts.Holder == "" {
		opts.Holder = "a"
	}
	ticker, err := tick.New(store, opts)
	if err != nil {
		t.Fatal(err)
	}
	return ticker
}

// tickOnce makes one pass that must succeed.
func tickOnce(t *testing.T, ticker *tick.Ticker) tick.Report {
	t.Helper()
	report, err := ticker.Tick(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return report
}
