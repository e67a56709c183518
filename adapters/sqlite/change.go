package sqlite

import (
	"context"

	"github.com/belfry-dev/belfry/core"
)

// Cancel ends a job that has not started and asks a running one to stop.
func (s *Store) Cancel(ctx context.Context, id int64) (core.Job, error) {
	return s.change(ctx, "cancel", id, (*tx).cancel)
}

// cancel cancels a live job, or says that cancel is wanted, and whether it did.
func (t *tx) cancel(a liveState) (bool, error) {
	switch a.status {
	case core.Scheduled, core.Queued:
		a.raise()
		return true, t.end(a, core.Cancelled, reasonCancelled, nil)
	case core.Running:
		_, err := t.exec("want_cancel", a.id)
		return true, err
	}
	return false, nil
}

// CancelRuns cancels many jobs at once.
func (s *Store) CancelRuns(ctx context.Context, ids []int64) (done []int64, err error) {
	err = s.writer.run(ctx, func(t *tx) error {
		done = nil
		for _, id := range ids {
			live, err := t.row("get_live", id)
			if err != nil {
				return err
			}
			if live == nil {
				continue
			}
			cancelled, err := t.cancel(live.liveState())
			if err != nil {
				return err
			}
			if cancelled {
				done = append(done, id)
			}
		}
		return nil
	})
	return done, wrap("cancel runs", err)
}

// Reschedule gives a job that has not started a new run_at.
func (s *Store) Reschedule(ctx context.Context, id int64, when core.When) (core.Job, error) {
	return s.change(ctx, "reschedule", id, func(t *tx, a liveState) (bool, error) {
		runAt := t.now + when.Delay.Microseconds()
		if !when.At.IsZero() {
			runAt = micros(when.At)
		}
		switch a.status {
		case core.Queued:
			a.raise()
			return true, t.putBack(a, runAt)
		case core.Scheduled:
			return true, t.putBack(a, runAt)
		}
		return false, nil
	})
}

// change runs do on a live row and returns the job as it then stands. Where do says that the status does not
// allow it, and where the job has ended, the answer is a *core.ConflictError.
func (s *Store) change(ctx context.Context, act string, id int64, do func(*tx, liveState) (bool, error)) (core.Job, error) {
	var job core.Job
	err := s.writer.run(ctx, func(t *tx) error {
		live, err := t.row("get_live", id)
		if err != nil {
			return err
		}
		allowed := false
		if live != nil {
			if allowed, err = do(t, live.liveState()); err != nil {
				return err
			}
		}
		now, err := t.row("get", id)
		switch {
		case err != nil:
			return err
		case now == nil:
			return core.ErrNotFound
		case !allowed:
			return &core.ConflictError{Job: now.job(), Act: act}
		}
		job = now.job()
		return nil
	})
	if err != nil {
		return core.Job{}, wrap(act, err)
	}
	return job, nil
}
