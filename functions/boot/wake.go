package boot

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

const (
	wakeEvery   = 5 * time.Second // between wakes of one process: shorter than the minimum run of a woken tick
	wakeTimeout = 5 * time.Second
)

// Waker wakes a tick function that ends when idle, when the API or a worker makes a job due before the tick's next
// invocation. A needed wake is noted at once and sent by Flush before the invocation ends, because nothing may outlive it. A
// nil Waker does nothing.
type Waker struct {
	call   func(context.Context) error
	within time.Duration // only a job that is due this soon needs a wake: the tick finds later ones in time
	log    *slog.Logger

	mu     sync.Mutex
	needed bool
	last   time.Time // last wake, by the wall clock
}

// NewWaker returns nil if the tick does not end when idle, or no setting says how to wake it.
func NewWaker(s Settings, log *slog.Logger, call func(context.Context) error) *Waker {
	if s.TickIdle == 0 || s.TickWake == "" {
		return nil
	}
	return &Waker{call: call, within: s.TickIdle + s.TickSleep + time.Minute, log: log}
}

// note notes that something is due in d.
func (w *Waker) note(d time.Duration) {
	if w == nil || d > w.within {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.needed = true
}

// Flush wakes the tick if a wake was noted and the tick of the last wake may have ended. After an error the wake stays
// noted; the next scheduled invocation finds the due jobs in any case.
func (w *Waker) Flush(ctx context.Context) {
	if w == nil {
		return
	}
	now := time.Now().Round(0)
	w.mu.Lock()
	due := w.needed && now.Sub(w.last) >= wakeEvery
	if due {
		w.last = now
	}
	w.needed = false
	w.mu.Unlock()
	if !due {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wakeTimeout)
	defer cancel()
	if err := w.call(ctx); err != nil {
		w.log.Error("the tick was not woken", "error", err)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.needed, w.last = true, time.Time{}
	}
}

// Run calls Flush until ctx ends, for a process without invocations.
func (w *Waker) Run(ctx context.Context) {
	if w == nil {
		return
	}
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			w.Flush(ctx)
			return
		case <-every.C:
			w.Flush(ctx)
		}
	}
}

// Waking wraps store: each write that makes something due soon notes a wake.
func Waking(store core.Store, w *Waker) core.Store {
	if w == nil {
		return store
	}
	return &wakingStore{store, w}
}

// WakingSubmit wraps store: jobs that are due soon note a wake.
func WakingSubmit(store core.SubmitStore, w *Waker) core.SubmitStore {
	if w == nil {
		return store
	}
	return &wakingSubmit{store, w}
}

type wakingSubmit struct {
	core.SubmitStore
	waker *Waker
}

func (s *wakingSubmit) Submit(ctx context.Context, jobs []core.NewJob) ([]core.Submitted, error) {
	answers, err := s.SubmitStore.Submit(ctx, jobs)
	s.waker.submitted(answers)
	return answers, err
}

func (s *wakingSubmit) SubmitOnce(ctx context.Context, key core.IdempotencyKey, jobs []core.NewJob, render func([]core.Submitted) (core.Answer, error)) (core.Once, error) {
	once, err := s.SubmitStore.SubmitOnce(ctx, key, jobs, render)
	s.waker.submitted(once.Jobs)
	return once, err
}

func (s *wakingSubmit) SubmitOnceEach(ctx context.Context, calls []core.OnceCall) ([]core.OnceAnswer, error) {
	answers, err := s.SubmitStore.SubmitOnceEach(ctx, calls)
	for i := range answers {
		s.waker.submitted(answers[i].Jobs)
	}
	return answers, err
}

func (w *Waker) submitted(answers []core.Submitted) {
	for i := range answers {
		if a := &answers[i]; a.Existing == nil && a.Status == core.Scheduled {
			w.note(a.RunAt.Sub(a.CreatedAt))
		}
	}
}

type wakingStore struct {
	core.Store
	waker *Waker
}

func (s *wakingStore) Submit(ctx context.Context, jobs []core.NewJob) ([]core.Submitted, error) {
	answers, err := s.Store.Submit(ctx, jobs)
	s.waker.submitted(answers)
	return answers, err
}

func (s *wakingStore) SubmitOnce(ctx context.Context, key core.IdempotencyKey, jobs []core.NewJob, render func([]core.Submitted) (core.Answer, error)) (core.Once, error) {
	once, err := s.Store.SubmitOnce(ctx, key, jobs, render)
	s.waker.submitted(once.Jobs)
	return once, err
}

func (s *wakingStore) SubmitOnceEach(ctx context.Context, calls []core.OnceCall) ([]core.OnceAnswer, error) {
	answers, err := s.Store.SubmitOnceEach(ctx, calls)
	for i := range answers {
		s.waker.submitted(answers[i].Jobs)
	}
	return answers, err
}

func (s *wakingStore) Reschedule(ctx context.Context, id int64, when core.When) (core.Job, error) {
	job, err := s.Store.Reschedule(ctx, id, when)
	if err == nil {
		s.waker.note(0) // the store's time is not known here
	}
	return job, err
}

func (s *wakingStore) Retry(ctx context.Context, id int64) (core.Job, error) {
	job, err := s.Store.Retry(ctx, id)
	if err == nil {
		s.waker.note(0)
	}
	return job, err
}

func (s *wakingStore) Redrive(ctx context.Context, q core.DeadQuery, limit int, pace core.Pace) ([]core.Redriven, error) {
	redriven, err := s.Store.Redrive(ctx, q, limit, pace)
	if len(redriven) > 0 {
		s.waker.note(0)
	}
	return redriven, err
}

func (s *wakingStore) AdvanceSchedules(ctx context.Context, steps []core.Advance, fence []core.Held) ([]core.Advanced, error) {
	advanced, err := s.Store.AdvanceSchedules(ctx, steps, fence)
	if len(advanced) > 0 {
		s.waker.note(0) // jobs of it, or another next instant
	}
	return advanced, err
}

func (s *wakingStore) CreateSchedule(ctx context.Context, schedule core.Schedule) (core.Schedule, error) {
	made, err := s.Store.CreateSchedule(ctx, schedule)
	if err == nil {
		s.waker.note(0)
	}
	return made, err
}

func (s *wakingStore) Finish(ctx context.Context, ends []core.End) ([]core.EndAnswer, error) {
	answers, err := s.Store.Finish(ctx, ends)
	for i := range answers {
		if answers[i].Status == core.Scheduled {
			s.waker.note(ends[i].Wait)
		}
	}
	return answers, err
}

func (s *wakingStore) Unhandled(ctx context.Context, refs []core.Ref) error {
	err := s.Store.Unhandled(ctx, refs)
	if err == nil && len(refs) > 0 {
		s.waker.note(0)
	}
	return err
}
