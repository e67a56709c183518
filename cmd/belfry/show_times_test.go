package main

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// A job whose time only SQL can have stored is shown with that time, and the others beside it.
func TestTimesOutOfRangeAreShown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "belfry.db")
	store, err := sqlite.Open(t.Context(), file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, nodetest.StartOn(t, "api", store))
	for range 2 {
		r.ok("jobs", "submit", "later", "--delay", "1h")
	}
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `UPDATE jobs SET run_at = CAST(strftime('%s', '9999-12-31') AS INTEGER) * 3000000 WHERE id = 1`); err != nil {
		t.Fatal(err)
	}
	const year = "26059-12-28T00:00:00.000000Z"
	if out := r.ok("jobs", "list"); !strings.Contains(out, year) || strings.Count(out, "later") != 2 {
		t.Error(out)
	}
	if out := r.ok("jobs", "get", "1"); !strings.Contains(out, "run at        "+year+"\n") {
		t.Error(out)
	}
}
