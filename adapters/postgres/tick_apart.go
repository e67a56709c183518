package postgres

import (
	"context"
	"errors"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
)

// queuedTried is how many queued rows are tried one by one where one of them raises an error.
const queuedTried = 5_000

// stepByStep takes the steps of a tick in a transaction each, because a row raises an error in one of them. In that step the
// row is found and set apart, and the others go on.
func (t *tickCall) stepByStep(ctx context.Context) error {
	if err := t.leasesApart(ctx); err != nil {
		return err
	}
	steps := []func(context.Context) error{t.lostApart, t.expireApart}
	if t.req.Dispatch {
		steps = append(steps, t.dispatchApart)
	}
	if t.req.ScheduleLimit > 0 {
		steps = append(steps, t.schedulesApart)
	}
	if t.req.Recall {
		steps = append(steps, func(ctx context.Context) error { return t.queuedApart(ctx, t.recall) })
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return t.step(ctx, t.waiting())
}

// leasesApart takes the leases of buckets. One whose row raises an error is left, and named.
func (t *tickCall) leasesApart(ctx context.Context) error {
	err := t.step(ctx, t.leases()...)
	if !errors.Is(err, core.ErrRow) {
		return err
	}
	t.result.Held = nil
	buckets := make([]int64, core.Buckets)
	for i := range buckets {
		buckets[i] = int64(i)
	}
	err = apart.Halve(ctx, buckets, func(part []int64) error { return t.step(ctx, t.leaseTake(false, part)) }, func(bucket int64, err error) error {
		return t.s.SetApart(ctx, []core.RowFault{{Kind: core.ApartBucket, ID: bucket, Act: "lease", Error: faultText(err)}})
	})
	if err != nil {
		return err
	}
	return t.step(ctx, t.leases()[1:]...)
}

// step sends a part of a tick as a transaction of its own.
func (t *tickCall) step(ctx context.Context, calls ...wire.Call) error {
	return t.s.run(ctx, "tick", append(t.guards(), calls...)...)
}

// lostApart lists lost jobs. Of those that cannot be read nothing is known but their ids: they are set apart.
func (t *tickCall) lostApart(ctx context.Context) error {
	err := t.step(ctx, t.lost())
	if !errors.Is(err, core.ErrRow) {
		return err
	}
	t.result.Lost = nil
	found, types, err := t.namedIDs(ctx, "lost", t.s.args(2).Int8(int64(t.req.ReapLimit)).Int8(t.req.ReapAfter))
	if err != nil {
		return err
	}
	return apart.Halve(ctx, found, func(ids []int64) error {
		n := len(t.result.Lost)
		err := t.step(ctx, t.s.sql.call("lost_of", idArgs(ids), t.readLost))
		if err != nil {
			t.result.Lost = t.result.Lost[:n]
		}
		return err
	}, func(id int64, err error) error { return t.s.setApartJob(ctx, id, types[id], "reap", err) })
}

// namedIDs reads ids, and what goes with each, by the short form of a statement.
func (t *tickCall) namedIDs(ctx context.Context, name string, a *wire.Args) (ids []int64, names map[int64]string, err error) {
	names = map[int64]string{}
	err = t.step(ctx, t.s.sql.call(name+idsSuffix, a, func(r wire.Row) error {
		ids = append(ids, r.Int(0))
		names[r.Int(0)] = r.Text(1)
		return nil
	}))
	return ids, names, err
}

// expireApart cancels what has expired.
func (t *tickCall) expireApart(ctx context.Context) error {
	err := t.s.end(ctx, "tick", func(suffix string) []wire.Call {
		t.result.Expired = 0
		return append(t.guards(), t.expire(suffix))
	})
	if !errors.Is(err, core.ErrRow) {
		return err
	}
	var refs []core.Ref
	types := map[int64]string{}
	err = t.step(ctx, t.s.sql.call("expiring", t.s.args(1).Int8(int64(t.req.ExpireLimit)), func(r wire.Row) error {
		refs = append(refs, core.Ref{ID: r.Int(0), Token: r.Int(1)})
		types[r.Int(0)] = r.Text(2)
		return nil
	}))
	if err == nil {
		t.result.Expired, err = t.s.endRefused(ctx, refs, types)
	}
	return err
}

// dispatchApart publishes again and dispatches.
func (t *tickCall) dispatchApart(ctx context.Context) error {
	for _, call := range []func() wire.Call{t.adopt, t.republish} {
		if err := t.queuedApart(ctx, call); err != nil {
			return err
		}
	}
	if err := t.step(ctx, t.countQueued()); err != nil {
		return err
	}
	t.claim = newClaim(t.req.Quotas)
	return t.s.lanesApart(ctx, t.req.Quotas, "dispatch", "dispatch", func(places []int) error {
		part := newClaim(pick(t.req.Quotas, places))
		if err := t.step(ctx, t.dispatch(part)...); err != nil {
			return err
		}
		t.claim.jobs, t.claim.refused = append(t.claim.jobs, part.jobs...), append(t.claim.refused, part.refused...)
		for i, place := range places {
			t.claim.taken[place] = part.taken[i]
		}
		return nil
	})
}

// queuedApart sends a statement that changes queued rows; where one of them raises an error those that do are set apart
// first. What raises one even then is left for the next tick, and named.
func (t *tickCall) queuedApart(ctx context.Context, call func() wire.Call) error {
	before := len(t.result.Dispatched)
	err := t.step(ctx, call())
	if !errors.Is(err, core.ErrRow) {
		return err
	}
	t.result.Dispatched = t.result.Dispatched[:before]
	var ids []int64
	if err := t.step(ctx, t.s.sql.call("queued", t.s.args(1).Int8(queuedTried), collect(&ids))); err != nil {
		return err
	}
	faults, failed := t.s.faultsOf(ctx, ids, "dispatch", "publish")
	if failed == nil {
		failed = t.s.SetApart(ctx, faults)
	}
	if failed != nil {
		return failed
	}
	err = t.step(ctx, call())
	if errors.Is(err, core.ErrRow) {
		t.result.Dispatched = t.result.Dispatched[:before]
		return t.s.SetApart(ctx, []core.RowFault{{Kind: core.ApartType, Name: "queued", Act: "publish", Error: faultText(err)}})
	}
	return err
}

// schedulesApart lists schedules to be advanced. Those that cannot be read are set apart.
func (t *tickCall) schedulesApart(ctx context.Context) error {
	err := t.step(ctx, t.dueSchedules(), t.nextSchedule())
	if !errors.Is(err, core.ErrRow) {
		return err
	}
	t.result.Schedules = nil
	found, names, err := t.namedIDs(ctx, "due_schedules", t.scheduleArgs())
	if err != nil {
		return err
	}
	err = apart.Halve(ctx, found, func(ids []int64) error {
		n := len(t.result.Schedules)
		err := t.step(ctx, t.s.sql.call("schedules_of", idArgs(ids), t.readSchedule))
		if err != nil {
			t.result.Schedules = t.result.Schedules[:n]
		}
		return err
	}, func(id int64, err error) error {
		return t.s.SetApart(ctx, []core.RowFault{{Kind: core.ApartSchedule, ID: id, About: names[id], Act: "advance", Error: faultText(err)}})
	})
	if err != nil {
		return err
	}
	return t.step(ctx, t.nextSchedule())
}
