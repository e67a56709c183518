package postgres

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// oldRows are jobs as version 1 kept them: waiting, running, ended in each way.
const oldRows = `
INSERT INTO belfry.jobs (id, type, tenant, payload, run_at, lease_token, dedupe_key, status, max_attempts, timeout, backoff, target, tags)
SELECT nextval('belfry.job_ids'), 'old', 't', '{ "n" : 1e5 }', now() + interval '1 hour', 1, 'k' || i, CASE WHEN i = 3 THEN 3 ELSE 1 END, 7, 1500000, '{1000000}', '{"url":"https://x"}', '{a}'
FROM generate_series(1, 3) i;
INSERT INTO belfry.job_history (id, run_at, created_at, finished_at, lease_token, ended_token, claim_id, dispatch_fence, attempts, max_attempts, snoozes, dispatches, status, priority, type, tenant, payload)
SELECT nextval('belfry.job_ids'), now(), now(), now(), 2, 1, 0, 0, 1, 5, 0, 0, 4, 2, 'old', 't', '1.0';
INSERT INTO belfry.dead_letters (id, run_at, created_at, finished_at, lease_token, ended_token, claim_id, dispatch_fence, attempts, max_attempts, snoozes, dispatches, status, priority, type, tenant, payload, errors)
SELECT nextval('belfry.job_ids'), now(), now(), now(), 2, 1, 0, 0, 1, 5, 0, 0, 5, 2, 'old', 't', '"x"', '[{"attempt":1,"error":"no route to 10.0.0.1"}]';
INSERT INTO belfry.job_types (type, announced_at) VALUES ('old', now());`

// From each version there was, with data in it, Migrate leads to the newest, and the jobs of before go on.
func TestMigrateFromEachVersion(t *testing.T) {
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	for from := 1; from < len(steps); from++ {
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			address := testenv.Postgres(t)
			conn := migratedTo(t, address, steps[:from])
			if err := Migrate(t.Context(), address); err != nil {
				t.Fatal(err)
			}
			store, err := Open(t.Context(), address, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			}()
			checkOldRows(t, store, conn)
		})
	}
}

// migratedTo makes a database of an older version, with jobs in it.
func migratedTo(t *testing.T, address string, steps []migration) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := (Migrator{}).upTo(t.Context(), address, steps); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), oldRows, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	return conn
}

// checkOldRows looks at the jobs of oldRows, ends some, and submits beside them.
func checkOldRows(t *testing.T, store *Store, conn *pgx.Conn) {
	t.Helper()
	for id, want := range map[int64]core.Status{1: core.Scheduled, 3: core.Running, 4: core.Done, 5: core.Failed} {
		j, err := store.Get(t.Context(), id)
		if err != nil || j.Status != want || j.Type != "old" || j.Tenant != "t" {
			t.Errorf("job %d: %+v, %v", id, j, err)
		}
	}
	if j, err := store.Get(t.Context(), 1); err != nil || string(j.Payload) != `{ "n" : 1e5 }` || j.DedupeKey != "k1" || j.MaxAttempts != 7 || len(j.Backoff) != 1 || len(j.Tags) != 1 {
		t.Errorf("%+v, %v", j, err)
	}
	groups, err := store.DeadGroups(t.Context(), core.DeadQuery{}, 10)
	if want := core.ErrorGroup("old", []core.AttemptError{{Error: "no route to 10.0.0.1"}}); err != nil || len(groups) != 1 || groups[0].Group != want {
		t.Errorf("groups of dead letters: %+v, %v", groups, err)
	}
	if j, err := store.Retry(t.Context(), 5); err != nil || j.Status != core.Scheduled {
		t.Errorf("retry: %+v, %v", j, err)
	}
	var existing, fresh int64
	var word string
	err = conn.QueryRow(t.Context(), `SELECT belfry.submit('old', tenant => 't', dedupe_key => 'k1'), belfry.submit('new'), belfry.cancel(2)`).Scan(&existing, &fresh, &word)
	if err != nil || existing != 1 || fresh != 7 || word != "cancelled" {
		t.Errorf("submit answers %d and %d, cancel %q, %v", existing, fresh, word, err)
	}
	if err := store.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}
