package sqlite

import (
	"context"
	"math"

	"github.com/belfry-dev/belfry/core"
)

// RaiseAlerts raises and clears alerts.
func (s *Store) RaiseAlerts(ctx context.Context, alerts []core.Alert) error {
	err := s.writer.run(ctx, func(t *tx) error {
		for i := range alerts {
			if err := t.raise(&alerts[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap("raise alerts", err)
}

func (t *tx) raise(a *core.Alert) error {
	var over any
	if !a.ClearedAt.IsZero() {
		cleared, err := t.exec("clear_alert", a.Kind, a.Tenant, a.Subject, t.now)
		if err != nil || cleared > 0 || a.RaisedAt.IsZero() {
			return err
		}
		over = t.now
	}
	_, err := t.exec("raise_alert", a.Kind, a.Tenant, a.Subject, a.Detail, t.now, over)
	return err
}

// Alerts lists alerts, newest first.
func (s *Store) Alerts(ctx context.Context, q core.AlertQuery) (list []core.Alert, err error) {
	before := q.Before
	if before == 0 {
		before = math.MaxInt64
	}
	err = s.readers.read(ctx, func(c *conn) error {
		list = nil
		return c.query(ctx, "list_alerts", func(r row) error {
			list = append(list, core.Alert{
				ID: r.int(0), Kind: r.text(1), Tenant: r.text(2), Subject: r.text(3), Detail: r.text(4), RaisedAt: r.time(5), ClearedAt: r.time(6), Count: r.int(7),
			})
			return nil
		}, tenantOrNull(q.Tenant), q.Kind, number(q.Open), number(q.Unsent), before, int64(q.Limit), s.clock.now())
	})
	return list, wrap("alerts", err)
}

// MarkAlerts notes that the events of alerts, as they were read, were published.
func (s *Store) MarkAlerts(ctx context.Context, alerts []core.Alert) error {
	err := s.writer.run(ctx, func(t *tx) error {
		for _, a := range alerts {
			if _, err := t.exec("mark_alert", a.ID, 1+number(!a.ClearedAt.IsZero())); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap("mark alerts", err)
}
