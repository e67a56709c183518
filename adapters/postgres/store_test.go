package postgres_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
	"github.com/belfry-dev/belfry/core/storetest/suite"
	"github.com/belfry-dev/belfry/internal/testenv"
)

func TestStore(t *testing.T) {
	direct := testenv.Postgres(t)
	runContract(t, direct, direct)
}

// Everything also holds where each transaction may meet another session.
func TestStoreThroughPgBouncer(t *testing.T) {
	direct := testenv.Postgres(t)
	runContract(t, direct, testenv.PgBouncer(t, direct))
}

// runContract runs all scenarios on one database, emptied before each: making one for each takes longer than most of
// the scenarios.
func runContract(t *testing.T, direct, address string) {
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	suite.Run(t, storetest.Harness{Partitions: true, Large: os.Getenv("BELFRY_TEST_LARGE") != "", Open: func(t *testing.T) storetest.Database {
		empty(t, direct)
		return openDatabase(t, direct, address)
	}})
}

// empty brings a database back to what Migrate makes.
func empty(t *testing.T, direct string) {
	t.Helper()
	_, err := connect(t, direct).Exec(t.Context(), `
DO $$
DECLARE name text;
BEGIN
    FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'belfry'::regnamespace AND relkind = 'r' AND relname ~ '^job_history_[0-9]+$'
                AND substr(relname, 13)::date NOT BETWEEN (now() AT TIME ZONE 'UTC')::date - 1 AND (now() AT TIME ZONE 'UTC')::date + 8
    LOOP
        EXECUTE 'DROP TABLE belfry.' || name;
    END LOOP;
    PERFORM belfry.make_history_day((now() AT TIME ZONE 'UTC')::date + ahead) FROM generate_series(-1, 8) AS ahead;
END
$$;
TRUNCATE belfry.set_apart, belfry.schedules, belfry.occurrences, belfry.alerts, belfry.failure_notes, belfry.jobs, belfry.job_history, belfry.job_history_overflow, belfry.dead_letters, belfry.job_types, belfry.workers, belfry.secrets, belfry.installations, belfry.rollups, belfry.rollup_totals, belfry.tokens, belfry.idempotency_keys;
ALTER SEQUENCE belfry.job_ids RESTART;
UPDATE belfry.scheduler_leases SET holder = '', token = 0, expires_at = '-infinity', clean = true, unclean = false;
`, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
}

// database is a fresh database under test: the store's address and, for what a stranger does, a direct one.
type database struct {
	direct, address string
	clock           *atomic.Int64
	store           core.Store
}

func openDatabase(t *testing.T, direct, address string) *database {
	t.Helper()
	db := &database{direct: direct, address: address, clock: new(atomic.Int64)}
	db.store = db.OpenAgain(t)
	return db
}

func (db *database) Store() core.Store { return db.store }

func (db *database) OpenAgain(t *testing.T) core.Store {
	t.Helper()
	store, err := postgres.Open(t.Context(), db.address, postgres.Options{Clock: db.clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func (db *database) Advance(_ *testing.T, d time.Duration) { db.clock.Add(d.Microseconds()) }

func (db *database) Hold(t *testing.T, h storetest.Hold) (release func(commit bool)) {
	t.Helper()
	ctx := context.Background() // the scenario's has ended when t.Cleanup rolls back
	conn := db.connect(t)
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	release = func(commit bool) {
		once.Do(func() {
			if err := map[bool]func(context.Context) error{true: tx.Commit, false: tx.Rollback}[commit](ctx); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() { release(false) })
	for _, sql := range db.holdStatements(h) {
		if _, err := tx.Exec(ctx, sql.text, sql.args...); err != nil {
			t.Fatal(err)
		}
	}
	return release
}

type sql struct {
	text string
	args []any
}

func (db *database) holdStatements(h storetest.Hold) []sql {
	now := fmt.Sprintf("(now() + %d * interval '1 us')", db.clock.Load())
	switch h.Kind {
	case storetest.HoldRow:
		return []sql{{"SELECT FROM belfry.jobs WHERE id = $1 FOR UPDATE", []any{h.ID}}}
	case storetest.HoldJob:
		return []sql{{"INSERT INTO belfry.jobs (id, type, tenant, dedupe_key, run_at, created_at, lease_token) VALUES (nextval('belfry.job_ids'), $1, $2, nullif($3, ''), $4, " + now + ", 1)",
			[]any{h.Type, h.Tenant, h.Key, h.RunAt}}}
	case storetest.HoldTakeover:
		return []sql{{"UPDATE belfry.scheduler_leases SET holder = $1, token = token + 1, clean = false, unclean = NOT clean, expires_at = " + now + " + interval '1 h'", []any{h.Holder}}}
	case storetest.HoldDispatch:
		return []sql{
			{"SELECT FROM belfry.scheduler_leases ORDER BY bucket FOR SHARE", nil},
			{"UPDATE belfry.jobs SET status = 2, dispatches = 1, lease_until = " + now + " + interval '10 s', reap_at = " + now + " + interval '10 s', dispatch_fence = (SELECT token FROM belfry.scheduler_leases WHERE bucket = id & 63) WHERE id = $1", []any{h.ID}},
		}
	}
	return nil
}

// damages are the assignments of each damage that the schema can hold; ones it lacks cannot be.
var damages = map[storetest.Damage]string{
	storetest.AttemptsAtMax:      "attempts = max_attempts",
	storetest.AttemptsAboveMax:   "attempts = max_attempts + 7",
	storetest.AttemptsNegative:   "attempts = -3",
	storetest.AttemptsHuge:       "attempts = 2147483647",
	storetest.MaxAttemptsZero:    "max_attempts = 0",
	storetest.SnoozesNegative:    "snoozes = -1",
	storetest.RunAtInfinity:      "run_at = 'infinity'",
	storetest.RunAtMinusInfinity: "run_at = '-infinity'",
	storetest.RunAtFar:           "run_at = '20231-01-01'",
	storetest.LeaseInfinity:      "lease_until = 'infinity'",
	storetest.LeaseFar:           "lease_until = '2099-01-01'",
	storetest.ReapInfinity:       "reap_at = 'infinity'",
	storetest.LeaseMinusInfinity: "lease_until = '-infinity'",
	storetest.ErrorsObject:       `errors = '{"a": 1}'`,
	storetest.ErrorsNumbers:      `errors = '[1, "x", null, {"attempt": "y"}]'`,
	storetest.ErrorsMissing:      "errors = NULL",
	storetest.BackoffNegative:    "backoff = '{-1000000}'",
	storetest.BackoffMissing:     "backoff = NULL",
	storetest.TimeoutNegative:    "timeout = -1000000",
	storetest.TimeoutHuge:        "timeout = 9223372036854775807",
	storetest.TypeEmpty:          "type = ''",
	storetest.PriorityUnknown:    "priority = 9",
	storetest.StatusUnknown:      "status = 42",
	storetest.StatusZero:         "status = 0",
	storetest.TargetDamaged:      "target = '5'",
	storetest.TokenMax:           "lease_token = 9223372036854775807",
}

func (db *database) Damage(t *testing.T, what storetest.Damage, id int64) bool {
	t.Helper()
	assignment, ok := damages[what]
	if !ok {
		return false
	}
	tag, err := db.connect(t).Exec(t.Context(), "UPDATE belfry.jobs SET "+assignment+" WHERE id = $1", id)
	if err != nil || tag.RowsAffected() != 1 {
		t.Fatalf("%s: %d rows, %v", what, tag.RowsAffected(), err)
	}
	return true
}

// DamageSchedule overwrites a stored definition.
func (db *database) DamageSchedule(t *testing.T, id int64, rule string) {
	t.Helper()
	tag, err := db.connect(t).Exec(t.Context(), "UPDATE belfry.schedules SET rule = $2::json WHERE id = $1", id, rule)
	if err != nil || tag.RowsAffected() != 1 {
		t.Fatalf("%d rows, %v", tag.RowsAffected(), err)
	}
}

// RemoveLeases deletes the lease rows of buckets.
func (db *database) RemoveLeases(t *testing.T, first, last int) {
	t.Helper()
	if _, err := db.connect(t).Exec(t.Context(), "DELETE FROM belfry.scheduler_leases WHERE bucket BETWEEN $1 AND $2", first, last); err != nil {
		t.Fatal(err)
	}
}

// RefuseLease has a trigger refuse the lease row of a bucket.
func (db *database) RefuseLease(t *testing.T, bucket int) (allow func()) {
	t.Helper()
	conn := db.connect(t)
	script(t, conn, `CREATE FUNCTION refuse_lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no lease'; END $$;
		CREATE TRIGGER refuse_lease BEFORE INSERT ON belfry.scheduler_leases FOR EACH ROW WHEN (NEW.bucket = `+strconv.Itoa(bucket)+`) EXECUTE FUNCTION refuse_lease()`)
	return func() { script(t, conn, "DROP FUNCTION refuse_lease CASCADE") }
}

// AnnounceEarlier writes what the version before wrote at the start of a worker.
func (db *database) AnnounceEarlier(t *testing.T, typ string) {
	t.Helper()
	if _, err := db.connect(t).Exec(t.Context(), "INSERT INTO belfry.job_types (type, announced_at) VALUES ($1, now())", typ); err != nil {
		t.Fatal(err)
	}
}

// Waiting counts the sessions of this database that wait for a lock.
func (db *database) Waiting(t *testing.T) (n int) {
	t.Helper()
	err := db.connect(t).QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Keys counts idempotency keys.
func (db *database) Keys(t *testing.T) (n int) {
	t.Helper()
	if err := db.connect(t).QueryRow(t.Context(), "SELECT count(*) FROM belfry.idempotency_keys").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// connect is a stranger's session.
func (db *database) connect(t *testing.T) *pgx.Conn { t.Helper(); return connect(t, db.direct) }

func connect(t testing.TB, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}
