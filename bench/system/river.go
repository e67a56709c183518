package system

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
)

// How River is tuned: what moved its numbers most when each knob was tried alone.
const (
	riverSlots        = 2000
	riverPool         = 30
	riverCooldown     = 2 * time.Millisecond
	riverPollInterval = 20 * time.Millisecond
)

// riverSystem is River 0.51, which keeps finished jobs (a day by default) in the one table.
type riverSystem struct {
	pool   *pgxpool.Pool
	driver riverdriver.Driver[pgx.Tx]
	client *river.Client[pgx.Tx] // inserts only
	slots  int
}

// Kind makes args River's job arguments.
func (args) Kind() string { return noop }

type riverWorker struct {
	river.WorkerDefaults[args]
	handler func(seq int)
}

func (w *riverWorker) Work(_ context.Context, job *river.Job[args]) error {
	w.handler(job.Args.Seq)
	return nil
}

func openRiver(ctx context.Context, dsn string, settings Settings) (System, error) {
	if settings.Queue != "" {
		return nil, fmt.Errorf("river: has no queue %q", settings.Queue)
	}
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("river: dsn: %w", err)
	}
	config.MaxConns = riverPool
	if settings.Conns > 0 {
		config.MaxConns = int32(settings.Conns)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("river: connect: %w", err)
	}
	r := &riverSystem{pool: pool, driver: riverpgxv5.New(pool), slots: settings.Slots}
	if r.slots == 0 {
		r.slots = riverSlots
	}
	if err := r.migrate(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return r, nil
}

func (r *riverSystem) migrate(ctx context.Context) error {
	migrator, err := rivermigrate.New(r.driver, &rivermigrate.Config{Logger: quiet()})
	if err != nil {
		return fmt.Errorf("river: migrate: %w", err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("river: migrate: %w", err)
	}
	r.client, err = river.NewClient(r.driver, &river.Config{Logger: quiet()})
	if err != nil {
		return fmt.Errorf("river: client: %w", err)
	}
	return nil
}

func (r *riverSystem) Insert(ctx context.Context, job Job) error {
	_, err := r.client.Insert(ctx, args{job.Seq}, &river.InsertOpts{ScheduledAt: job.RunAt})
	return err
}

func (r *riverSystem) InsertBatch(ctx context.Context, jobs []Job) error {
	params := make([]river.InsertManyParams, len(jobs))
	for i, job := range jobs {
		params[i] = river.InsertManyParams{Args: args{job.Seq}, InsertOpts: &river.InsertOpts{ScheduledAt: job.RunAt}}
	}
	_, err := r.client.InsertManyFast(ctx, params)
	return err
}

// Work starts a client of its own. Jobs inserted by the other client reach it by notification and by poll,
// as they do between two clients of one process or of two.
func (r *riverSystem) Work(ctx context.Context, handler func(seq int)) (func(context.Context) error, error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &riverWorker{handler: handler})
	client, err := river.NewClient(r.driver, &river.Config{
		Logger:            quiet(),
		Workers:           workers,
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: r.slots}},
		FetchCooldown:     riverCooldown,
		FetchPollInterval: riverPollInterval,
	})
	if err != nil {
		return nil, fmt.Errorf("river: client: %w", err)
	}
	if err := client.Start(ctx); err != nil {
		return nil, fmt.Errorf("river: start: %w", err)
	}
	return client.Stop, nil
}

func (r *riverSystem) Unfinished(ctx context.Context) (bool, error) {
	var any bool
	err := r.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM river_job WHERE state = 'running')`).Scan(&any)
	return any, err
}

func (r *riverSystem) Seed(ctx context.Context, future, finished int) error {
	for _, statement := range []struct {
		sql string
		n   int
	}{
		{`INSERT INTO river_job (state, kind, args, max_attempts, scheduled_at)
		  SELECT 'scheduled', 'noop', jsonb_build_object('seq', -i), 25, now() + interval '30 days' + i * interval '1 ms'
		  FROM generate_series(1, $1::int) i`, future},
		{`INSERT INTO river_job (state, kind, args, max_attempts, attempt, scheduled_at, attempted_at, finalized_at)
		  SELECT 'completed', 'noop', jsonb_build_object('seq', -i), 25, 1, t, t, t
		  FROM generate_series(1, $1::int) i, LATERAL (SELECT now() - i * interval '1 ms') x(t)`, finished},
	} {
		if statement.n == 0 {
			continue
		}
		if _, err := r.pool.Exec(ctx, statement.sql, statement.n); err != nil {
			return fmt.Errorf("river: seed: %w", err)
		}
	}
	if _, err := r.pool.Exec(ctx, `VACUUM (ANALYZE) river_job`); err != nil {
		return fmt.Errorf("river: vacuum: %w", err)
	}
	return nil
}

func (r *riverSystem) Claim(ctx context.Context, n int) ([]Claimed, error) {
	result, err := r.driver.GetExecutor().JobGetAvailable(ctx, &riverdriver.JobGetAvailableParams{
		ClientID: "bench", MaxAttemptedBy: 100, MaxToLock: n, Queue: river.QueueDefault,
	})
	if err != nil {
		return nil, fmt.Errorf("river: claim: %w", err)
	}
	claimed := make([]Claimed, len(result.Jobs))
	for i, job := range result.Jobs {
		claimed[i] = job.ID
	}
	return claimed, nil
}

// FinishOne runs the statement of River's own completer with a single job.
func (r *riverSystem) FinishOne(ctx context.Context, job Claimed) error {
	now := time.Now()
	done, err := r.driver.GetExecutor().JobSetStateIfRunningMany(ctx, &riverdriver.JobSetStateIfRunningManyParams{
		ID:              []int64{job.(int64)},
		Attempt:         []*int{nil},
		ErrData:         [][]byte{nil},
		FinalizedAt:     []*time.Time{&now},
		MetadataDoMerge: []bool{false},
		MetadataUpdates: [][]byte{nil},
		ScheduledAt:     []*time.Time{nil},
		State:           []rivertype.JobState{rivertype.JobStateCompleted},
	})
	if err != nil {
		return fmt.Errorf("river: finish: %w", err)
	}
	if len(done) != 1 {
		return fmt.Errorf("river: finish %d: %d rows", job, len(done))
	}
	return nil
}

func (r *riverSystem) Close() { r.pool.Close() }
