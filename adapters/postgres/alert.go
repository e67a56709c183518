package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/tick"
)

// RaiseAlerts raises and clears alerts; see core.ScheduleStore.
func (s *Store) RaiseAlerts(ctx context.Context, alerts []core.Alert) error {
	if len(alerts) == 0 {
		return nil
	}
	a := s.args(6)
	wire.Texts(a, alerts, func(al *core.Alert) string { return al.Kind })
	wire.Texts(a, alerts, func(al *core.Alert) string { return al.Tenant })
	wire.Texts(a, alerts, func(al *core.Alert) string { return al.Subject })
	wire.Texts(a, alerts, func(al *core.Alert) string { return al.Detail })
	wire.Bools(a, alerts, func(al *core.Alert) bool { return clears(al) })
	wire.Bools(a, alerts, func(al *core.Alert) bool { return momentary(al) })
	return s.repeat(ctx, "raise alerts", s.guard(s.opts.LockTimeout), s.sql.call("raise_alerts", a, nil))
}

// clears and momentary say what is to become of an alert that is raised: see core.ScheduleStore.
func clears(a *core.Alert) bool { return a.RaisedAt.IsZero() && !a.ClearedAt.IsZero() }

func momentary(a *core.Alert) bool { return !a.RaisedAt.IsZero() && !a.ClearedAt.IsZero() }

// Alerts lists alerts, newest first.
func (s *Store) Alerts(ctx context.Context, q core.AlertQuery) (list []core.Alert, err error) {
	a := s.args(7).TextOrNull(q.Tenant).Text(q.Kind).Bool(q.Open).Bool(q.Unsent).Int8(q.Before).Int8(int64(q.Limit))
	err = s.read(ctx, "alerts", s.sql.call("list_alerts", a, func(r wire.Row) error {
		list = append(list, core.Alert{
			ID: r.Int(0), Kind: r.Text(1), Tenant: r.Text(2), Subject: r.Text(3), Detail: r.Text(4), RaisedAt: r.Time(5), ClearedAt: r.Time(6), Count: r.Int(7),
		})
		return nil
	}))
	return list, err
}

// WatchFailures raises and clears alerts about jobs that failed for good; see core.ScheduleStore. Where a note raises an error
// it is taken out by itself, and named: what it counted is not told.
func (s *Store) WatchFailures(ctx context.Context) (raised int, err error) {
	raised, err = s.watchFailures(ctx, tick.FailureNotes)
	if !errors.Is(err, core.ErrRow) {
		return raised, err
	}
	raised = 0
	for range tick.FailureNotes {
		n, err := s.watchFailures(ctx, 1)
		switch {
		case err == nil && n < 0:
			return raised, nil
		case err == nil:
			raised += n
		case !errors.Is(err, core.ErrRow):
			return raised, err
		default:
			if err := s.dropNote(ctx, err); err != nil {
				return raised, err
			}
		}
	}
	return raised, nil
}

// watchFailures takes up to limit notes. It returns -1 if it was asked for one and there was none.
func (s *Store) watchFailures(ctx context.Context, limit int) (raised int, err error) {
	watch := s.args(6).Text(core.AlertJobFailed).Int8(int64(limit)).Int8(tick.FailuresOfType).Int8(tick.FailuresOfAll).
		Text(tick.FailureDetail).Text(tick.FailuresDetail)
	left := false
	err = s.run(ctx, "watch failures", s.guard(s.opts.LockTimeout),
		s.sql.call("failures_left", nil, func(r wire.Row) error {
			left = r.Bool(0)
			return nil
		}),
		s.sql.call("watch_failures", watch, func(wire.Row) error {
			raised++
			return nil
		}),
		s.sql.call("clear_failures", s.args(2).Text(core.AlertJobFailed).Interval(tick.FailureQuiet), nil))
	if err == nil && limit == 1 && !left {
		return -1, nil
	}
	return raised, err
}

// dropNote takes the first note out, which raises an error.
func (s *Store) dropNote(ctx context.Context, err error) error {
	fault := core.RowFault{Kind: core.ApartAlert, Act: "raise", Error: faultText(err)}
	if err := s.run(ctx, "watch failures", s.sql.call("drop_note", nil, func(r wire.Row) error {
		fault.Name = r.Text(0) + "/" + r.Text(1)
		return nil
	})); err != nil {
		return err
	}
	return s.SetApart(ctx, []core.RowFault{fault})
}

// MarkAlerts notes that the events of alerts, as they were read, were published.
func (s *Store) MarkAlerts(ctx context.Context, alerts []core.Alert) error {
	a := wire.NewArgs(2)
	wire.Int8s(a, alerts, func(al *core.Alert) int64 { return al.ID })
	wire.Int2s(a, alerts, func(al *core.Alert) int16 { return eventOf(al.ClearedAt) })
	return s.repeat(ctx, "mark alerts", s.guard(s.opts.LockTimeout), s.sql.call("mark_alerts", a, nil))
}

// eventOf is the number of an alert's last event: 1 raised, 2 cleared.
func eventOf(cleared time.Time) int16 {
	if cleared.IsZero() {
		return 1
	}
	return 2
}
