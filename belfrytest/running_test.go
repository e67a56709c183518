package belfrytest_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/belfrytest"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/handler"
)

func TestTimeoutPassesByTheClock(t *testing.T) {
	t.Parallel()
	ended := make(chan [2]error, 1)
	e := belfrytest.New(t, setOf(func(ctx context.Context, _ *handler.Job[note]) error {
		child, stop := context.WithCancel(ctx)
		defer stop()
		<-child.Done()
		ended <- [2]error{child.Err(), context.Cause(ctx)}
		return ctx.Err()
	}))
	id := e.SubmitJob(core.NewJob{Type: "note", Timeout: 5 * time.Minute}).ID
	started := e.Now()
	e.WaitFor(id, core.Running)
	e.Advance(5*time.Minute - time.Second)
	if job := e.Job(id); job.Status != core.Running || !job.LeaseUntil.After(e.Now()) {
		t.Fatalf("%s, lease until %s at %s", job.Status, job.LeaseUntil, e.Now())
	}
	e.Advance(time.Second)
	if got := <-ended; !errors.Is(got[0], context.DeadlineExceeded) || !errors.Is(got[1], core.ErrTimeout) {
		t.Errorf("the context ended as %v because of %v", got[0], got[1])
	}
	failed := e.Errors(id)
	if len(failed) != 1 || failed[0].Kind != core.KindTimeout || failed[0].At.Sub(started) < 5*time.Minute {
		t.Errorf("errors %+v", failed)
	}
	if job := e.Job(id); job.Status != core.Scheduled || job.RunAt.Sub(e.Now()) != 30*time.Second {
		t.Errorf("%s, due in %s", job.Status, job.RunAt.Sub(e.Now()))
	}
}

