package postgres

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// How long submits take while a million jobs are migrated from the first compatible version, and on to one that adds a
// column to the jobs and an index, beside a transaction that has read jobs and stays open for the first six seconds.
func BenchmarkSubmitsDuringMigration(b *testing.B) {
	list, err := migrations()
	if err != nil {
		b.Fatal(err)
	}
	next := addColumn(list)
	next.steps = append(next.steps, step{sql: "CREATE INDEX CONCURRENTLY IF NOT EXISTS jobs_test ON belfry.jobs (attempts)", concurrently: true})
	next.steps[0].sql = "ALTER TABLE belfry.jobs ADD COLUMN IF NOT EXISTS test integer"
	for b.Loop() {
		b.StopTimer()
		address := testenv.Postgres(b)
		if err := (Migrator{}).upTo(b.Context(), address, list[:firstCompatible]); err != nil {
			b.Fatal(err)
		}
		conn := connectSimply(b, address)
		mustExec(b, conn, `INSERT INTO belfry.jobs (id, type, run_at, lease_token)
SELECT nextval('belfry.job_ids'), 'a', now() + i * interval '1 s', 1 FROM generate_series(1, 1000000) i; ANALYZE belfry.jobs`)
		mustExec(b, conn, "BEGIN; SELECT FROM belfry.jobs LIMIT 1")
		b.StartTimer()

		ctx, stop := context.WithCancel(context.WithoutCancel(b.Context()))
		var load sync.WaitGroup
		var took [4][]time.Duration
		for i := range took {
			load.Go(func() { took[i] = submitUntil(ctx, b, address) })
		}
		gone := time.AfterFunc(6*time.Second, func() { mustExec(b, conn, "COMMIT") })
		begun := time.Now()
		if err := (Migrator{}).upTo(b.Context(), address, append(slices.Clone(list), next)); err != nil {
			b.Error(err)
		}
		migrated := time.Since(begun)
		gone.Stop()
		stop()
		load.Wait()
		all := slices.Sorted(slices.Values(slices.Concat(took[:]...)))
		b.ReportMetric(migrated.Seconds(), "s/migration")
		b.ReportMetric(float64(len(all)), "submits")
		b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
		b.ReportMetric(float64(all[len(all)-1].Microseconds())/1000, "max-ms")
	}
}

// openOld opens a store on a schema that is older than this program, as the program of the version before would.
func openOld(ctx context.Context, address string) (*Store, error) {
	s := &Store{opts: Options{PoolSize: 2, LockTimeout: 2 * time.Second, Clock: new(atomic.Int64)}, shares: newShares(2)}
	var err error
	if s.sql, err = loadStatements(); err != nil {
		return nil, err
	}
	config, err := poolConfig(address, s.opts)
	if err != nil {
		return nil, err
	}
	s.pool, err = pgxpool.NewWithConfig(ctx, config)
	return s, err
}

// submitUntil submits single jobs, a hundred a second at most, and says how long each took, counted from when it was due
// to be sent.
func submitUntil(ctx context.Context, b *testing.B, address string) (took []time.Duration) {
	store, err := openOld(ctx, address)
	if err != nil {
		b.Error(err)
		return nil
	}
	defer store.Close()
	for due := time.Now(); ctx.Err() == nil; due = due.Add(10 * time.Millisecond) {
		if wait := time.Until(due); wait > 0 {
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return took
			}
		}
		if _, err := store.Submit(context.WithoutCancel(ctx), []core.NewJob{{Type: "a"}}); err != nil {
			b.Error(err)
			return took
		}
		took = append(took, time.Since(due))
	}
	return took
}
