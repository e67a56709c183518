package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// Stats counts; see core.StatsStore. One transaction, one round trip.
func (s *Store) Stats(ctx context.Context, since time.Duration) (core.Stats, error) {
	var st core.Stats
	err := s.read(ctx, "stats", s.guard(glanceWait),
		s.sql.call("stats", s.args(1).Int8(core.CountCap), func(r wire.Row) error {
			st.Now = r.Time(0)
			st.DeadLetters, st.Stuck, st.HistoryOverflow = int(r.Int(1)), int(r.Int(2)), int(r.Int(3))
			st.OldestSnapshot = max(duration(r.Int(4)), 0)
			return nil
		}),
		s.sql.call("stats_queues", s.args(1).Int8(core.CountCap), func(r wire.Row) error {
			st.Queues = append(st.Queues, queueStats(r, st.Now))
			return nil
		}),
		s.sql.call("stats_unhandled", s.args(2).Int8(core.CountCap).Int8(core.MaxTypesTold), func(r wire.Row) error {
			st.UnhandledTypes = append(st.UnhandledTypes, core.TypeCount{Type: r.Text(0), N: int(r.Int(1))})
			st.Unhandled = int(r.Int(2))
			return nil
		}),
		s.sql.call("stats_workers", s.args(1).Int8(core.MaxTypesTold), func(r wire.Row) error {
			if typ := r.Text(0); typ != "" {
				st.Handlers = append(st.Handlers, core.TypeCount{Type: typ, N: int(r.Int(1))})
			} else {
				st.Workers = int(r.Int(1))
				st.SlotUse = core.SlotUse{Slots: int(r.Int(2)), Busy: int(r.Int(3)), DeliverySlots: int(r.Int(4)), Deliveries: int(r.Int(5))}
			}
			return nil
		}),
		s.sql.call("stats_due_schedule", s.args(0), func(r wire.Row) error {
			st.OldestDueSchedule = max(st.Now.Sub(r.Time(0)), 0)
			return nil
		}),
		s.sql.call("stats_alerts", wire.NewArgs(1).Int8(core.CountCap), func(r wire.Row) error {
			st.OpenAlerts = append(st.OpenAlerts, core.AlertCount{Kind: r.Text(0), Open: int(r.Int(1))})
			return nil
		}),
		s.sql.call("count_apart", s.args(0), func(r wire.Row) error {
			st.SetApart = append(st.SetApart, core.ApartCount{Kind: r.Text(0), Rows: int(r.Int(1))})
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

// StatsOf counts the live rows and dead letters of one tenant; see core.StatsStore.
func (s *Store) StatsOf(ctx context.Context, tenant string) (core.Stats, error) {
	var st core.Stats
	err := s.read(ctx, "stats of a tenant", s.guard(glanceWait),
		s.sql.call("stats_of", s.args(2).Int8(core.CountCap).Text(tenant), func(r wire.Row) error {
			st.Now, st.DeadLetters = r.Time(0), int(r.Int(1))
			return nil
		}),
		s.sql.call("stats_queues_of", s.args(2).Int8(core.CountCap).Text(tenant), func(r wire.Row) error {
			st.Queues = append(st.Queues, queueStats(r, st.Now))
			return nil
		}))
	return st, err
}

// CountSchedules counts schedules by state; see core.StatsStore.
func (s *Store) CountSchedules(ctx context.Context) (states core.ScheduleStates, err error) {
	err = s.read(ctx, "count schedules", s.sql.call("count_schedules", wire.NewArgs(1).Int8(core.CountCap), func(r wire.Row) error {
		states = core.ScheduleStates{Active: int(r.Int(0)), Paused: int(r.Int(1)), Ended: int(r.Int(2))}
		return nil
	}))
	return states, err
}

// queueStats reads one priority: its number, counts of rows scheduled, due, queued and running, the oldest due run_at.
func queueStats(r wire.Row, now time.Time) core.QueueStats {
	q := core.QueueStats{
		Priority: core.Priority(r.Int(0)), Scheduled: int(r.Int(1)), Due: int(r.Int(2)), Queued: int(r.Int(3)), Running: int(r.Int(4)),
	}
	if !r.Null(5) {
		q.OldestDue = max(now.Sub(r.Time(5)), 0)
	}
	return q
}

// Ping reports whether the store can accept jobs: reachable, writable, schema known, no right missing.
func (s *Store) Ping(ctx context.Context) error {
	var readOnly bool
	var lack error
	var v version
	ask, err := s.sql.callRights("ping", func(r wire.Row) error {
		readOnly, v, lack = r.Bool(0), version{applied: int(r.Int(1)), oldest: int(r.Int(2))}, s.lackOf(readMissing(r[3:]))
		return nil
	})
	if err == nil {
		err = s.sendOn(ctx, probeShare, true, ask)
	}
	switch {
	case err != nil:
		err = s.explainRights(ctx, err)
	case readOnly:
		err = core.Advise(core.ErrReadOnly, "the database server takes no writes: it is a standby, or default_transaction_read_only is on")
	case lack != nil:
		err = lack
	case s.refused.Load() != nil:
		if err = s.trySession(ctx); err == nil {
			err = checkVersion(v)
		}
	default:
		err = checkVersion(v)
	}
	if errors.Is(err, core.ErrRights) {
		s.warn(core.AdviceOf(err))
	}
	return wrap("ping", err)
}
