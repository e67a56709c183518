package scenario

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/bench/system"
)

func drainBesideRows() Scenario {
	const river, empty, beside = "River beside", "Belfry, empty table", "Belfry beside"
	return Scenario{
		Name:  "drain-beside-rows",
		Title: "Drain due jobs beside 1M future and 1M finished jobs, default settings",
		Full:  Size{Jobs: 100_000, Beside: 1_000_000},
		Quick: Size{Jobs: 20_000, Beside: 100_000},
		Tiny:  Size{Jobs: 500, Beside: 1000},
		Cases: []Case{
			{Label: river, System: system.River, Beside: true},
			{Label: empty, System: system.Belfry},
			{Label: beside, System: system.Belfry, Beside: true},
		},
		Lines: []Line{
			{Text: "drain 100k beside 1M future and 1M finished jobs", Metric: JobsPerSecond, Ours: beside, Against: river},
			{Text: "the same against Belfry's own empty table", Metric: JobsPerSecond, Ours: beside, Against: empty},
		},
		Measure: func(ctx context.Context, b *Bench) (Figures, error) {
			if b.Case.Beside {
				if err := b.System.Seed(ctx, b.Size.Beside, b.Size.Beside); err != nil {
					return nil, err
				}
			}
			return drain(ctx, b)
		},
	}
}

func drainBesideSnapshot() Scenario {
	const river, riverEmpty, empty, beside = "River beside", "River, no snapshot", "Belfry, no snapshot", "Belfry beside"
	return Scenario{
		Name:  "drain-beside-snapshot",
		Title: "Drain due jobs beside a session that holds a REPEATABLE READ snapshot open, default settings",
		Full:  Size{Jobs: 100_000},
		Quick: Size{Jobs: 20_000},
		Tiny:  Size{Jobs: 500},
		Cases: []Case{
			{Label: riverEmpty, System: system.River},
			{Label: empty, System: system.Belfry},
			{Label: river, System: system.River, Snapshot: true},
			{Label: beside, System: system.Belfry, Snapshot: true},
		},
		Lines: []Line{
			{Text: "drain 100k beside an open snapshot", Metric: JobsPerSecond, Ours: beside, Against: river},
			{Text: "the same against Belfry without the snapshot", Metric: JobsPerSecond, Ours: beside, Against: empty},
		},
		Measure: func(ctx context.Context, b *Bench) (figures Figures, err error) {
			if b.Case.Snapshot {
				release, err := holdSnapshot(ctx, b.DSN)
				if err != nil {
					return nil, err
				}
				defer func() { err = errors.Join(err, release(ctx)) }()
			}
			return drain(ctx, b)
		},
	}
}

// holdSnapshot opens a session whose snapshot stays open until release: no row that dies meanwhile can be
// cleaned away.
func holdSnapshot(ctx context.Context, dsn string) (release func(context.Context) error, err error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, fmt.Errorf("hold snapshot: %w", err)
	}
	if _, err := conn.Exec(ctx, `BEGIN ISOLATION LEVEL REPEATABLE READ`); err == nil {
		_, err = conn.Exec(ctx, `SELECT count(*) FROM pg_class`)
		if err == nil {
			return conn.Close, nil
		}
	}
	_ = conn.Close(ctx)
	return nil, fmt.Errorf("hold snapshot: %w", err)
}
