package postgres

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// Limits and lengths of a tick where the request names none.
const (
	defaultBucketLease = 4 * time.Second
	minTickTimeout     = 100 * time.Millisecond
	recallLimit        = 1000 // rows that return to scheduled in one tick
)

// Tick is one pass of the scheduler: one transaction and one round trip; see core.TickStore. Rows that were due and may
// not run are ended by one further transaction.
func (s *Store) Tick(ctx context.Context, req core.TickRequest) (core.TickResult, error) {
	req.LeaseLength = cmp.Or(req.LeaseLength, defaultBucketLease)
	req.WaitingLimit = cmp.Or(req.WaitingLimit, req.ScheduleLimit)
	var t *tick
	err := s.end(ctx, "tick", func(suffix string) []wire.Call {
		t = &tick{s: s, req: req}
		return t.calls(suffix)
	})
	if err != nil {
		return core.TickResult{}, err
	}
	t.result.Released = s.noteHeld(req.Holder, t.result.Held)
	if t.claim != nil {
		t.finishDispatch()
		_ = s.endRefused(ctx, t.claim.refused) // the next claim meets these rows again
	}
	return t.result, nil
}

// tick is one Tick under way.
type tick struct {
	s      *Store
	req    core.TickRequest
	result core.TickResult
	claim  *claim
}

// calls are the steps in their order: leases first, so that what follows acts under them.
func (t *tick) calls(suffix string) []wire.Call {
	s, req := t.s, t.req
	timeout := max(req.LeaseLength*3/4, minTickTimeout)
	calls := []wire.Call{
		s.guard(min(s.opts.LockTimeout, timeout)),
		s.sql.call("tick_guard", wire.NewArgs(1).Text(fmt.Sprintf("%dms", min(timeout, time.Hour).Milliseconds())), nil),
		s.sql.call("lease_take", s.args(2).Text(req.Holder).Interval(req.LeaseLength), nil),
		s.sql.call("lease_held", s.args(1).Text(req.Holder), t.readHeld),
		s.sql.call("lost", s.args(2).Int8(int64(req.ReapLimit)).Int8(req.ReapAfter), func(r wire.Row) error {
			t.result.Lost = append(t.result.Lost, job(r))
			return nil
		}),
		s.sql.call("expire"+suffix, s.args(1).Int8(int64(req.ExpireLimit)), func(wire.Row) error {
			t.result.Expired++
			return nil
		}),
	}
	if req.Dispatch {
		calls = append(calls, t.dispatch()...)
	}
	if req.ScheduleLimit > 0 {
		calls = append(calls, t.schedules()...)
	}
	if req.Recall {
		calls = append(calls, s.sql.call("recall", s.args(2).Text(req.Holder).Int8(recallLimit), nil))
	}
	return append(calls, s.sql.call("waiting", s.args(1).Bool(!req.Dispatch || req.Unannounced), t.readLane))
}

func (t *tick) readHeld(r wire.Row) error {
	t.result.Now = r.Time(0)
	if !r.Null(1) {
		t.result.Held = append(t.result.Held, core.Held{Bucket: int(r.Int(1)), Token: r.Int(2)})
	}
	return nil
}

// readLane leaves out lanes no queue serves: rows of such a priority were damaged.
func (t *tick) readLane(r wire.Row) error {
	if p := core.Priority(r.Int(0)); p.Valid() {
		t.result.Waiting = append(t.result.Waiting, core.Lane{Priority: p, Type: r.Text(1), DueIn: r.Time(2).Sub(t.result.Now)})
	}
	return nil
}

// schedules are the steps that look for schedules to advance.
func (t *tick) schedules() []wire.Call {
	s, req := t.s, t.req
	return []wire.Call{
		s.sql.call("due_schedules", s.args(4).Text(req.Holder).Int8(int64(req.ScheduleLimit)).Int8(req.WaitingAfter).Int8(int64(req.WaitingLimit)), func(r wire.Row) error {
			t.result.Schedules = append(t.result.Schedules, schedule(r))
			return nil
		}),
		s.sql.call("next_schedule", s.args(4).Text(core.AlertJobFailed).Text(req.Holder).Int8(req.WaitingAfter).Int8(int64(req.WaitingLimit)), func(r wire.Row) error {
			t.result.ScheduleIn, t.result.Unsent = maxScheduleIn, r.Bool(1)
			t.result.Failed, t.result.Failing, t.result.WaitingTo = r.Bool(2), r.Bool(3), r.Int(4)
			if !r.Null(0) {
				t.result.ScheduleIn = min(r.Time(0).Sub(t.result.Now), maxScheduleIn)
			}
			if len(t.result.Schedules) >= req.ScheduleLimit {
				t.result.ScheduleIn = 0
			}
			return nil
		}),
	}
}

// maxScheduleIn bounds TickResult.ScheduleIn.
const maxScheduleIn = time.Hour

// dispatch are the steps of queue mode.
func (t *tick) dispatch() []wire.Call {
	s, req := t.s, t.req
	t.claim = newClaim(req.Quotas)
	calls := []wire.Call{
		s.sql.call("adopt", s.args(1).Text(req.Holder), nil),
		s.sql.call("republish", s.args(4).Interval(req.DispatchLease).Text(req.Holder).Interval(req.DispatchLeaseMax).Int8(int64(req.RepublishLimit)), func(r wire.Row) error {
			t.result.Dispatched = appendRecord(t.result.Dispatched, r)
			t.queued(&t.result.Dispatched[len(t.result.Dispatched)-1])
			return nil
		}),
		s.countQueued(func(p core.Priority, n int) { t.result.Queued[p-1] = n }),
	}
	return append(calls, t.claim.calls(s, "dispatch", func() *wire.Args {
		return s.args(8).Interval(req.DispatchLease).Text(req.Holder)
	})...)
}

// queued fills in what the statements that queue rows do not return.
func (t *tick) queued(j *core.Job) {
	lease := t.req.DispatchLease
	for range min(max(j.Dispatches-1, 0), 20) {
		lease *= 2
	}
	if j.Dispatches > 1 {
		lease = min(lease, t.req.DispatchLeaseMax)
	}
	j.Status, j.LeaseUntil = core.Queued, t.result.Now.Add(lease)
}

// finishDispatch adds the claimed rows to those published again.
func (t *tick) finishDispatch() {
	t.claim.order(t.claim.jobs)
	for i := range t.claim.jobs {
		t.queued(&t.claim.jobs[i])
	}
	if len(t.result.Dispatched) == 0 {
		t.result.Dispatched = t.claim.jobs
	} else {
		t.result.Dispatched = append(t.result.Dispatched, t.claim.jobs...)
	}
	t.result.Taken = t.claim.taken
}

// Undispatch makes the dispatch lease of these queued rows pass now.
func (s *Store) Undispatch(ctx context.Context, refs []core.Ref) error {
	if len(refs) == 0 {
		return nil
	}
	return s.run(ctx, "undispatch", s.guard(s.opts.LockTimeout), s.sql.call("undispatch", refArgs(s.args(2), refs), nil))
}