// TestTimeoutPassesAtItsOwnInstant: a timeout passes at the right instant, however far the clock is advanced at once.
func TestTimeoutPassesAtItsOwnInstant(t *testing.T) {
	t.Parallel()
	e := belfrytest.New(t, setOf(func(ctx context.Context, job *handler.Job[note]) error {
		if job.Attempts > 1 {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}))
	start := e.Now()
	id := e.Submit("note", nil)
	e.WaitFor(id, core.Running)
	e.Advance(24 * time.Hour)
	job := e.Job(id)
	if job.Status != core.Done || job.StartedAt.Sub(start) != 15*time.Minute+30*time.Second {
		t.Errorf("%s, started again after %s", job.Status, job.StartedAt.Sub(start))
	}
	if at := job.Errors[0].At.Sub(start); at != 15*time.Minute {
		t.Errorf("timed out after %s", at)
	}
}

// TestAdvanceWaitsForWhatWasToldToStop: Advance waits for a running job once its context has ended.
func TestAdvanceWaitsForWhatWasToldToStop(t *testing.T) {
	t.Parallel()
	var jobs *submit.Submitter
	stopped := setOf(func(ctx context.Context, _ *handler.Job[note]) error {
		<-ctx.Done()
		for range 50 { // some work
			if _, err := jobs.Submit(context.WithoutCancel(ctx), core.NewJob{Type: "other"}); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	cancelled := belfrytest.New(t, stopped)
	jobs = cancelled.Submitter()
	id := cancelled.Submit("note", nil)
	cancelled.WaitFor(id, core.Running)
	cancelled.Cancel(id)
	cancelled.Advance(0)
	if job := cancelled.Job(id); job.Status != core.Cancelled {
		t.Errorf("%s after a cancel", job.Status)
	}
	lost := belfrytest.New(t, stopped)
	jobs = lost.Submitter()
	id = lost.Submit("note", nil)
	lost.WaitFor(id, core.Running)
	lost.Skip(2 * time.Minute)
	lost.Advance(0)
	if job := lost.Job(id); job.Status != core.Scheduled || job.Attempts != 1 {
		t.Errorf("%s after a lost lease", job.Status)
	}
	if n := len(lost.Submitted("other")); n != 50 {
		t.Errorf("the handler was waited for until its job %d of 50", n)
	}
}

// TestEndOfTestStopsHandlers: the end of the test cancels running handlers, and this is no failure.
func TestEndOfTestStopsHandlers(t *testing.T) {
	t.Parallel()
	cause := make(chan error, 1)
	said := failure(t, func(t testing.TB) {
		e := belfrytest.New(t, setOf(func(ctx context.Context, _ *handler.Job[note]) error {
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return ctx.Err()
		}))
		e.WaitFor(e.Submit("note", nil), core.Running)
	})
	if got := <-cause; said != "" || !errors.Is(got, core.ErrStopping) {
		t.Errorf("cause %v; said %s", got, said)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	cause := make(chan error, 1)
	e := belfrytest.New(t, setOf(func(ctx context.Context, _ *handler.Job[note]) error {
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return ctx.Err()
	}))
	waiting, running := e.SubmitJob(core.NewJob{Type: "note", Delay: time.Hour}).ID, e.Submit("note", nil)
	if job := e.Cancel(waiting); job.Status != core.Cancelled {
		t.Errorf("the waiting job is %s", job.Status)
	}
	e.WaitFor(running, core.Running)
	if job := e.Cancel(running); job.Status != core.Running || !job.CancelWanted {
		t.Errorf("the running job is %s", job.Status)
	}
	e.WaitFor(running, core.Cancelled)
	if got := <-cause; !errors.Is(got, core.ErrCancelWanted) {
		t.Errorf("cause %v", got)
	}
}

func TestSkipLosesTheLease(t *testing.T) {
	t.Parallel()
	cause := make(chan error, 2)
	e := belfrytest.New(t, setOf(func(ctx context.Context, job *handler.Job[note]) error {
		if job.Attempts > 1 {
			return nil
		}
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return ctx.Err()
	}))
	id := e.Submit("note", nil)
	e.WaitFor(id, core.Running)
	e.Skip(59 * time.Second)
	if job := e.Job(id); job.Status != core.Running {
		t.Fatalf("%s before its lease had passed", job.Status)
	}
	e.Skip(time.Hour) // longer than its timeout too, but it ends because of the lease
	e.Drain()
	if got := <-cause; !errors.Is(got, core.ErrLeaseLost) {
		t.Errorf("cause %v", got)
	}
	if failed := e.Errors(id); len(failed) != 1 || failed[0].Kind != core.KindLost {
		t.Errorf("errors %+v", failed)
	}
	e.Advance(30 * time.Second)
	e.WaitFor(id, core.Done)
}

// TestSlotsRunAtOnce: handlers that wait for each other end only if they run at the same time.
func TestSlotsRunAtOnce(t *testing.T) {
	t.Parallel()
	const at = 5
	var together sync.WaitGroup
	together.Add(at)
	work := func(context.Context, *handler.Job[note]) error {
		together.Done()
		together.Wait()
		return nil
	}
	set := setOf(work)
	handler.Register(set, "memo", work)
	e := belfrytest.NewWith(t, set, belfrytest.Options{Slots: at})
	for i := range at {
		e.Submit([]string{"note", "memo"}[i%2], nil)
	}
	e.Drain()
	if n := len(e.Submitted("", belfrytest.Status(core.Done))); n != at {
		t.Errorf("%d done", n)
	}
}

// TestOthersGoOnBesideARunningJob: a running job keeps its lease, and other jobs run in the free slots.
func TestOthersGoOnBesideARunningJob(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	e := belfrytest.NewWith(t, setOf(func(_ context.Context, job *handler.Job[note]) error {
		if job.Payload.Text == "long" {
			<-release
		}
		return nil
	}), belfrytest.Options{Slots: 2})
	long := e.SubmitJob(core.NewJob{Type: "note", Payload: e.JSON(note{"long"}), Timeout: 3 * time.Hour}).ID
	e.WaitFor(long, core.Running)
	short := e.SubmitJob(core.NewJob{Type: "note", Delay: time.Hour}).ID
	e.Advance(2 * time.Hour)
	if job := e.Job(short); job.Status != core.Done || !job.StartedAt.Equal(job.RunAt) {
		t.Errorf("the short one is %s, started at %s", job.Status, job.StartedAt)
	}
	if job := e.Job(long); job.Status != core.Running || !job.LeaseUntil.After(e.Now()) {
		t.Errorf("the long one is %s, its lease ends at %s", job.Status, job.LeaseUntil)
	}
	close(release)
	e.WaitFor(long, core.Done)
}

// TestOneSlotIsTaken: with one slot a running job blocks the others, and Advance waits for none of them.
func TestOneSlotIsTaken(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	e := belfrytest.New(t, setOf(func(context.Context, *handler.Job[note]) error { <-release; return nil }))
	first, second := e.Submit("note", nil), e.Submit("note", nil)
	e.WaitFor(first, core.Running)
	e.Advance(time.Minute)
	if job := e.Job(second); job.Status != core.Scheduled {
		t.Errorf("the second is %s", job.Status)
	}
	close(release)
	e.Drain()
	if one, two := e.Job(first), e.Job(second); one.Status != core.Done || two.Status != core.Done {
		t.Errorf("%s, %s", one.Status, two.Status)
	}
}
