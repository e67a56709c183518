package sqlite

import (
	"context"
	"encoding/json"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// rollupRetention is how long the counts of single minutes are kept.
const rollupRetention = 8 * 24 * time.Hour

// AddRollups adds counts to minutes and to the sums since the first job. With one writer no row is fought
// over, so the shards of other stores are not needed here.
func (s *Store) AddRollups(ctx context.Context, _ int, added []core.Rollup) error {
	return wrap("add rollups", s.writer.run(ctx, func(t *tx) error {
		for _, r := range added {
			for _, minute := range [...]int64{micros(r.Minute.Truncate(time.Minute)), 0} {
				if err := t.addRollup(minute, r); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

func (t *tx) addRollup(minute int64, r core.Rollup) error {
	err := t.query("get_rollup", func(stored row) error {
		addRollup(&r, stored.rollup())
		return nil
	}, minute, int64(r.Priority), r.Type)
	if err != nil {
		return err
	}
	lag, err := json.Marshal(r.Lag)
	if err != nil {
		return err
	}
	_, err = t.exec("put_rollup", minute, int64(r.Priority), r.Type, r.Starts, r.Done, r.Failed, r.Retried, r.Cancelled, r.Lost,
		r.Snoozed, r.LagSum.Microseconds(), string(lag))
	return err
}

// rollup reads a row of rollups.
func (r row) rollup() core.Rollup {
	return core.Rollup{
		Minute: r.time(0), Priority: core.Priority(r.int(1)), Type: r.text(2), Starts: r.int(3), Done: r.int(4), Failed: r.int(5),
		Retried: r.int(6), Cancelled: r.int(7), Lost: r.int(8), Snoozed: r.int(9), LagSum: duration(r.int(10)),
		Lag: decode[[core.LagBuckets]int64](r.raw(11)),
	}
}

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

// sumRollups adds up a span of minutes per priority and type.
func sumRollups(ctx context.Context, c *conn, from, before int64) ([]core.Rollup, error) {
	var sums []core.Rollup
	err := c.query(ctx, "list_rollups", func(r row) error {
		one := r.rollup()
		if n := len(sums); n > 0 && sums[n-1].Priority == one.Priority && sums[n-1].Type == one.Type {
			addRollup(&sums[n-1], one)
			return nil
		}
		one.Minute = instant(from)
		sums = append(sums, one)
		return nil
	}, from, before)
	return sums, err
}
