package webhooktest

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// TestNewWorkIsNoRepeat: what a receiver drops repeats by is never given to other work: not by another database, whose jobs
// have the same numbers, and not by the same one after it was put back to an earlier state. Jobs that were there before keep
// theirs.
func TestNewWorkIsNoRepeat(t *testing.T) {
	for _, l := range []layout{layouts[0], layouts[2]} {
		t.Run(l.name, func(t *testing.T) {
			r := receive(t, status(http.StatusOK))
			given := map[string]bool{}
			deliver := func(s *stage, more string) (id, name string) {
				id = s.ended(s.submit(r.URL, more).ID, "done").ID
				name = r.next().header.Get("Webhook-Id")
				if given[name] {
					t.Errorf("job %s is %s, which other work was", id, name)
				}
				given[name] = true
				return id, name
			}
			other := start(t, l)
			number, _ := deliver(other, "")
			other.stop()

			open, backUp, restore := restorable(t, l)
			s := startOn(t, l, open)
			if id, _ := deliver(s, ""); id != number {
				t.Errorf("the first job of another database is %s, not %s: nothing was shown", id, number)
			}
			waiting := s.submit(r.URL, `,"delay":"24h"`)
			s.stop()
			backUp()
			s = startOn(t, l, open)
			deliver(s, "")
			lost, _ := deliver(s, "")
			s.stop()
			open = restore()
			s = startOn(t, l, open)
			id, _ := deliver(s, "")
			t.Logf("jobs up to %s were lost, job %s came next", lost, id)
			s.must(http.StatusOK, "POST", "/v1/jobs/"+waiting.ID+"/reschedule", `{"delay":"0s"}`, nil)
			s.ended(waiting.ID, "done")
			s.stop()
			if kept, before := r.next().header.Get("Webhook-Id"), installationOf(t, open); kept != "msg_"+before+"_"+waiting.ID {
				t.Errorf("a job of before is %s, its installation was %s", kept, before)
			}
		})
	}
}

// installationOf is the first installation of a database.
func installationOf(t *testing.T, open func() core.Store) string {
	t.Helper()
	store := open()
	defer store.Close()
	list, err := store.Installations(t.Context())
	if err != nil || len(list) < 2 {
		t.Fatalf("%+v %v: want one of before and one of after", list, err)
	}
	return list[0].ID
}

// restorable is an opener of a new database, and how to back it up and to put it back, while nobody has it open. A SQLite
// file is put back in its place; a PostgreSQL database is restored into another one.
func restorable(t *testing.T, l layout) (open func() core.Store, backUp func(), restore func() func() core.Store) {
	t.Helper()
	if l.postgres {
		return restorableDatabase(t)
	}
	path := filepath.Join(t.TempDir(), "belfry.db")
	open = func() core.Store {
		store, err := sqlite.Open(t.Context(), path, sqlite.Options{NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	var kept []byte
	backUp = func() {
		var err error
		if kept, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	restore = func() func() core.Store {
		if err := os.WriteFile(path, kept, 0o600); err != nil {
			t.Fatal(err)
		}
		return open
	}
	return open, backUp, restore
}

func restorableDatabase(t *testing.T) (open func() core.Store, backUp func(), restore func() func() core.Store) {
	t.Helper()
	database := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	config, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	backup := config.Database + "_backup"
	opener := func(name string) func() core.Store {
		return func() core.Store {
			store, err := postgres.Open(t.Context(), strings.Replace(database, config.Database, name, 1), postgres.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return store
		}
	}
	admin := func(statement string) {
		ctx := context.WithoutCancel(t.Context()) // cleaning up comes last
		conn, err := pgx.Connect(ctx, strings.Replace(database, config.Database, "postgres", 1))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(ctx)
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	backUp = func() {
		admin(`CREATE DATABASE "` + backup + `" TEMPLATE "` + config.Database + `"`)
		t.Cleanup(func() { admin(`DROP DATABASE "` + backup + `" WITH (FORCE)`) })
	}
	return opener(config.Database), backUp, func() func() core.Store { return opener(backup) }
}
