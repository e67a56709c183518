package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// AddRollups adds counts to the minute rows of this shard. Rows are written in order, so that two calls for one shard
// wait for each other and never deadlock.
func (s *Store) AddRollups(ctx context.Context, shard int, rows []core.Rollup) error {
	if len(rows) == 0 {
		return nil
	}
	rows = joined(rows)
	a := wire.NewArgs(14).Int8(int64(shard))
	wire.Times(a, rows, func(r *core.Rollup) time.Time { return r.Minute })
	wire.Int2s(a, rows, func(r *core.Rollup) int16 { return int16(r.Priority) })
	wire.Texts(a, rows, func(r *core.Rollup) string { return r.Type })
	wire.Int8s(a, rows, func(r *core.Rollup) int64 { return r.Starts })
	wire.Int8s(a, rows, func(r *core.Rollup) int64 { return r.Done })
	wire.Int8s(a, rows, func(r *core.Rollup) int64 { return r.Failed })
	wire.Int8s(a, rows, func(r *core.Rollup) int64 { return r.Retried })
	wire.Int8s(a, rows, func(r *core.Rollup) int64 { return r.Cancelled })
	wire.Int8s(a, rows, func(r *core.Rollup) int64 { return r.Lost })
	wire.Int8s(a, rows, func(r *core.Rollup) int64 { return r.Snoozed })
	wire.Texts(a, rows, func(r *core.Rollup) string { return numbersLiteral(r.Lag[:]) })
	wire.Int8s(a, rows, func(r *core.Rollup) int64 { return r.LagSum })
	wire.Int8s(a, rows, func(r *core.Rollup) int64 { return r.Strayed })
	return s.run(ctx, "add rollups", s.guard(s.opts.LockTimeout), s.sql.call("add_rollups", a, nil))
}

// joined adds up the rows of one minute, priority and type, and sorts them.
func joined(rows []core.Rollup) []core.Rollup {
	sorted := slices.Clone(rows)
	for i := range sorted {
		sorted[i].Minute = sorted[i].Minute.UTC().Truncate(time.Minute)
	}
	slices.SortStableFunc(sorted, byMinute)
	out := sorted[:1]
	for _, r := range sorted[1:] {
		if last := &out[len(out)-1]; byMinute(*last, r) == 0 {
			last.Add(&r)
		} else {
			out = append(out, r)
		}
	}
	return out
}

func byMinute(a, b core.Rollup) int {
	return cmp.Or(a.Minute.Compare(b.Minute), cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Type, b.Type))
}

// rollup reads a row of read_rollups or read_totals.
func rollup(r wire.Row) core.Rollup {
	out := core.Rollup{
		Priority: core.Priority(r.Int(0)), Type: r.Text(1), Minute: r.Time(2),
		Starts: r.Int(3), Done: r.Int(4), Failed: r.Int(5), Retried: r.Int(6), Cancelled: r.Int(7), Lost: r.Int(8), Snoozed: r.Int(9),
		LagSum: r.Int(11), Strayed: r.Int(12),
	}
	copy(out.Lag[:], r.Ints(10))
	return out
}
