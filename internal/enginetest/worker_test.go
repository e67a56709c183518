package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/core/work"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// onBothStores runs a test on SQLite and on PostgreSQL, in real time.
func onBothStores(t *testing.T, test func(t *testing.T, store core.Store)) {
	t.Run("sqlite", func(t *testing.T) { test(t, openStore(t, nil)) })
	t.Run("postgres", func(t *testing.T) {
		dsn := testenv.Postgres(t)
		if err := postgres.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		store, err := postgres.Open(t.Context(), dsn, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := store.Close(); err != nil {
				t.Errorf("close the store: %v", err)
			}
		})
		test(t, store)
	})
}

// eventually waits until so, and fails the test when that takes longer than anything here may.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for !so() {
		select {
		case <-look.C:
		case <-deadline.C:
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// startWorker runs a direct worker and a ticker until the test ends or stop is called.
func startWorker(t *testing.T, store core.Store, handlers core.Handlers, opts work.Options) (w *work.Worker, stop func() error) {
	t.Helper()
	opts.ID = "worker"
	w, err := work.New(store, handlers, opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	stopTicker := run(t, newTicker(t, store, tick.Options{Holder: "ticker", Period: 50 * time.Millisecond}))
	stop = sync.OnceValue(func() error {
		stopTicker()
		cancel()
		return <-ended
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("stop the worker: %v", err)
		}
	})
	return w, stop
}

// allEnded waits until every job has ended.
func allEnded(t *testing.T, store core.JobStore, ids []int64) {
	t.Helper()
	eventually(t, "all jobs have ended", func() bool {
		ended, err := store.Ended(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		return len(ended) == len(ids)
	})
}

// mixed is what the handler of TestMixedJobs is told to do.
type mixed struct {
	Seq  int
	What string
}

func (m mixed) work(job *core.Job) error {
	switch m.What {
	case "fail once":
		if job.Attempts == 1 {
			return errors.New("bad\x00luck \xff")
		}
	case "fail":
		return errors.New("always")
	case "permanent":
		return core.Permanent(errors.New("never"))
	case "panic once":
		if job.Attempts == 1 {
			panic("ouch")
		}
	case "snooze":
		if job.Snoozes < 2 {
			return core.Snooze(5 * time.Millisecond)
		}
	case "retry after":
		if job.Attempts == 1 {
			return core.RetryAfter(errors.New("later"), 5*time.Millisecond)
		}
	}
	return nil
}

// TestMixedJobs: 2,000 jobs of all kinds end as they must, with the attempts and errors they must have.
func TestMixedJobs(t *testing.T) {
	onBothStores(t, func(t *testing.T, store core.Store) {
		handler := core.HandlerFunc(func(_ context.Context, job *core.Job) (json.RawMessage, error) {
			var m mixed
			if err := json.Unmarshal(job.Payload, &m); err != nil {
				return nil, core.Permanent(err)
			}
			return job.Payload, m.work(job)
		})
		w, stop := startWorker(t, store, core.Handlers{"a": handler, "b": handler}, work.Options{})
		submitter := submit.New(store, submit.Options{Wake: w.Wake})
		whats := []string{"ok", "fail once", "fail", "permanent", "panic once", "snooze", "retry after"}
		ids := make([]int64, 2000)
		var group sync.WaitGroup
		for caller := range 16 {
			group.Go(func() {
				for i := caller; i < len(ids); i += 16 {
					payload, err := json.Marshal(mixed{i, whats[i%len(whats)]})
					if err != nil {
						t.Error(err)
						return
					}
					answer, err := submitter.Submit(t.Context(), core.NewJob{
						Type: []string{"a", "b"}[i%2], Payload: payload, Priority: core.Priorities[i%3], Tenant: []string{"", "t1", "t2"}[i/2%3],
						Delay: time.Duration(i%5) * 40 * time.Millisecond, MaxAttempts: 3, Backoff: []time.Duration{5 * time.Millisecond},
					})
					if err != nil {
						t.Errorf("submit %d: %v", i, err)
						return
					}
					ids[i] = answer.ID
				}
			})
		}
		group.Wait()
		if t.Failed() {
			return
		}
		allEnded(t, store, ids)
		want := map[string]struct {
			status           core.Status
			attempts, errors int
		}{
			"ok": {core.Done, 1, 0}, "fail once": {core.Done, 2, 1}, "fail": {core.Failed, 3, 3}, "permanent": {core.Failed, 1, 1},
			"panic once": {core.Done, 2, 1}, "snooze": {core.Done, 1, 0}, "retry after": {core.Done, 2, 1},
		}
		for i, id := range ids {
			job, what := get(t, store, id), whats[i%len(whats)]
			if is := want[what]; job.Status != is.status || job.Attempts != is.attempts || len(job.Errors) != is.errors {
				t.Errorf("%s: %s after %d attempts with errors %+v", what, job.Status, job.Attempts, job.Errors)
			}
			if job.Status == core.Done && string(job.Result) != string(job.Payload) {
				t.Errorf("%s: result %s of payload %s", what, job.Result, job.Payload)
			}
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		stats, err := store.Stats(t.Context(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		var sum core.Rollup
		for i := range stats.Totals {
			sum.Add(&stats.Totals[i])
		}
		n := map[string]int64{}
		for i := range ids {
			n[whats[i%len(whats)]]++
		}
		retried := n["fail once"] + 2*n["fail"] + n["panic once"] + n["retry after"]
		failed, snoozed := n["fail"]+n["permanent"], 2*n["snooze"]
		if got := (core.Rollup{Starts: sum.Starts, Done: sum.Done, Failed: sum.Failed, Retried: sum.Retried, Snoozed: sum.Snoozed}); got !=
			(core.Rollup{Starts: 2000 + retried + snoozed, Done: 2000 - failed, Failed: failed, Retried: retried, Snoozed: snoozed}) {
			t.Errorf("rollups say %+v", got)
		}
	})
}

// TestDirectBulkBesideAnEndlessCriticalBacklog: of the first 1,400 starts bulk has its weight's share, one in seven,
// although critical jobs never run out.
func TestDirectBulkBesideAnEndlessCriticalBacklog(t *testing.T) {
	onBothStores(t, func(t *testing.T, store core.Store) {
		submitJobs(t, store, 4000, core.NewJob{Type: "a", Priority: core.Critical})
		submitJobs(t, store, 4000, core.NewJob{Type: "a", Priority: core.Bulk})
		var critical, bulk atomic.Int64
		enough := make(chan struct{})
		handler := core.HandlerFunc(func(ctx context.Context, job *core.Job) (json.RawMessage, error) {
			n := &critical
			if job.Priority == core.Bulk {
				n = &bulk
			}
			n.Add(1)
			if critical.Load()+bulk.Load() == 1400 {
				close(enough)
			}
			return nil, nil
		})
		_, stop := startWorker(t, store, core.Handlers{"a": handler}, work.Options{Slots: 8, CriticalSlots: -1})
		<-enough
		c, b := critical.Load(), bulk.Load()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if part := float64(b) / float64(b+c); part < 0.11 || part > 0.18 {
			t.Errorf("bulk had %.3f of the starts (%d beside %d critical), want 0.143", part, b, c)
		}
	})
}

// TestSubmittersOfOneKey: 64 submits of one key at once make one job, and all of them hear of it.
func TestSubmittersOfOneKey(t *testing.T) {
	onBothStores(t, func(t *testing.T, store core.Store) {
		submitter := submit.New(store, submit.Options{})
		answers := make([]core.Submitted, 64)
		var group sync.WaitGroup
		for i := range answers {
			group.Go(func() {
				var err error
				if answers[i], err = submitter.Submit(t.Context(), core.NewJob{Type: "a", Tenant: "t", DedupeKey: "one"}); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		made := 0
		for _, a := range answers {
			if a.ID != answers[0].ID {
				t.Errorf("answers name jobs %d and %d", a.ID, answers[0].ID)
			}
			if a.Existing == nil {
				made++
			}
		}
		if made != 1 {
			t.Errorf("%d of 64 made the job", made)
		}
	})
}

// lossy loses every third answer to the calls that move jobs.
type lossy struct {
	core.Store
	calls, lost atomic.Int64
}

func (s *lossy) lose(err error) error {
	if err == nil && s.calls.Add(1)%3 == 0 {
		s.lost.Add(1)
		return fmt.Errorf("connection reset: %w", core.ErrUnavailable)
	}
	return err
}

func (s *lossy) ClaimDue(ctx context.Context, req core.ClaimRequest) (core.ClaimResult, error) {
	res, err := s.Store.ClaimDue(ctx, req)
	if len(res.Jobs) == 0 {
		return res, err
	}
	if err = s.lose(err); err != nil {
		return core.ClaimResult{}, err
	}
	return res, nil
}

func (s *lossy) Finish(ctx context.Context, ends []core.End) ([]core.EndAnswer, error) {
	answers, err := s.Store.Finish(ctx, ends)
	if err = s.lose(err); err != nil {
		return nil, err
	}
	return answers, nil
}

func (s *lossy) Heartbeat(ctx context.Context, beats []core.Ref, lease time.Duration) ([]core.Beat, error) {
	answers, err := s.Store.Heartbeat(ctx, beats, lease)
	if err = s.lose(err); err != nil {
		return nil, err
	}
	return answers, nil
}

// TestLostAnswers: although every third answer to a claim, finish or heartbeat is lost, every job is entered once,
// charged once and ends once.
func TestLostAnswers(t *testing.T) {
	onBothStores(t, func(t *testing.T, store core.Store) {
		unsure := &lossy{Store: store}
		ids := submitJobs(t, store, 300, core.NewJob{Type: "a"})
		var entered sync.Map
		handler := core.HandlerFunc(func(_ context.Context, job *core.Job) (json.RawMessage, error) {
			if _, twice := entered.LoadOrStore(job.ID, true); twice {
				t.Errorf("job %d was entered twice", job.ID)
			}
			return nil, nil
		})
		startWorker(t, unsure, core.Handlers{"a": handler}, work.Options{Slots: 25, StoreTimeout: 2 * time.Second})
		allEnded(t, store, ids)
		for _, id := range ids {
			if job := get(t, store, id); job.Status != core.Done || job.Attempts != 1 {
				t.Errorf("job %d: %s after %d attempts", id, job.Status, job.Attempts)
			}
		}
		if unsure.lost.Load() < 5 {
			t.Errorf("only %d answers were lost", unsure.lost.Load())
		}
	})
}

// TestStopHandsBack: jobs that run when the worker stops are scheduled again, not charged, and run elsewhere.
func TestStopHandsBack(t *testing.T) {
	onBothStores(t, func(t *testing.T, store core.Store) {
		ids := submitJobs(t, store, 40, core.NewJob{Type: "a"})
		var entered atomic.Int64
		waits := core.HandlerFunc(func(ctx context.Context, job *core.Job) (json.RawMessage, error) {
			entered.Add(1)
			<-ctx.Done()
			return nil, context.Cause(ctx)
		})
		_, stop := startWorker(t, store, core.Handlers{"a": waits}, work.Options{StopGrace: -1})
		eventually(t, "all jobs run", func() bool { return entered.Load() == 40 })
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if job := get(t, store, id); job.Status != core.Scheduled || job.Attempts != 0 || len(job.Errors) != 0 {
				t.Errorf("job %d: %s after %d attempts, errors %+v", id, job.Status, job.Attempts, job.Errors)
			}
		}
		done := core.HandlerFunc(func(context.Context, *core.Job) (json.RawMessage, error) { return nil, nil })
		startWorker(t, store, core.Handlers{"a": done}, work.Options{})
		allEnded(t, store, ids)
	})
}
