package postgres

import (
	"context"
	"slices"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// Start makes queued rows running; see core.WorkStore. In the usual case it is one transaction and one round trip;
// where rows did not come back a second one tells those that are locked from those that are stale.
func (s *Store) Start(ctx context.Context, refs []core.Ref, req core.ClaimRequest) (core.StartResult, error) {
	var result core.StartResult
	var refused []core.Ref
	a := refArgs(s.args(5).Interval(req.Lease).Text(req.WorkerID).Int8(req.ClaimID), refs)
	err := s.run(ctx, "start", s.guard(s.opts.LockTimeout),
		s.sql.call("now", s.args(0), func(r wire.Row) error {
			result.Now = r.Time(0)
			return nil
		}),
		s.sql.call("start", a, func(r wire.Row) error {
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
		_ = s.endRefused(ctx, refused) // they are refused again when their message comes again
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
	_ = s.endRefused(ctx, refused)
	return result, nil
}

// current reports which refs are in the status under their token.
func (s *Store) current(ctx context.Context, act string, refs []core.Ref, status core.Status) (map[int]bool, error) {
	found := map[int]bool{}
	a := refArgs(wire.NewArgs(3), refs).Int2(int16(status))
	err := s.run(ctx, act, s.guard(s.opts.LockTimeout), s.sql.call("current", a, func(r wire.Row) error {
		found[int(r.Int(0))-1] = true
		return nil
	}))
	return found, err
}

// ReadClaim returns the running rows of one claim. It reads all running rows: it is for answers that were lost.
func (s *Store) ReadClaim(ctx context.Context, claimID int64) (jobs []core.Job, err error) {
	err = s.run(ctx, "read claim", s.guard(s.opts.LockTimeout), s.sql.call("read_claim", wire.NewArgs(1).Int8(claimID), func(r wire.Row) error {
		jobs = append(jobs, job(r))
		return nil
	}))
	return jobs, err
}

// Unhandled returns queued rows to scheduled and marks their types. Locked rows are left: their dispatch lease passes.
func (s *Store) Unhandled(ctx context.Context, refs []core.Ref) error {
	return s.run(ctx, "unhandled", s.guard(s.opts.LockTimeout), s.sql.call("unhandled", refArgs(s.args(2), refs), nil))
}
