package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

const (
	rollupRetention = 8 * 24 * time.Hour // how long the counts of single minutes are kept
	mergeBatch      = 500                // minutes merged in one transaction
)

// AddRollups adds counts to their minutes. With one writer no row is fought over, so the shards of other
// stores are not needed here.
func (s *Store) AddRollups(ctx context.Context, _ int, added []core.Rollup) error {
	return wrap("add rollups", s.writer.run(ctx, func(t *tx) error {
		for _, r := range added {
			minute := micros(r.Minute.Truncate(time.Minute))
			merged, err := t.addRollup(minute, r)
			if err == nil && merged { // counts that come late join the sum as well
				_, err = t.addRollup(0, r)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

// addRollup adds counts to one row and reports whether that row's minute is part of the sums already.
func (t *tx) addRollup(minute int64, r core.Rollup) (merged bool, err error) {
	err = t.query("get_rollup", func(stored row) error {
		addRollup(&r, stored.rollup())
		merged = stored.merged()
		return nil
	}, minute, int64(r.Priority), r.Type)
	if err != nil {
		return false, err
	}
	return merged, t.putRollup(minute, r, merged || minute == 0)
}

func (t *tx) putRollup(minute int64, r core.Rollup, merged bool) error {
	lag, err := json.Marshal(r.Lag)
	if err != nil {
		return err
	}
	_, err = t.exec("put_rollup", minute, int64(r.Priority), r.Type, r.Starts, r.Done, r.Failed, r.Retried, r.Cancelled, r.Lost,
		r.Snoozed, r.LagSum, string(lag), merged)
	return err
}

// mergeRollups adds minutes that are past to the sums, so that totals need not read every minute there was. The
// minutes stay for their retention.
func (t *tx) mergeRollups() (int, error) {
	past := micros(instant(t.now).Truncate(time.Minute))
	found, err := t.rows("open_rollups", past, mergeBatch)
	if err != nil {
		return 0, err
	}
	for _, stored := range found {
		r := stored.rollup()
		if _, err := t.addRollup(0, r); err != nil {
			return 0, err
		}
		if err := t.putRollup(stored.int(0), r, true); err != nil {
			return 0, err
		}
	}
	return len(found), nil
}

// rollup reads a row of rollups.
func (r row) rollup() core.Rollup {
	return core.Rollup{
		Minute: r.time(0), Priority: core.Priority(r.int(1)), Type: r.text(2), Starts: r.int(3), Done: r.int(4), Failed: r.int(5),
		Retried: r.int(6), Cancelled: r.int(7), Lost: r.int(8), Snoozed: r.int(9), LagSum: r.int(10),
		Lag: decode[[core.LagBuckets]int64](r.raw(11)),
	}
}

// merged reports whether the sum at minute 0 has the counts of this row of rollups.
func (r row) merged() bool { return r.int(12) != 0 }

// addRollup adds the counts of b to a.
func addRollup(a *core.Rollup, b core.Rollup) {
	a.Starts += b.Starts
	a.Done += b.Done
	a.Failed += b.Failed
	a.Retried += b.Retried
	a.Cancelled += b.Cancelled
	a.Lost += b.Lost
	a.Snoozed += b.Snoozed
	a.LagSum += b.LagSum
	for i, n := range b.Lag {
		a.Lag[i] += n
	}
}

// rollupSums adds rows up per priority and type.
type rollupSums map[rollupKey]core.Rollup

type rollupKey struct {
	priority core.Priority
	typ      string
}

func (sums rollupSums) add(r row) error {
	one := r.rollup()
	key := rollupKey{one.Priority, one.Type}
	sum := sums[key]
	addRollup(&sum, one)
	sum.Priority, sum.Type = one.Priority, one.Type
	sums[key] = sum
	return nil
}

// sorted lists the sums as of a period that begins at start.
func (sums rollupSums) sorted(start time.Time) []core.Rollup {
	list := slices.SortedFunc(maps.Values(sums), func(a, b core.Rollup) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Type, b.Type))
	})
	for i := range list {
		list[i].Minute = start
	}
	return list
}

// countRollups sums up the period since from, and everything since the first job ever.
func (c *conn) countRollups(ctx context.Context, stats *core.Stats, from time.Time) error {
	within, totals := rollupSums{}, rollupSums{}
	if err := c.query(ctx, "list_rollups", within.add, max(micros(from), 1), math.MaxInt64); err != nil {
		return err
	}
	if err := c.query(ctx, "list_rollups", totals.add, 0, 1); err != nil {
		return err
	}
	if err := c.query(ctx, "open_rollups", totals.add, math.MaxInt64, math.MaxInt64); err != nil {
		return err
	}
	stats.Rollups, stats.Totals = within.sorted(from), totals.sorted(time.Time{})
	return nil
}
