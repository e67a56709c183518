package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
)

// A batch in which one of the dedupe keys is held waits for it, as a single submit does. While batches wait, neighbours get
// connections. Then each job is written once.
func TestBatchWaitsForAHeldKey(t *testing.T) {
	const batches = 6
	address := migrated(t)
	v := prepareVictim(t, address, 4)
	v.Store = must(postgres.Open(t.Context(), address, postgres.Options{PoolSize: 4, LockTimeout: time.Minute}))
	defer func() { _ = v.Close() }()
	tx := must(connect(t, address).Begin(t.Context()))
	if _, err := tx.Exec(t.Context(), "SELECT belfry.submit('held', dedupe_key => 'K')"); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		jobs []core.Submitted
		err  error
	}
	answers := make(chan answer, batches)
	for i := range batches {
		go func() {
			jobs := []core.NewJob{
				{Type: "batch"}, {Type: "batch", DedupeKey: "K"}, {Type: "batch", DedupeKey: fmt.Sprint("A", i)}, {Type: "batch", DedupeKey: fmt.Sprint("Z", i)}, {Type: "batch"},
			}
			got, err := v.Submit(t.Context(), jobs)
			answers <- answer{got, err}
		}()
	}
	watcher := connect(t, address)
	for range 2 {
		awaitCondition(t, func() bool { return lockWaiters(t, watcher) > 0 || len(answers) > 0 })
		for name, call := range v.neighbours(false) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			if err := call(ctx); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			cancel()
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	var held int64
	for range batches {
		a := <-answers
		if a.err != nil {
			t.Errorf("a batch: %v", a.err)
			continue
		}
		for i, job := range a.jobs {
			if (job.Existing != nil) != (i == 1) || job.ID == 0 {
				t.Errorf("job %d: %+v", i, job)
			}
		}
		if held == 0 {
			held = a.jobs[1].ID
		}
		if a.jobs[1].ID != held {
			t.Errorf("the key is held by %d and by %d", held, a.jobs[1].ID)
		}
	}
	if page := must(v.List(t.Context(), core.ListQuery{Type: "batch", Limit: 1000})); len(page.Jobs) != 4*batches {
		t.Errorf("%d jobs, want %d", len(page.Jobs), 4*batches)
	}
}

// A redrive passes over dead letters whose dedupe keys an open transaction holds, and reports them; the others are put back.
// Where a lock on the whole table is held it says that it is busy.
func TestRedrivePassesOverHeldKeys(t *testing.T) {
	address := migrated(t)
	store := must(postgres.Open(t.Context(), address, postgres.Options{LockTimeout: time.Second}))
	defer func() { _ = store.Close() }()
	conn := connect(t, address)
	if _, err := conn.Exec(t.Context(), `INSERT INTO belfry.dead_letters (id, run_at, created_at, finished_at, lease_token, ended_token, claim_id, dispatch_fence,
		attempts, max_attempts, snoozes, dispatches, status, priority, type, tenant, payload, dedupe_key)
		SELECT i, now(), now(), now(), 1, 0, 0, 0, 1, 1, 0, 0, 5, 2, 'fail', '', '{}', 'DK' || i FROM generate_series(1001, 1100) AS i`); err != nil {
		t.Fatal(err)
	}
	tx := must(conn.Begin(t.Context()))
	if _, err := tx.Exec(t.Context(), "LOCK TABLE belfry.jobs IN SHARE MODE"); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Redrive(t.Context(), core.DeadQuery{Type: "fail"}, 100, core.Pace{}); !errors.Is(err, core.ErrBusy) || len(got) != 0 {
		t.Errorf("a locked table: %+v, %v", got, err)
	}
	_ = tx.Rollback(t.Context())
	tx = must(conn.Begin(t.Context()))
	if _, err := tx.Exec(t.Context(), "SELECT belfry.submit('held', dedupe_key => 'DK1002'), belfry.submit('held', dedupe_key => 'DK1077')"); err != nil {
		t.Fatal(err)
	}
	got, err := store.Redrive(t.Context(), core.DeadQuery{Type: "fail"}, 100, core.Pace{})
	if err != nil || len(got) != 100 {
		t.Fatalf("%d are answered, %v", len(got), err)
	}
	for i, one := range got {
		held := one.ID == 1002 || one.ID == 1077
		if one.ID != int64(i+1001) || errors.Is(one.Err, core.ErrBusy) != held || (one.Err != nil) != held {
			t.Errorf("place %d: %+v", i, one)
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err = store.Redrive(t.Context(), core.DeadQuery{Type: "fail"}, 100, core.Pace{})
	var conflict *core.ConflictError
	if err != nil || len(got) != 2 || !errors.As(got[0].Err, &conflict) || conflict.Other == 0 {
		t.Errorf("when they are held by live jobs: %+v, %v", got, err)
	}
}
