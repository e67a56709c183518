package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// manyRows fill the tables that grow with the number of jobs.
const manyRows = `
INSERT INTO belfry.jobs (id, type, tenant, run_at, lease_token) SELECT nextval('belfry.job_ids'), 'a', 't', now(), 1 FROM generate_series(1, 2000);
INSERT INTO belfry.job_history (id, run_at, created_at, finished_at, lease_token, ended_token, claim_id, dispatch_fence, attempts, max_attempts, snoozes, dispatches, status, priority, type, tenant, payload)
SELECT nextval('belfry.job_ids'), now(), now(), now(), 2, 1, 0, 0, 1, 5, 0, 0, 4, 2, 'a', 't', '1' FROM generate_series(1, 2000);
INSERT INTO belfry.job_history_overflow SELECT * FROM belfry.job_history;
INSERT INTO belfry.dead_letters (id, run_at, created_at, finished_at, lease_token, ended_token, claim_id, dispatch_fence, attempts, max_attempts, snoozes, dispatches, status, priority, type, tenant, payload)
SELECT nextval('belfry.job_ids'), now(), now(), now(), 2, 1, 0, 0, 1, 5, 0, 0, 5, 2, 'a', 't', '1' FROM generate_series(1, 2000);
INSERT INTO belfry.occurrences (schedule_id, from_at, to_at, count, outcome, at) SELECT i, now(), now(), 1, 'fired', now() FROM generate_series(1, 2000) i;
INSERT INTO belfry.schedules (id, tenant, name, type, rule, created_at, updated_at, anchor, accounted) SELECT i, '', i, 'a', '{}', now(), now(), now(), now() FROM generate_series(1, 2000) i;
INSERT INTO belfry.idempotency_keys SELECT 'h', i, '', 201, '', now() + interval '1 h' FROM generate_series(1, 2000) i;
INSERT INTO belfry.rollups SELECT now() - i * interval '1 min', 2, 'a', 0, 1, 1, 0, 0, 0, 0, 0, '{}', 0 FROM generate_series(1, 2000) i;
ANALYZE;`

// lockedTables are the tables of before, partitions as the whole they are of, that this transaction keeps from being
// written, and how many rows of them were read one after the other.
const lockedTables = `
SELECT coalesce(i.inhparent, c.oid)::regclass::text,
       coalesce(bool_or(l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')), false),
       max(coalesce(s.seq_tup_read, 0))::bigint
FROM   pg_class c
LEFT   JOIN pg_locks l ON l.relation = c.oid AND l.pid = pg_backend_pid() AND l.granted
LEFT   JOIN pg_inherits i ON i.inhrelid = c.oid
LEFT   JOIN pg_stat_xact_user_tables s ON s.relid = c.oid
WHERE  c.relkind IN ('r', 'p') AND coalesce(i.inhparent, c.oid)::regclass::text = ANY ($1)
GROUP  BY 1`

