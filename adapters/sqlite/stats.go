package sqlite

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Stats counts in one snapshot.
func (s *Store) Stats(ctx context.Context, since time.Duration) (core.Stats, error) {
	now := s.clock.now()
	stats := core.Stats{Now: instant(now)}
	err := s.readers.read(ctx, func(c *conn) error {
		return c.snapshot(ctx, func() error {
			if err := c.countLive(ctx, &stats, now); err != nil {
				return err
			}
			if err := c.countRollups(ctx, &stats, instant(now-since.Microseconds()).Truncate(time.Minute)); err != nil {
				return err
			}
			if err := c.countTroubles(ctx, &stats, now); err != nil {
				return err
			}
			dead, _, err := c.number(ctx, "count_dead_all", core.CountCap)
			stats.DeadLetters = int(dead)
			return err
		})
	})
	if err != nil {
		return core.Stats{}, wrap("stats", err)
	}
	return stats, nil
}

// countLive counts live rows.
func (c *conn) countLive(ctx context.Context, stats *core.Stats, now int64) error {
	queued, running, err := countInFlight(ctx, c)
	if err != nil {
		return err
	}
	stats.Queues = make([]core.QueueStats, len(core.Priorities))
	for i, p := range core.Priorities {
		n, _, err := c.number(ctx, "count_scheduled", int64(p), core.CountCap)
		if err != nil {
			return err
		}
		stats.Queues[i] = core.QueueStats{Priority: p, Scheduled: int(n), Queued: queued[i], Running: running[i]}
	}
	stuck, _, err := c.number(ctx, "count_stuck", now, core.CountCap, farAhead(now))
	if err != nil {
		return err
	}
	stats.Stuck = int(stuck)
	return c.countDue(ctx, stats, now)
}

// countDue counts due rows lane by lane, those of a priority up to the cap.
func (c *conn) countDue(ctx context.Context, stats *core.Stats, now int64) error {
	type lane struct {
		queue     *core.QueueStats
		typ       string
		announced bool
	}
	var lanes []lane
	err := c.query(ctx, "lanes", func(r row) error {
		p := core.Priority(r.int(0))
		if !p.Valid() || r.int(2) > now {
			return nil
		}
		q := &stats.Queues[p-1]
		q.OldestDue = max(q.OldestDue, -until(now, r.int(2)))
		lanes = append(lanes, lane{q, r.text(1), r.int(4) != 0})
		return nil
	})
	if err != nil {
		return err
	}
	for _, l := range lanes {
		room := core.CountCap - l.queue.Due
		if !l.announced {
			room = max(room, core.CountCap-stats.Unhandled)
		}
		if room == 0 {
			continue // counted up to the cap
		}
		n, _, err := c.number(ctx, "count_due", int64(l.queue.Priority), l.typ, now, room)
		if err != nil {
			return err
		}
		l.queue.Due = min(l.queue.Due+int(n), core.CountCap)
		if !l.announced {
			stats.Unhandled = min(stats.Unhandled+int(n), core.CountCap)
		}
	}
	return nil
}
