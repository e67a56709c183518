package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
)

// Start makes queued rows running; see core.WorkStore. In the usual case it is one transaction and one round trip;
// where rows did not come back a second one tells those that are locked from those that are stale. Rows that raise an error
// are set apart, and count as stale: they are published again when they are met again.
func (s *Store) Start(ctx context.Context, refs []core.Ref, req core.ClaimRequest) (core.StartResult, error) {
	result, err := s.start(ctx, refs, req)
	if !errors.Is(err, core.ErrRow) {
		return result, err
	}
	sound, err := s.soundRefs(ctx, refs, "start", "start")
	if err != nil {
		return core.StartResult{}, err
	}
	var whole core.StartResult
	err = apart.Halve(ctx, sound, func(part []core.Ref) error {
		got, err := s.start(ctx, part, req)
		if err == nil {
			whole.Now, whole.Jobs, whole.Busy = got.Now, append(whole.Jobs, got.Jobs...), append(whole.Busy, got.Busy...)
		}
		return err
	}, func(ref core.Ref, err error) error { return s.setApartJob(ctx, ref.ID, "", core.ActStart, err) })
	return whole, err
}

// soundRefs sets apart those that raise an error when they are tried alone, and returns the others.
func (s *Store) soundRefs(ctx context.Context, refs []core.Ref, name, act string) ([]core.Ref, error) {
	ids := make([]int64, len(refs))
	for i, ref := range refs {
		ids[i] = ref.ID
	}
	faults, err := s.faultsOf(ctx, ids, name, act)
	if err != nil {
		return nil, err
	}
	if err := s.SetApart(ctx, faults); err != nil {
		return nil, err
	}
	at := make(map[int64]bool, len(faults))
	for i := range faults {
		at[faults[i].ID] = true
	}
	return slices.DeleteFunc(slices.Clone(refs), func(ref core.Ref) bool { return at[ref.ID] }), nil
}

func (s *Store) start(ctx context.Context, refs []core.Ref, req core.ClaimRequest) (core.StartResult, error) {
	var result core.StartResult
	var refused []core.Ref
	a := refArgs(s.args(5).Interval(req.Lease).Text(req.WorkerID).Int8(req.ClaimID), refs)
	name := "start"
	if req.Targeted {
		name += targetedSuffix
	}
	err := s.run(ctx, "start", s.guard(s.opts.LockTimeout),
		s.sql.call("now", s.args(0), func(r wire.Row) error {
			result.Now = r.Time(0)
			return nil
		}),
		s.sql.call(name, a, func(r wire.Row) error {
			kind, r := r.Int(0), r[1:]
			if kind == kindRefused {
				refused = append(refused, core.Ref{ID: r.Int(colID), Token: r.Int(colLeaseToken)})
				return nil
			}
			if result.Jobs == nil {
				result.Jobs = make([]core.Job, 0, len(refs))
			}
			result.Jobs = appendRecord(result.Jobs, r)
			return nil
		}))
	if err != nil {
		return core.StartResult{}, err
	}
	for i := range result.Jobs {
		j := &result.Jobs[i]
		j.Status, j.LeaseUntil = core.Running, result.Now.Add(req.Lease)
	}
	if len(result.Jobs)+len(refused) == len(refs) {
		_, _ = s.endRefused(ctx, refused, nil) // they are refused again when their message comes again
		return result, nil
	}
	busy, err := s.current(ctx, "start", refs, core.Queued)
	if err != nil {
		busy = nil // what is running is told; the others' messages come again
	}
	for i, ref := range refs {
		if busy[i] && !slices.Contains(refused, ref) {
			result.Busy = append(result.Busy, ref)
		}
	}
	_, _ = s.endRefused(ctx, refused, nil)
	return result, nil
}

// current reports which refs are in the status under their token.
func (s *Store) current(ctx context.Context, act string, refs []core.Ref, status core.Status) (map[int]bool, error) {
	found := map[int]bool{}
	a := refArgs(wire.NewArgs(3), refs).Int2(int16(status))
	err := s.repeat(ctx, act, s.guard(s.opts.LockTimeout), s.sql.call("current", a, func(r wire.Row) error {
		found[int(r.Int(0))-1] = true
		return nil
	}))
	return found, err
}

// ReadClaim returns the running rows of one claim. It reads all running rows: it is for answers that were lost.
func (s *Store) ReadClaim(ctx context.Context, claimID int64) (jobs []core.Job, err error) {
	err = s.repeat(ctx, "read claim", s.guard(s.opts.LockTimeout), s.sql.call("read_claim", wire.NewArgs(1).Int8(claimID), func(r wire.Row) error {
		jobs = append(jobs, job(r))
		return nil
	}))
	return jobs, err
}

// Unhandled returns queued rows to scheduled and marks their types. Locked rows are left: their dispatch lease passes.
func (s *Store) Unhandled(ctx context.Context, refs []core.Ref) error {
	return s.run(ctx, "unhandled", s.guard(s.opts.LockTimeout), s.sql.call("unhandled", refArgs(s.args(2), refs), nil))
}
