package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// Stats counts; see core.StatsStore. One transaction, one round trip.
func (s *Store) Stats(ctx context.Context, since time.Duration) (core.Stats, error) {
	var st core.Stats
	err := s.run(ctx, "stats", s.guard(s.opts.LockTimeout),
		s.sql.call("stats", s.args(1).Int8(core.CountCap), func(r wire.Row) error {
			st.Now = r.Time(0)
			st.DeadLetters, st.Stuck, st.HistoryOverflow = int(r.Int(1)), int(r.Int(2)), int(r.Int(3))
			st.OldestSnapshot = max(duration(r.Int(4)), 0)
			return nil
		}),
		s.sql.call("stats_queues", s.args(1).Int8(core.CountCap), func(r wire.Row) error {
			q := core.QueueStats{
				Priority: core.Priority(r.Int(0)), Scheduled: int(r.Int(1)), Due: int(r.Int(2)), Queued: int(r.Int(3)), Running: int(r.Int(4)),
			}
			if !r.Null(5) {
				q.OldestDue = max(st.Now.Sub(r.Time(5)), 0)
			}
			st.Unhandled = min(st.Unhandled+int(r.Int(6)), core.CountCap)
			st.Queues = append(st.Queues, q)
			return nil
		}),
		s.sql.call("read_rollups", s.args(1).Interval(since), func(r wire.Row) error {
			st.Rollups = append(st.Rollups, rollup(r))
			return nil
		}),
		s.sql.call("read_totals", nil, func(r wire.Row) error {
			st.Totals = append(st.Totals, rollup(r))
			return nil
		}))
	for i := range st.Rollups {
		st.Rollups[i].Minute = st.Now.Add(-since).Truncate(time.Minute)
	}
	return st, err
}

// Ping reports whether the store can accept jobs: reachable, writable, schema known.
func (s *Store) Ping(ctx context.Context) error {
	steps, err := migrations()
	if err != nil {
		return err
	}
	var readOnly, allowed bool
	var version int64
	if err := s.run(ctx, "ping", s.sql.call("ping", nil, func(r wire.Row) error {
		readOnly, allowed, version = r.Bool(0), r.Bool(1), r.Int(2)
		return nil
	})); err != nil {
		return err
	}
	if readOnly {
		return wrap("ping", core.ErrReadOnly)
	}
	if !allowed {
		return wrap("ping", fmt.Errorf("%w: this role has no right to write belfry.jobs", core.ErrReadOnly))
	}
	return wrap("ping", checkVersion(int(version), steps))
}
