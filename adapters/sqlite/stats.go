package sqlite

import (
	"cmp"
	"context"
	"maps"
	"slices"
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
			err := c.query(ctx, "count_apart", func(r row) error {
				stats.SetApart = append(stats.SetApart, core.ApartCount{Kind: r.text(0), Rows: int(r.int(1))})
				return nil
			}, now)
			if err != nil {
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
		queue *core.QueueStats
		typ   string
		mark  mark
	}
	fleet, err := c.fleet(ctx, now)
	if err != nil {
		return err
	}
	var lanes []lane
	err = c.query(ctx, "lanes", func(r row) error {
		p := core.Priority(r.int(0))
		if !p.Valid() || r.int(2) > now {
			return nil
		}
		q := &stats.Queues[p-1]
		q.OldestDue = max(q.OldestDue, -until(now, r.int(2)))
		lanes = append(lanes, lane{q, r.text(1), r.mark(3)})
		return nil
	})
	if err != nil {
		return err
	}
	unhandled := unhandledTypes{}
	each := max(core.CountCap/max(len(lanes), 1), leastCounted)
	for _, l := range lanes {
		if fleet.onlyDelivered(l.typ, l.mark) {
			n, _, err := c.number(ctx, "count_due_plain", int64(l.queue.Priority), l.typ, now, max(core.CountCap-unhandled.all, each))
			if err != nil {
				return err
			}
			unhandled.add(l.typ, int(n))
		}
		room, alone := core.CountCap-l.queue.Due, fleet.unhandled(l.typ, l.mark)
		if alone {
			room = max(room, core.CountCap-unhandled.all, each)
		}
		if room == 0 {
			continue // counted up to the cap
		}
		n, _, err := c.number(ctx, "count_due", int64(l.queue.Priority), l.typ, now, room)
		if err != nil {
			return err
		}
		l.queue.Due = min(l.queue.Due+int(n), core.CountCap)
		if alone {
			unhandled.add(l.typ, int(n))
		}
	}
	if err := c.countQueuedUnhandled(ctx, fleet, &unhandled); err != nil {
		return err
	}
	stats.Unhandled, stats.UnhandledTypes = unhandled.all, unhandled.list()
	stats.Workers, stats.SlotUse, stats.Handlers = fleet.workers, fleet.slots, typeCounts(fleet.handlers)
	stats.Handlers = stats.Handlers[:min(len(stats.Handlers), core.MaxTypesTold)]
	return nil
}

// leastCounted is how many due jobs of a type are counted at least, if there are so many, where very many types have some.
const leastCounted = 100

// unhandledTypes counts jobs of types that no worker handles.
type unhandledTypes struct {
	all    int // up to the cap
	byType map[string]int
}

func (u *unhandledTypes) add(typ string, n int) {
	if u.byType == nil {
		u.byType = map[string]int{}
	}
	u.byType[typ] = min(u.byType[typ]+n, core.CountCap)
	u.all = min(u.all+n, core.CountCap)
}

// list has the types with the most jobs, these first.
func (u *unhandledTypes) list() []core.TypeCount {
	list := typeCounts(u.byType)
	slices.SortStableFunc(list, func(a, b core.TypeCount) int { return cmp.Compare(b.N, a.N) })
	return list[:min(len(list), core.MaxTypesTold)]
}

// countQueuedUnhandled adds queued jobs of types that no worker handles.
func (c *conn) countQueuedUnhandled(ctx context.Context, fleet *fleet, unhandled *unhandledTypes) error {
	type counts struct{ all, withoutTarget int }
	queued := map[string]counts{}
	err := c.query(ctx, "count_queued_types", func(r row) error {
		queued[r.text(0)] = counts{int(r.int(1)), int(r.int(2))}
		return nil
	}, core.CountCap)
	if err != nil {
		return err
	}
	for typ, n := range queued {
		var known mark
		if err := c.query(ctx, "type_mark", func(r row) error { known = r.mark(1); return nil }, typ); err != nil {
			return err
		}
		if fleet.unhandled(typ, known) {
			unhandled.add(typ, n.all)
		} else if fleet.onlyDelivered(typ, known) {
			unhandled.add(typ, n.withoutTarget)
		}
	}
	return nil
}

// typeCounts lists counts by type.
func typeCounts(counts map[string]int) []core.TypeCount {
	var list []core.TypeCount
	for _, typ := range slices.Sorted(maps.Keys(counts)) {
		if counts[typ] > 0 {
			list = append(list, core.TypeCount{Type: typ, N: counts[typ]})
		}
	}
	return list
}
