package sqlite_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"database/sql"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
	"github.com/belfry-dev/belfry/core/storetest/suite"
)

func TestStore(t *testing.T) {
	suite.Run(t, storetest.Harness{Open: openDatabase, Single: true, Large: os.Getenv("BELFRY_TEST_LARGE") != ""})
}

// database is a fresh file under test.
type database struct {
	path   string
	store  *sqlite.Store
	offset *atomic.Int64
}

// newFile is a file with tables and no rows. It is made once: to migrate takes longer than most of the scenarios.
var newFile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "belfry-tables-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "belfry.db")
	if err := sqlite.MakeTables(context.Background(), path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

func openDatabase(t *testing.T) storetest.Database {
	t.Helper()
	db := &database{path: filepath.Join(t.TempDir(), "belfry.db"), offset: new(atomic.Int64)}
	tables, err := newFile()
	if err == nil {
		err = os.WriteFile(db.path, tables, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), db.path, sqlite.Options{Offset: db.offset})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	db.store = store
	return db
}

func (db *database) Store() core.Store { return db.store }

// OpenAgain answers the same store: another process would be refused.
func (db *database) OpenAgain(*testing.T) core.Store { return db.store }

func (db *database) Advance(_ *testing.T, d time.Duration) { db.offset.Add(d.Microseconds()) }

// Hold answers nil: there is one writer, and it leaves no transaction open.
func (db *database) Hold(*testing.T, storetest.Hold) func(commit bool) { return nil }

// damages are the assignments of each damage that the schema can hold; ones it lacks cannot be.
var damages = map[storetest.Damage]string{
	storetest.AttemptsAtMax:      "attempts = max_attempts",
	storetest.AttemptsAboveMax:   "attempts = max_attempts + 7",
	storetest.AttemptsNegative:   "attempts = -3",
	storetest.AttemptsHuge:       fmt.Sprint("attempts = ", math.MaxInt64),
	storetest.MaxAttemptsZero:    "max_attempts = 0",
	storetest.SnoozesNegative:    "snoozes = -1",
	storetest.RunAtInfinity:      fmt.Sprint("run_at = ", math.MaxInt64),
	storetest.RunAtMinusInfinity: fmt.Sprint("run_at = -", math.MaxInt64),
	storetest.RunAtFar:           fmt.Sprint("run_at = ", time.Date(20231, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()),
	storetest.LeaseInfinity:      fmt.Sprint("lease_until = ", math.MaxInt64),
	storetest.LeaseFar:           fmt.Sprint("lease_until = ", time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()),
	storetest.ReapInfinity:       fmt.Sprint("reap_at = ", math.MaxInt64),
	storetest.LeaseMinusInfinity: fmt.Sprint("lease_until = -", math.MaxInt64),
	storetest.LeaseMissing:       "lease_until = NULL",
	storetest.ErrorsObject:       `errors = '{"a": 1}'`,
	storetest.ErrorsNumbers:      `errors = '[1, "x", null, {"attempt": "y"}]'`,
	storetest.ErrorsMissing:      "errors = NULL",
	storetest.BackoffNegative:    "backoff = '[-1000000]'",
	storetest.BackoffMissing:     "backoff = NULL",
	storetest.TimeoutNegative:    "timeout = -1000000",
	storetest.TimeoutHuge:        fmt.Sprint("timeout = ", math.MaxInt64),
	storetest.TypeEmpty:          "type = ''",
	storetest.PriorityUnknown:    "priority = 9",
	storetest.StatusUnknown:      "status = 42",
	storetest.StatusZero:         "status = 0",
	storetest.PayloadDamaged:     `payload = '{"a":'`,
	storetest.TargetDamaged:      `target = '{"url'`,
	storetest.TokenMax:           fmt.Sprint("lease_token = ", math.MaxInt64),
}

// Damage writes into a job's row.
func (db *database) Damage(t *testing.T, what storetest.Damage, id int64) bool {
	t.Helper()
	assignment, ok := damages[what]
	if ok {
		db.write(t, "UPDATE jobs SET "+assignment+" WHERE id = ?1", id)
	}
	return ok
}

// DamageSchedule overwrites a stored definition.
func (db *database) DamageSchedule(t *testing.T, id int64, rule string) {
	t.Helper()
	db.write(t, "UPDATE schedules SET rule = ?2 WHERE id = ?1", id, rule)
}

// RemoveLeases deletes the lease rows of buckets.
func (db *database) RemoveLeases(t *testing.T, first, last int) {
	t.Helper()
	for bucket := first; bucket <= last; bucket++ {
		db.write(t, "DELETE FROM scheduler_leases WHERE bucket = ?1", bucket)
	}
}

// RefuseLease has a trigger refuse the lease row of a bucket.
func (db *database) RefuseLease(t *testing.T, bucket int) (allow func()) {
	t.Helper()
	db.execute(t, fmt.Sprintf("CREATE TRIGGER refuse_lease BEFORE INSERT ON scheduler_leases WHEN NEW.bucket = %d BEGIN SELECT RAISE(ABORT, 'no lease'); END", bucket))
	return func() { db.execute(t, "DROP TRIGGER refuse_lease") }
}

// AnnounceEarlier writes what the version before wrote at the start of a worker.
func (db *database) AnnounceEarlier(t *testing.T, typ string) {
	t.Helper()
	db.write(t, "INSERT INTO job_types (type, announced_at) VALUES (?1, 1)", typ)
}

// write changes one row with a connection of its own, as the sqlite3 program would.
func (db *database) write(t *testing.T, statement string, args ...any) {
	t.Helper()
	if n, err := db.execute(t, statement, args...).RowsAffected(); err != nil || n != 1 {
		t.Fatalf("%s: %d rows, %v", statement, n, err)
	}
}

func (db *database) execute(t *testing.T, statement string, args ...any) sql.Result {
	t.Helper()
	other, err := sql.Open("sqlite", db.path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}()
	result, err := other.ExecContext(t.Context(), statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// Keys counts idempotency keys.
func (db *database) Keys(t *testing.T) (n int) {
	t.Helper()
	other, err := sql.Open("sqlite", db.path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	err = other.QueryRowContext(t.Context(), "SELECT count(*) FROM idempotency_keys").Scan(&n)
	if closed := other.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	return n
}
