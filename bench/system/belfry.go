package system

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/functions/boot"
)

// noop is the type of all jobs.
const noop = "noop"

// belfrySystem is Belfry as one process runs it: its store, a submitter and, once Work is called, a tick and
// a worker beside it.
type belfrySystem struct {
	settings boot.Settings
	mem      bool
	store    core.Store
	submit   *submit.Submitter
	pool     *pgxpool.Pool // for what no user does: seeding, looking
}

func openBelfry(ctx context.Context, url string, settings Settings) (System, error) {
	s, err := boot.ReadSettings()
	if err != nil {
		return nil, err
	}
	if settings.Slots > 0 {
		s.Workers = settings.Slots
	}
	if settings.Conns > 0 {
		s.DatabasePool = settings.Conns
	}
	if settings.Queue != "" && settings.Queue != "mem" {
		return nil, fmt.Errorf("belfry: unknown queue %q", settings.Queue)
	}
	if err := postgres.Migrate(ctx, url); err != nil {
		return nil, err
	}
	store, err := postgres.Open(ctx, url, postgres.Options{PoolSize: s.DatabasePool})
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return &belfrySystem{
		settings: s, mem: settings.Queue == "mem", store: store, pool: pool,
		submit: submit.New(store, submit.Options{}),
	}, nil
}

func newJob(job Job) (core.NewJob, error) {
	payload, err := json.Marshal(args{job.Seq})
	return core.NewJob{Type: noop, Payload: payload, RunAt: job.RunAt, Tenant: job.Tenant}, err
}

func (b *belfrySystem) Insert(ctx context.Context, job Job) error {
	n, err := newJob(job)
	if err != nil {
		return err
	}
	_, err = b.submit.Submit(ctx, n)
	return err
}

func (b *belfrySystem) InsertBatch(ctx context.Context, jobs []Job) error {
	batch := make([]core.NewJob, len(jobs))
	for i, job := range jobs {
		var err error
		if batch[i], err = newJob(job); err != nil {
			return err
		}
	}
	_, err := b.submit.SubmitBatch(ctx, batch)
	return err
}

func (b *belfrySystem) Unfinished(ctx context.Context) (bool, error) {
	var any bool
	err := b.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM belfry.jobs WHERE status = 3)`).Scan(&any)
	return any, err
}

func (b *belfrySystem) Seed(ctx context.Context, future, finished int) error {
	for _, statement := range []struct {
		sql string
		n   int
	}{
		{`INSERT INTO belfry.jobs (id, type, payload, run_at)
		  SELECT nextval('belfry.job_ids'), 'noop', json_build_object('seq', -i), now() + interval '30 days' + i * interval '1 ms'
		  FROM generate_series(1, $1::int) i`, future},
		{`INSERT INTO belfry.job_history (id, type, tenant, payload, status, priority, run_at, created_at, started_at, finished_at,
		    lease_token, ended_token, claim_id, dispatch_fence, attempts, max_attempts, snoozes, dispatches, worker_id)
		  SELECT nextval('belfry.job_ids'), 'noop', '', json_build_object('seq', -i), 4, 2, t, t, t, t, 1, 1, i, 0, 1, 5, 0, 0, 'seed'
		  FROM generate_series(1, $1::int) i, LATERAL (SELECT now() - i * interval '1 us') x(t)`, finished},
	} {
		if statement.n == 0 {
			continue
		}
		if _, err := b.pool.Exec(ctx, statement.sql, statement.n); err != nil {
			return fmt.Errorf("belfry: seed: %w", err)
		}
	}
	if _, err := b.pool.Exec(ctx, `VACUUM (ANALYZE) belfry.jobs, belfry.job_history`); err != nil {
		return fmt.Errorf("belfry: vacuum: %w", err)
	}
	return nil
}

func (b *belfrySystem) Claim(ctx context.Context, n int) ([]Claimed, error) {
	result, err := b.store.ClaimDue(ctx, core.ClaimRequest{
		WorkerID: "bench", ClaimID: rand.Int64(), Lease: 10 * time.Minute,
		Quotas: []core.Quota{{Priority: core.Default, Type: noop, Limit: n}},
	})
	if err != nil {
		return nil, fmt.Errorf("belfry: claim: %w", err)
	}
	claimed := make([]Claimed, len(result.Jobs))
	for i, job := range result.Jobs {
		claimed[i] = core.Ref{ID: job.ID, Token: job.LeaseToken}
	}
	return claimed, nil
}

func (b *belfrySystem) FinishOne(ctx context.Context, job Claimed) error {
	answers, err := b.store.Finish(ctx, []core.End{{Ref: job.(core.Ref), Outcome: core.EndDone}})
	if err != nil {
		return fmt.Errorf("belfry: finish: %w", err)
	}
	if answers[0].Status != core.Done {
		return fmt.Errorf("belfry: finish %v: %+v", job, answers[0])
	}
	return nil
}

func (b *belfrySystem) Close() {
	b.pool.Close()
	_ = b.store.Close()
}
