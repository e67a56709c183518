package postgres

import (
	"cmp"
	"context"
	"errors"
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
// not run are ended by one further transaction. Where a row raises an error the steps are taken one by one.
func (s *Store) Tick(ctx context.Context, req core.TickRequest) (core.TickResult, error) {
	req.LeaseLength = cmp.Or(req.LeaseLength, defaultBucketLease)
	req.WaitingLimit = cmp.Or(req.WaitingLimit, req.ScheduleLimit)
	all := len(req.Quotas)
	open, places := s.closed.open(req.Quotas)
	req.Quotas = open
	var t *tickCall
	err := wrap("tick", endVia(func(suffix string) []wire.Call {
		t = &tickCall{s: s, req: req}
		return t.calls(suffix)
	}, func(calls ...wire.Call) error {
		return s.sendAs(ctx, engineShare, true, calls...) // a second pass is what the next second would bring
	}))
	if errors.Is(err, core.ErrRow) {
		t = &tickCall{s: s, req: req}
		err = t.stepByStep(ctx)
	}
	if err != nil {
		return core.TickResult{}, err
	}
	if t.leaseRows < core.Buckets {
		s.makeLeases(ctx)
	}
	t.result.Released = s.noteHeld(req.Holder, t.result.Held)
	if t.claim != nil {
		t.finishDispatch()
		t.result.Taken = spread(t.result.Taken, places, all)
		_, _ = s.endRefused(ctx, t.claim.refused, nil) // the next claim meets these rows again
	}
	return t.result, nil
}

// tickCall is one Tick under way.
type tickCall struct {
	s         *Store
	req       core.TickRequest
	result    core.TickResult
	claim     *claim
	leaseRows int64 // how many buckets have a row
}

// calls are the steps in their order: leases first, so that what follows acts under them.
func (t *tickCall) calls(suffix string) []wire.Call {
	calls := append(t.guards(), t.leases()...)
	calls = append(calls, t.lost(), t.expire(suffix))
	if t.req.Dispatch {
		calls = append(calls, t.adopt(), t.republish(), t.countQueued())
		t.claim = newClaim(t.req.Quotas)
		calls = append(calls, t.dispatch(t.claim)...)
	}
	if t.req.ScheduleLimit > 0 {
		calls = append(calls, t.dueSchedules(), t.nextSchedule())
	}
	if t.req.Recall {
		calls = append(calls, t.recall())
	}
	return append(calls, t.waiting())
}

// guards begin each transaction of a tick.
func (t *tickCall) guards() []wire.Call {
	timeout := max(t.req.LeaseLength*3/4, minTickTimeout)
	return []wire.Call{
		t.s.guard(min(t.s.opts.LockTimeout, timeout)),
		t.s.sql.call("tick_guard", wire.NewArgs(1).Text(fmt.Sprintf("%dms", min(timeout, time.Hour).Milliseconds())), nil),
	}
}

func (t *tickCall) leases() []wire.Call {
	return []wire.Call{
		t.leaseTake(true, nil),
		t.s.sql.call("lease_held", t.s.args(1).Text(t.req.Holder), t.readHeld),
	}
}

func (t *tickCall) leaseTake(all bool, buckets []int64) wire.Call {
	a := t.s.args(4).Text(t.req.Holder).Interval(t.req.LeaseLength).Bool(all)
	wire.Int8s(a, buckets, func(b *int64) int64 { return *b })
	return t.s.sql.call("lease_take", a, nil)
}

func (t *tickCall) lost() wire.Call {
	return t.s.sql.call("lost", t.s.args(2).Int8(int64(t.req.ReapLimit)).Int8(t.req.ReapAfter), t.readLost)
}

func (t *tickCall) readLost(r wire.Row) error {
	t.result.Lost = append(t.result.Lost, job(r))
	return nil
}

func (t *tickCall) expire(suffix string) wire.Call {
	return t.s.sql.call("expire"+suffix, t.s.args(1).Int8(int64(t.req.ExpireLimit)), func(wire.Row) error {
		t.result.Expired++
		return nil
	})
}

func (t *tickCall) recall() wire.Call {
	return t.s.sql.call("recall", t.s.args(2).Text(t.req.Holder).Int8(recallLimit), nil)
}

func (t *tickCall) waiting() wire.Call {
	return t.s.sql.call("waiting", t.s.args(1).Bool(!t.req.Dispatch || t.req.Unannounced), t.readLane)
}

func (t *tickCall) readHeld(r wire.Row) error {
	t.result.Now, t.leaseRows = r.Time(0), r.Int(3)
	if !r.Null(1) {
		t.result.Held = append(t.result.Held, core.Held{Bucket: int(r.Int(1)), Token: r.Int(2)})
	}
	return nil
}

// readLane tells lanes apart that no queue serves: rows of such a priority were damaged.
func (t *tickCall) readLane(r wire.Row) error {
	lane := core.Lane{Priority: core.Priority(r.Int(0)), Type: r.Text(1), DueIn: r.Time(2).Sub(t.result.Now)}
	if lane.Priority.Valid() {
		t.result.Waiting = append(t.result.Waiting, lane)
	} else {
		t.result.Unserved = append(t.result.Unserved, lane)
	}
	return nil
}

func (t *tickCall) dueSchedules() wire.Call {
	return t.s.sql.call("due_schedules", t.scheduleArgs(), t.readSchedule)
}

func (t *tickCall) scheduleArgs() *wire.Args {
	return t.s.args(4).Text(t.req.Holder).Int8(int64(t.req.ScheduleLimit)).Int8(t.req.WaitingAfter).Int8(int64(t.req.WaitingLimit))
}

func (t *tickCall) readSchedule(r wire.Row) error {
	t.result.Schedules = append(t.result.Schedules, scheduleOf(r))
	return nil
}

// nextSchedule comes after dueSchedules.
func (t *tickCall) nextSchedule() wire.Call {
	a := t.s.args(4).Text(core.AlertJobFailed).Text(t.req.Holder).Int8(t.req.WaitingAfter).Int8(int64(t.req.WaitingLimit))
	return t.s.sql.call("next_schedule", a, func(r wire.Row) error {
		t.result.ScheduleIn, t.result.Unsent = maxScheduleIn, r.Bool(1)
		t.result.Failed, t.result.Failing, t.result.WaitingTo = r.Bool(2), r.Bool(3), r.Int(4)
		t.result.Untold = r.Bool(5)
		if !r.Null(0) {
			t.result.ScheduleIn = min(r.Time(0).Sub(t.result.Now), maxScheduleIn)
		}
		if len(t.result.Schedules) >= t.req.ScheduleLimit {
			t.result.ScheduleIn = 0
		}
		return nil
	})
}

// maxScheduleIn bounds TickResult.ScheduleIn.
const maxScheduleIn = time.Hour

func (t *tickCall) adopt() wire.Call {
	return t.s.sql.call("adopt", t.s.args(1).Text(t.req.Holder), nil)
}

func (t *tickCall) republish() wire.Call {
	a := t.s.args(4).Interval(t.req.DispatchLease).Text(t.req.Holder).Interval(t.req.DispatchLeaseMax).Int8(int64(t.req.RepublishLimit))
	return t.s.sql.call("republish", a, func(r wire.Row) error {
		t.result.Dispatched = appendRecord(t.result.Dispatched, r)
		t.queued(&t.result.Dispatched[len(t.result.Dispatched)-1])
		return nil
	})
}

func (t *tickCall) countQueued() wire.Call {
	if t.req.CountTypes {
		return t.s.countQueuedTypes(func(q core.QueuedType) {
			t.result.QueuedTypes = append(t.result.QueuedTypes, q)
			t.result.Queued[q.Priority-1] = min(t.result.Queued[q.Priority-1]+q.N, core.CountCap)
		})
	}
	return t.s.countQueued(func(p core.Priority, n int) { t.result.Queued[p-1] = n })
}

// dispatch are the statements that mark due rows queued.
func (t *tickCall) dispatch(c *claim) []wire.Call {
	return c.calls(t.s, "dispatch", func() *wire.Args { return t.s.args(8).Interval(t.req.DispatchLease).Text(t.req.Holder) })
}

// queued fills in what the statements that queue rows do not return.
func (t *tickCall) queued(j *core.Job) {
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
func (t *tickCall) finishDispatch() {
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

// DueIn says how long a tick that makes no pass misses nothing; see core.TickStore. It is asked by processes that were
// frozen, whose connection most often still lives: the question whether it does would be a transaction of its own, so this one is
// sent without, and again if the connection turns out to be gone or says nothing.
func (s *Store) DueIn(ctx context.Context, req core.DueRequest) (in time.Duration, err error) {
	calls := []wire.Call{
		s.guard(s.opts.LockTimeout),
		s.sql.call("due_in", s.args(3).Text(core.AlertJobFailed).Bool(req.Alerts).Interval(req.News), func(r wire.Row) error {
			switch {
			case r.Bool(1):
				in = 0
			case r.Null(2):
				in = maxScheduleIn
			default:
				in = min(r.Time(2).Sub(r.Time(0)), maxScheduleIn)
			}
			return nil
		}),
	}
	unasked, cancel := context.WithTimeout(context.WithValue(ctx, unaskedKey{}, true), pingTimeout)
	err = s.repeat(unasked, "due in", calls...)
	silent := err != nil && unasked.Err() != nil && ctx.Err() == nil
	cancel()
	if silent {
		s.AfterFreeze()
		err = s.repeat(ctx, "due in", calls...)
	}
	return in, err
}

// Undispatch makes the dispatch lease of these queued rows pass now.
func (s *Store) Undispatch(ctx context.Context, refs []core.Ref) error {
	if len(refs) == 0 {
		return nil
	}
	return s.repeat(ctx, "undispatch", s.guard(s.opts.LockTimeout), s.sql.call("undispatch", refArgs(s.args(2), refs), nil))
}
