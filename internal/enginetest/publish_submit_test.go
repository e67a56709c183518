package enginetest

import (
	"context"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuetest"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/core/tick"
)

// atSubmit is dispatch at submit with the credit of a ticker.
func (w *works) atSubmit(ticker *tick.Ticker, change func(*submit.DispatchOptions)) *submit.Dispatcher {
	w.Helper()
	opts := submit.DispatchOptions{Topics: w.topics, TakeCredit: ticker.TakeCredit}
	if change != nil {
		change(&opts)
	}
	d, err := submit.NewDispatcher(w.store, opts)
	if err != nil {
		w.Fatal(err)
	}
	return d
}

func TestDispatchAtSubmitDoesNotWaitForTheTick(t *testing.T) {
	bubble(t, func(w *works) {
		ticker := w.begin("a")
		d := w.atSubmit(ticker, nil)
		later := submitJobs(w.T, d, 300, core.NewJob{Delay: time.Minute}) // takes no credit
		ids := submitJobs(w.T, d, 5, core.NewJob{})
		stopWorker := w.work("worker", 10, time.Millisecond)
		time.Sleep(100 * time.Millisecond) // no tick
		stopWorker()
		w.ended(ids)
		for _, id := range later {
			if got := get(w.T, w.store, id).Status; got != core.Scheduled {
				w.Errorf("job %d, due in a minute, is %s", id, got)
			}
		}
	})
}

// A job under an idempotency key does not wait for the tick either, alone or in a batch, and its repeat publishes nothing.
func TestDispatchAtSubmitOfJobsUnderKeys(t *testing.T) {
	bubble(t, func(w *works) {
		ticker := w.begin("a")
		s := submit.New(w.atSubmit(ticker, nil), submit.Options{})
		stopWorker := w.work("worker", 10, time.Millisecond)
		render := func([]core.Submitted) (core.Answer, error) { return core.Answer{Status: 201, Body: []byte("x")}, nil }
		one := func(ctx context.Context, key core.IdempotencyKey, jobs []core.CheckedJob, _ func([]core.Submitted) (core.Answer, error)) (core.Once, error) {
			return s.WriteOneOnce(ctx, key, jobs[0], func(*core.NewJob, core.Submitted) core.Answer { return core.Answer{Status: 201} })
		}
		var ids []int64
		for name, jobs := range map[string][]core.NewJob{
			"one": {{Type: "echo"}}, "dedupe": {{Type: "echo", DedupeKey: "d"}}, "batch": {{Type: "echo"}, {Type: "echo", Priority: core.Critical}},
		} {
			for range 3 {
				checked := make([]core.CheckedJob, len(jobs))
				for i, job := range jobs {
					var err error
					if checked[i], err = s.Check(w.Context(), job, time.Now()); err != nil {
						w.Fatal(err)
					}
				}
				submit := s.WriteOnce
				if len(jobs) == 1 {
					submit = one
				}
				once, err := submit(w.Context(), core.IdempotencyKey{Key: name, Keep: time.Hour}, checked, render)
				if err != nil {
					w.Fatal(err)
				}
				for _, job := range once.Jobs {
					ids = append(ids, job.ID)
				}
			}
		}
		time.Sleep(100 * time.Millisecond) // no tick
		stopWorker()
		if len(ids) != 4 {
			w.Errorf("jobs %v were written, want 4", ids)
		}
		w.ended(ids)
		for _, id := range ids {
			if n := w.times(id); n != 1 {
				w.Errorf("job %d was published %d times", id, n)
			}
		}
	})
}

// Beyond the credit jobs wait in the table; with a backlog all do.
func TestDispatchAtSubmitKeepsToTheCredit(t *testing.T) {
	bubble(t, func(w *works) {
		ticker := w.begin("a")
		d := w.atSubmit(ticker, nil)
		ids := submitJobs(w.T, d, 300, core.NewJob{})
		queued := 0
		for _, id := range ids {
			if get(w.T, w.store, id).Status == core.Queued {
				queued++
			}
		}
		if queued == 0 || queued > tick.WindowFloor {
			w.Errorf("%d of 300 jobs were dispatched at submit, want some, within the window", queued)
		}
		tickOnce(w.T, ticker)
		tickOnce(w.T, ticker) // the window is full and a backlog is left
		for _, id := range submitJobs(w.T, d, 10, core.NewJob{}) {
			if got := get(w.T, w.store, id).Status; got != core.Scheduled {
				w.Fatalf("job %d, submitted behind a backlog, is %s", id, got)
			}
		}
		if n := len(w.sent); n > tick.WindowFloor {
			w.Errorf("%d jobs are in the queue, beyond the window of %d", n, tick.WindowFloor)
		}
	})
}

func TestTheTickIsTheNetOfDispatchAtSubmit(t *testing.T) {
	bubble(t, func(w *works) {
		ticker := w.begin("a")
		d := w.atSubmit(ticker, nil)
		w.queue.FailSends(core.Default, queuetest.LoseAll)
		failed := submitJobs(w.T, d, 5, core.NewJob{})
		if job := get(w.T, w.store, failed[0]); job.Status != core.Queued {
			w.Fatalf("the job is %s, want queued", job.Status)
		}
		resting := submitJobs(w.T, d, 5, core.NewJob{})
		if job := get(w.T, w.store, resting[0]); job.Status != core.Scheduled {
			w.Errorf("right after a failed Send a job is %s, want scheduled: the queue is in trouble", job.Status)
		}
		w.queue.FailSends(core.Default, nil)
		tickOnce(w.T, ticker)
		for _, id := range failed {
			if got := w.times(id); got != 2 {
				w.Errorf("job %d was published %d times, want again at the next tick", id, got)
			}
		}
	})
}

// A submitter dies between commit and publish: the short dispatch lease passes.
func TestASubmitterThatDiesBeforePublishing(t *testing.T) {
	bubble(t, func(w *works) {
		stopTicker := run(w.T, w.begin("a"))
		time.Sleep(100 * time.Millisecond)
		answers, err := w.store.Submit(context.Background(), []core.NewJob{{
			Type: "echo", Priority: core.Default, MaxAttempts: 5, Queued: true, QueuedLease: 5 * time.Second,
		}})
		if err != nil {
			w.Fatal(err)
		}
		stopWorker := w.work("worker", 10, time.Millisecond)
		time.Sleep(7 * time.Second)
		stopWorker()
		stopTicker()
		w.ended([]int64{answers[0].ID})
	})
}
