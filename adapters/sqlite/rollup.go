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
				err = t.addTotal(r, minute)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

// addRollup adds counts to one minute and reports whether that minute is part of the sums already.
func (t *tx) addRollup(minute int64, r core.Rollup) (merged bool, err error) {
	err = t.query("get_rollup", func(stored row) error {
		before := stored.rollup()
		r.Add(&before)
		merged = stored.merged()
		return nil
	}, minute, int64(r.Priority), r.Type)
	if err != nil {
		return false, err
	}
	return merged, t.putRollup(minute, r, merged, 0)
}

// addTotal adds counts of a minute to their sum.
func (t *tx) addTotal(r core.Rollup, last int64) error {
	err := t.query("get_rollup", func(stored row) error {
		before := stored.rollup()
		r.Add(&before)
		last = max(last, stored.lastMinute())
		return nil
	}, int64(0), int64(r.Priority), r.Type)
	if err != nil {
		return err
	}
	return t.putRollup(0, r, true, last)
}

func (t *tx) putRollup(minute int64, r core.Rollup, merged bool, last int64) error {
	lag, err := json.Marshal(r.Lag)
	if err != nil {
		return err
	}
	_, err = t.exec("put_rollup", minute, int64(r.Priority), r.Type, r.Starts, r.Done, r.Failed, r.Retried, r.Cancelled, r.Lost,
		r.Snoozed, r.LagSum, string(lag), merged, r.Strayed, last)
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
		if err := t.addTotal(r, stored.int(0)); err != nil {
			return 0, err
		}
		if err := t.putRollup(stored.int(0), r, true, 0); err != nil {
			return 0, err
		}
	}
	return len(found), nil
}

// foldTotals adds the sums of types of which nothing has been counted since the minute before to those of type ”, which
// keep the sums by priority.
func (t *tx) foldTotals(before int64) (int, error) {
	if _, err := t.exec("date_totals", t.now); err != nil {
		return 0, err
	}
	idle, err := t.rows("idle_totals", before, mergeBatch)
	if err != nil {
		return 0, err
	}
	for _, stored := range idle {
		r := stored.rollup()
		if _, err := t.exec("drop_total", int64(r.Priority), r.Type); err != nil {
			return 0, err
		}
		r.Type = ""
		if err := t.addTotal(r, stored.lastMinute()); err != nil {
			return 0, err
		}
	}
	return len(idle), nil
}

// rollup reads a row of rollups.
func (r row) rollup() core.Rollup {
	return core.Rollup{
		Minute: r.time(0), Priority: core.Priority(r.int(1)), Type: r.text(2), Starts: r.int(3), Done: r.int(4), Failed: r.int(5),
		Retried: r.int(6), Cancelled: r.int(7), Lost: r.int(8), Snoozed: r.int(9), LagSum: r.int(10),
		Lag: decode[[core.LagBuckets]int64](r.raw(11)), Strayed: r.int(13),
	}
}

// merged reports whether the sum at minute 0 has the counts of this row of rollups.
func (r row) merged() bool { return r.int(12) != 0 }

// lastMinute is the last minute that a sum has.
func (r row) lastMinute() int64 { return r.int(14) }

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
	sum.Add(&one)
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
