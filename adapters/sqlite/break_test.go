package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core/storetest"
)

// breaks are triggers that make jobs of a type raise an error.
var breaks = map[storetest.Break]string{
	storetest.BreakChange: "BEFORE UPDATE ON jobs WHEN old.type = '{type}' BEGIN SELECT RAISE(ABORT, 'not of this type'); END",
	storetest.BreakUndo:   "BEFORE UPDATE ON jobs WHEN old.type = '{type}' BEGIN SELECT RAISE(ROLLBACK, 'not of this type'); END",
	storetest.BreakIgnore: "BEFORE UPDATE ON jobs WHEN old.type = '{type}' BEGIN SELECT RAISE(IGNORE); END",
	storetest.BreakRemove: "BEFORE DELETE ON jobs WHEN old.type = '{type}' BEGIN SELECT RAISE(FAIL, 'not of this type'); END",
	storetest.BreakInsert: "BEFORE INSERT ON jobs WHEN new.type = '{type}' BEGIN SELECT RAISE(ABORT, 'not of this type'); END",
	storetest.BreakDrop:   "BEFORE DELETE ON dead_letters WHEN old.type = '{type}' BEGIN SELECT RAISE(ABORT, 'not of this type'); END",
	storetest.BreakNote:   "BEFORE INSERT ON failure_notes WHEN new.type = '{type}' BEGIN SELECT RAISE(ABORT, 'not of this type'); END",
	storetest.BreakDone:   "BEFORE INSERT ON job_history WHEN new.type = '{type}' BEGIN SELECT RAISE(ABORT, 'not of this type'); END",
}

// Break makes a job raise an error; see storetest.Breaker. It writes with a connection of its own.
func (db *database) Break(t *testing.T, how storetest.Break, id int64) (mend func()) {
	t.Helper()
	other, err := sql.Open("sqlite", db.path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	run := func(text string, args ...any) {
		t.Helper()
		if _, err := other.ExecContext(context.WithoutCancel(t.Context()), text, args...); err != nil {
			t.Fatal(err)
		}
	}
	switch how {
	case storetest.BreakPayload:
		return db.losePage(t, run, other, id)
	case storetest.BreakTwin:
		run(`INSERT INTO dead_letters (id, type, payload, priority, tenant, run_at, status, attempts, max_attempts, snoozes, lease_token, ended_token, claim_id,
			worker_id, dispatch_fence, dispatches, cancel_wanted, dedupe_key, timeout, trace, reason, created_at, finished_at)
			VALUES (?1, 'twin', '{}', 2, '', 0, 5, 1, 1, 0, 1, 0, 0, '', 0, 0, 0, '', 0, '', '', 0, 0)`, id)
		return func() { run("DELETE FROM dead_letters WHERE id = ?1 AND type = 'twin'", id) }
	}
	text, ok := breaks[how]
	if !ok {
		return nil
	}
	var typ string
	if err := other.QueryRowContext(t.Context(), "SELECT type FROM jobs WHERE id = ?1 UNION ALL SELECT type FROM dead_letters WHERE id = ?1", id).Scan(&typ); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("refuse_%d", id)
	run("CREATE TRIGGER " + name + " " + strings.ReplaceAll(text, "{type}", typ))
	return func() { run("DROP TRIGGER " + name) }
}

// losePage damages one of the pages that hold a job's payload, as a bad sector does: it names a next page that is not there.
func (db *database) losePage(t *testing.T, run func(string, ...any), other *sql.DB, id int64) (mend func()) {
	t.Helper()
	const page = 4096
	var payload string
	if err := other.QueryRowContext(t.Context(), "SELECT payload FROM jobs WHERE id = ?1", id).Scan(&payload); err != nil {
		t.Fatal(err)
	}
	run("PRAGMA wal_checkpoint(TRUNCATE)")
	data, err := os.ReadFile(db.path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte(payload[len(payload)/2:len(payload)/2+500])) / page * page
	if at <= 0 || int(binary.BigEndian.Uint32(data[at:])) > len(data)/page {
		t.Fatalf("the payload's pages are not found: %d", at)
	}
	write := func(number []byte) {
		t.Helper()
		file, err := os.OpenFile(db.path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteAt(number, int64(at)); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		run("INSERT INTO meta (name, value) VALUES ('touched', 1) ON CONFLICT DO UPDATE SET value = value + 1") // others forget what they have read
	}
	write([]byte{0xff, 0xff, 0xff, 0xf0})
	if err := other.QueryRowContext(t.Context(), "SELECT payload FROM jobs WHERE id = ?1", id).Scan(&payload); err == nil {
		t.Fatal("the payload can still be read")
	}
	return func() { write(data[at : at+4]) }
}
