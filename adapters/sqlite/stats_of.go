package sqlite

import (
	"context"

	"github.com/belfry-dev/belfry/core"
)

// StatsOf counts the live rows and dead letters of one tenant, in one snapshot.
func (s *Store) StatsOf(ctx context.Context, tenant string) (core.Stats, error) {
	now := s.clock.now()
	stats := core.Stats{Now: instant(now), Queues: make([]core.QueueStats, len(core.Priorities))}
	for i, p := range core.Priorities {
		stats.Queues[i].Priority = p
	}
	err := s.readers.read(ctx, func(c *conn) error {
		return c.snapshot(ctx, func() error {
			if err := c.countWaitingOf(ctx, &stats, now, tenant); err != nil {
				return err
			}
			err := c.query(ctx, "count_in_flight_of", func(r row) error {
				p, n := core.Priority(r.int(0)), min(int(r.int(2)), core.CountCap)
				switch {
				case !p.Valid(): // damaged by hand
				case core.Status(r.int(1)) == core.Queued:
					stats.Queues[p-1].Queued = n
				default:
					stats.Queues[p-1].Running = n
				}
				return nil
			}, tenant, 6*core.CountCap)
			if err != nil {
				return err
			}
			dead, _, err := c.number(ctx, "count_dead_of", tenant, core.CountCap)
			stats.DeadLetters = int(dead)
			return err
		})
	})
	if err != nil {
		return core.Stats{}, wrap("stats of a tenant", err)
	}
	return stats, nil
}

// countWaitingOf counts a tenant's waiting rows lane by lane.
func (c *conn) countWaitingOf(ctx context.Context, stats *core.Stats, now int64, tenant string) error {
	type lane struct {
		queue *core.QueueStats
		typ   string
	}
	var lanes []lane
	err := c.query(ctx, "lanes", func(r row) error {
		if p := core.Priority(r.int(0)); p.Valid() {
			lanes = append(lanes, lane{&stats.Queues[p-1], r.text(1)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, l := range lanes {
		if l.queue.Scheduled >= core.CountCap && l.queue.Due >= core.CountCap {
			continue // counted up to the cap
		}
		err := c.query(ctx, "count_waiting_of", func(r row) error {
			l.queue.Scheduled = min(l.queue.Scheduled+int(r.int(0)), core.CountCap)
			l.queue.Due = min(l.queue.Due+int(r.int(1)), core.CountCap)
			if r.int(1) > 0 {
				l.queue.OldestDue = max(l.queue.OldestDue, -until(now, r.int(2)))
			}
			return nil
		}, int64(l.queue.Priority), l.typ, tenant, now, core.CountCap)
		if err != nil {
			return err
		}
	}
	return nil
}