// Each step locks one of the tables that jobs go through, for as long as it takes to write a line in the catalogue.
func TestMigrationsKeepNobodyWaiting(t *testing.T) {
	list, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	large := []string{"belfry.jobs", "belfry.job_history", "belfry.job_history_overflow", "belfry.dead_letters", "belfry.occurrences", "belfry.schedules",
		"belfry.idempotency_keys", "belfry.rollups"}
	address := testenv.Postgres(t)
	if err := (Migrator{}).upTo(t.Context(), address, list[:firstCompatible]); err != nil {
		t.Fatal(err)
	}
	conn := connectSimply(t, address)
	mustExec(t, conn, manyRows)
	steps := 0
	for _, m := range list[firstCompatible:] {
		for i, s := range m.steps {
			steps++
			if s.concurrently {
				mustExec(t, conn, s.sql)
				continue
			}
			tx, err := conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			locked, read := locksOf(t, tx, s.sql, large)
			if len(locked) > 1 {
				t.Errorf("%s, step %d keeps writers of several tables waiting: %v: make it several steps", m.name, i+1, locked)
			}
			for table, rows := range read {
				t.Errorf("%s, step %d reads %d rows of %s in a transaction: build indexes CONCURRENTLY, add columns without computing them", m.name, i+1, rows, table)
			}
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d steps of %d migrations", steps, len(list)-firstCompatible)
}

// locksOf runs a step and says which of the tables it locks, and how many rows of which it reads.
func locksOf(t *testing.T, tx pgx.Tx, step string, tables []string) (locked []string, read map[string]int64) {
	t.Helper()
	_, before := lockedNow(t, tx, tables) // counts of earlier transactions may not have been handed over yet
	if _, err := tx.Exec(t.Context(), step); err != nil {
		t.Fatal(err)
	}
	locked, read = lockedNow(t, tx, tables)
	maps.DeleteFunc(read, func(table string, n int64) bool { return n <= before[table] })
	return locked, read
}

func lockedNow(t *testing.T, tx pgx.Tx, tables []string) (locked []string, read map[string]int64) {
	t.Helper()
	read = map[string]int64{}
	rows, err := tx.Query(t.Context(), lockedTables, pgx.QueryExecModeExec, tables)
	if err != nil {
		t.Fatal(err)
	}
	var table string
	var strong bool
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&table, &strong, &n}, func() error {
		if strong {
			locked = append(locked, table)
		}
		read[table] = n
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return locked, read
}

// The check above sees what it is there for.
func TestStepsThatKeepOthersWaitingAreSeen(t *testing.T) {
	address := testenv.Postgres(t)
	if err := Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	conn := connectSimply(t, address)
	mustExec(t, conn, manyRows)
	tables := []string{"belfry.jobs", "belfry.job_history", "belfry.dead_letters"}
	for sql, want := range map[string]string{
		"CREATE INDEX x ON belfry.jobs (attempts)":                                                                   "belfry.jobs reads belfry.jobs",
		"CREATE INDEX x ON belfry.job_history (attempts)":                                                            "belfry.job_history reads belfry.job_history",
		"ALTER TABLE belfry.jobs ADD COLUMN x float DEFAULT random()":                                                "belfry.jobs reads belfry.jobs",
		"ALTER TABLE belfry.jobs ADD COLUMN x integer NOT NULL DEFAULT 3":                                            "belfry.jobs reads",
		"ALTER TABLE belfry.jobs ADD COLUMN x integer; ALTER TABLE belfry.dead_letters ADD COLUMN x integer":         "belfry.dead_letters belfry.jobs reads",
		"UPDATE belfry.dead_letters SET attempts = 0":                                                                "reads belfry.dead_letters",
		"ALTER TABLE belfry.jobs ADD CONSTRAINT x CHECK (attempts >= 0)":                                             "belfry.jobs reads belfry.jobs",
		"ALTER TABLE belfry.jobs ADD CONSTRAINT x CHECK (attempts >= 0) NOT VALID; CREATE TABLE belfry.y (n bigint)": "belfry.jobs reads",
	} {
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		locked, read := locksOf(t, tx, sql, tables)
		slices.Sort(locked)
		if got := strings.TrimSpace(strings.Join(locked, " ") + " reads " + strings.Join(slices.Sorted(maps.Keys(read)), " ")); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Cut off after any step, a migration is run again from its beginning.
func TestMigrationsBeginAgain(t *testing.T) {
	list, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range list {
		for done := 1; done <= len(m.steps); done++ {
			if done == len(m.steps) && !m.steps[done-1].concurrently {
				continue // recorded together
			}
			address := testenv.Postgres(t)
			if err := (Migrator{}).upTo(t.Context(), address, list[:i]); err != nil {
				t.Fatal(err)
			}
			conn := connectSimply(t, address)
			for _, s := range m.steps[:done] {
				mustExec(t, conn, s.sql)
			}
			if err := Migrate(t.Context(), address); err != nil {
				t.Errorf("%s, cut off after step %d: %v", m.name, done, err)
			}
		}
	}
}

// addColumn is a migration that needs every user of the jobs out of the way for a moment.
func addColumn(after []migration) migration {
	n := len(after) + 1
	return migration{version: n, name: fmt.Sprintf("%04d_test", n), oldest: n - 1, steps: []step{{sql: "ALTER TABLE belfry.jobs ADD COLUMN test integer"}}}
}

// While a transaction that has read jobs stays open, a step that must change the table lets submits pass between its
// tries. In the end it says who is in the way; once that one is gone it is done.
func TestMigrationBesideAnIdleTransaction(t *testing.T) {
	address := testenv.Postgres(t)
	if err := Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	list, _ := migrations()
	next := append(slices.Clone(list), addColumn(list))
	idle := connectSimply(t, address)
	mustExec(t, idle, "SET application_name = 'report'; BEGIN; SELECT count(*) FROM belfry.jobs")
	store, err := Open(t.Context(), address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()

	told := make(chan string, 1)
	ended := make(chan error, 1)
	go func() {
		m := Migrator{Patience: 2*stepPause + time.Second, Waiting: func(reason string) {
			select {
			case told <- reason:
			default:
			}
		}}
		ended <- m.upTo(context.WithoutCancel(t.Context()), address, next)
	}()
	if reason := <-told; !strings.Contains(reason, `"report", idle in transaction`) || !strings.Contains(reason, next[len(list)].name) {
		t.Errorf("it says %q", reason)
	}
	submitted := 0
	for err = error(nil); err == nil && len(ended) == 0; submitted++ {
		_, err = store.Submit(t.Context(), []core.NewJob{{Type: "a"}})
	}
	if err != nil || submitted < 10 {
		t.Errorf("after %d submits: %v", submitted, err)
	}
	if err := <-ended; !errors.Is(err, core.ErrBusy) || !strings.Contains(err.Error(), fmt.Sprintf("process %d", idle.PgConn().PID())) {
		t.Errorf("want it to name who is in the way, got %v", err)
	}
	mustExec(t, idle, "COMMIT")
	if err := (Migrator{}).upTo(t.Context(), address, next); err != nil {
		t.Error(err)
	}
}

// A builder of an index that is ended half-way leaves half an index; the next one builds it whole, and both may run at
// the same time as other migrators.
func TestMigratorThatIsKilledWhileItBuildsAnIndex(t *testing.T) {
	address := testenv.Postgres(t)
	if err := Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	list, _ := migrations()
	m := addColumn(list)
	m.steps = []step{{sql: "CREATE INDEX CONCURRENTLY IF NOT EXISTS jobs_test ON belfry.jobs (attempts)", concurrently: true}}
	next := append(slices.Clone(list), m)
	old := connectSimply(t, address)
	mustExec(t, old, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM belfry.jobs")

	ended := make(chan error, 3)
	told := make(chan string, 4)
	migrator := Migrator{Applied: func(name string) { told <- name }}
	up := func() { ended <- migrator.upTo(context.WithoutCancel(t.Context()), address, next) }
	go up()
	eye := connectSimply(t, address)
	const half = "SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass('belfry.jobs_test') AND NOT indisvalid"
	awaitCount(t, eye, half, 1)
	mustExec(t, eye, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'CREATE INDEX CONCURRENTLY%' AND pid <> pg_backend_pid()")
	if err := <-ended; !errors.Is(err, core.ErrUnavailable) {
		t.Fatalf("killed: %v", err)
	}
	awaitCount(t, eye, half, 1)
	for range 3 {
		go up()
	}
	awaitCount(t, eye, "SELECT least(count(*), 1) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INDEX CONCURRENTLY%'", 1)
	mustExec(t, old, "COMMIT")
	for range 3 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	awaitCount(t, eye, "SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass('belfry.jobs_test') AND indisvalid", 1)
	awaitCount(t, eye, "SELECT max(version) FROM belfry.migrations", m.version)
	if close(told); len(told) != 1 || <-told != m.name {
		t.Error("want the migration told once, by the migrator that applied it")
	}
}

func awaitCount(t *testing.T, conn *pgx.Conn, query string, want int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		var got int
		if err := conn.QueryRow(ctx, query).Scan(&got); err != nil || got == want {
			if err != nil {
				t.Fatal(query, err)
			}
			return
		}
		<-poll.C
	}
}

// connectSimply is a session that runs several statements in one text.
func connectSimply(t testing.TB, address string) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func mustExec(t testing.TB, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}
