package postgres_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/pgserver"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// installationsAt opens a store, looks at its installations, submits a job and closes it.
func installationsAt(t *testing.T, address string) (list []core.Installation, id int64) {
	t.Helper()
	store, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, err = store.Installations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	made, err := store.Submit(t.Context(), []core.NewJob{{Type: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return list, made[0].ID
}

// began checks that jobs from now on are those of another installation than before, and jobs of before are not.
func began(t *testing.T, before, after []core.Installation, lastID, id int64) {
	t.Helper()
	if len(after) != len(before)+1 {
		t.Fatalf("%+v after %+v: want one more", after, before)
	}
	fresh := after[len(before)]
	if fresh.ID == before[len(before)-1].ID || fresh.FirstID <= lastID || fresh.FirstID > id {
		t.Errorf("%+v for jobs from %d on, after %+v up to %d", fresh, id, before, lastID)
	}
}

// A database keeps its installation over restarts; a role that may not look at the cluster sees the same one.
func TestInstallationOutlivesRestarts(t *testing.T) {
	address := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	first, _ := installationsAt(t, address)
	for range 3 {
		if list, _ := installationsAt(t, address); len(list) != 1 || list[0] != first[0] {
			t.Errorf("%+v, want %+v", list, first)
		}
	}
}

// Rows that are copied or restored into another database, or into tables made anew, are another installation's from then on.
func TestCopiedDatabaseIsAnotherInstallation(t *testing.T) {
	address := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	first, lastID := installationsAt(t, address)
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	other := testenv.Postgres(t)
	copied := strings.Replace(other, nameOf(t, other), config.Database+"_copy", 1)
	conn := connect(t, other)
	script(t, conn, `CREATE DATABASE "`+config.Database+`_copy" TEMPLATE "`+config.Database+`"`)
	t.Cleanup(func() {
		if _, err := conn.Exec(context.WithoutCancel(t.Context()), `DROP DATABASE "`+config.Database+`_copy" WITH (FORCE)`); err != nil {
			t.Error(err)
		}
	})
	list, id := installationsAt(t, copied)
	began(t, first, list, lastID, id)
	if again, _ := installationsAt(t, address); len(again) != 1 {
		t.Errorf("the original: %+v", again)
	}

	script(t, connect(t, copied), `ALTER TABLE belfry.installations RENAME TO old; CREATE TABLE belfry.installations (LIKE belfry.old INCLUDING ALL);
		INSERT INTO belfry.installations SELECT * FROM belfry.old; DROP TABLE belfry.old`) // as pg_restore --clean does
	restored, next := installationsAt(t, copied)
	began(t, list, restored, id, next)
}

func nameOf(t *testing.T, address string) string {
	t.Helper()
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	return config.Database
}

// A failover, and a recovery to a point in time, begin a timeline: what the lost primary gave out last is not known. A store
// that stays open sees it too.
func TestFailoverBeginsAnInstallation(t *testing.T) {
	server := testenv.PostgresServer(t, pgserver.Options{})
	if err := postgres.Migrate(t.Context(), server.URL()); err != nil {
		t.Fatal(err)
	}
	first, lastID := installationsAt(t, server.URL())
	data := value[string](t, connect(t, server.URL()), "SHOW data_directory")
	if err := server.Restart(t.Context(), pgserver.Immediate); err != nil {
		t.Fatal(err)
	}
	if list, _ := installationsAt(t, server.URL()); len(list) != 1 {
		t.Errorf("after a crash: %+v", list)
	}
	if err := server.Stop(pgserver.Fast); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "standby.signal"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !value[bool](t, connect(t, server.URL()), "SELECT pg_promote()") {
		t.Fatal("not promoted")
	}
	list, id := installationsAt(t, server.URL())
	began(t, first, list, lastID, id)
}
