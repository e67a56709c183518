package postgres

import (
	"context"
	"errors"
	"strconv"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// changeRounds bounds how often a change looks again for a job that moves between tables while it looks.
const changeRounds = 10

// Cancel ends a job that has not started and asks a running one to stop; see core.JobStore.
// One of which a value cannot be read ends without its large values.
func (s *Store) Cancel(ctx context.Context, id int64) (core.Job, error) {
	cancelled, err := s.cancel(ctx, "", id)
	var fault *rowError
	if !errors.As(err, &fault) || !fault.unread {
		return cancelled, err
	}
	if cancelled, err = s.cancel(ctx, unreadSuffix, id); err != nil {
		return core.Job{}, err
	}
	return s.Get(ctx, cancelled.ID)
}

// cancel is Cancel by the statement of the form that form names.
func (s *Store) cancel(ctx context.Context, form string, id int64) (core.Job, error) {
	return s.change(ctx, "cancel", id, core.Status.Live, func(suffix string, each func(wire.Row) error) wire.Call {
		return s.sql.call("cancel"+form+suffix, s.args(1).Int8(id), each)
	})
}

// CancelRuns cancels many jobs at once; see core.ScheduleStore.
func (s *Store) CancelRuns(ctx context.Context, ids []int64) (done []int64, err error) {
	err = s.end(ctx, "cancel runs", func(suffix string) []wire.Call {
		done = nil
		a := wire.Int8s(s.args(1), ids, func(id *int64) int64 { return *id })
		return []wire.Call{s.guard(s.opts.LockTimeout), s.sql.call("cancel_runs"+suffix, a, func(r wire.Row) error {
			done = append(done, r.Int(0))
			return nil
		})}
	})
	return done, err
}

// Reschedule gives a job that has not started a new run_at; see core.JobStore.
func (s *Store) Reschedule(ctx context.Context, id int64, when core.When) (core.Job, error) {
	waiting := func(st core.Status) bool { return st == core.Scheduled || st == core.Queued }
	return s.change(ctx, "reschedule", id, waiting, func(_ string, each func(wire.Row) error) wire.Call {
		return s.sql.call("reschedule", s.args(3).Int8(id).Time(when.At).Interval(when.Delay), each)
	})
}

// jobSubject names a job as what calls may wait for.
func jobSubject(id int64) string { return "job " + strconv.FormatInt(id, 10) }

// change sends a conditional statement for one job. When no row comes back it looks where the job is: absent
// everywhere is ErrNotFound, a status that does not allow the change is a conflict, and one that does allow it
// means that the job moved meanwhile, and the statement is sent again.
func (s *Store) change(ctx context.Context, act string, id int64, allowed func(core.Status) bool, call func(suffix string, each func(wire.Row) error) wire.Call) (core.Job, error) {
	for range changeRounds {
		var changed core.Job
		err := s.writeEnd(ctx, act, jobSubject(id), func(suffix string) []wire.Call {
			return []wire.Call{s.guard(glanceWait), call(suffix, func(r wire.Row) error {
				changed = job(r)
				return nil
			})}
		})
		if err != nil || changed.ID != 0 {
			return changed, err
		}
		found, err := s.Get(ctx, id)
		if err != nil {
			return core.Job{}, err
		}
		if !allowed(found.Status) {
			return core.Job{}, wrap(act, &core.ConflictError{Job: found, Act: act})
		}
	}
	return core.Job{}, wrap(act, core.ErrBusy)
}
