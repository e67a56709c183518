package sqlite

import (
	"context"

	"github.com/belfry-dev/belfry/core"
)

// CountSchedules counts schedules by state.
func (s *Store) CountSchedules(ctx context.Context) (states core.ScheduleStates, err error) {
	err = s.readers.read(ctx, func(c *conn) error {
		return c.query(ctx, "count_schedules", func(r row) error {
			states = core.ScheduleStates{Active: int(r.int(0)), Paused: int(r.int(1)), Ended: int(r.int(2))}
			return nil
		}, core.CountCap)
	})
	return states, wrap("count schedules", err)
}

// countTroubles adds what stats say of schedules and alerts.
func (c *conn) countTroubles(ctx context.Context, stats *core.Stats, now int64) error {
	due, late, err := c.number(ctx, "stats_due_schedule", now)
	if err != nil {
		return err
	}
	if late {
		stats.OldestDueSchedule = -until(now, due)
	}
	return c.query(ctx, "stats_alerts", func(r row) error {
		stats.OpenAlerts = append(stats.OpenAlerts, core.AlertCount{Kind: r.text(0), Open: min(int(r.int(1)), core.CountCap)})
		return nil
	})
}
