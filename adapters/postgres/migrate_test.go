package postgres_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

func TestMigrateMayBeRepeatedAndRunAtOnce(t *testing.T) {
	address := testenv.Postgres(t)
	errs, applied := make([]error, 6), make([][]string, 6)
	var wg sync.WaitGroup
	for i := range errs {
		migrator := postgres.Migrator{Applied: func(name string) { applied[i] = append(applied[i], name) }}
		wg.Go(func() { errs[i] = migrator.Up(t.Context(), address) })
	}
	wg.Wait()
	if err := errors.Join(append(errs, postgres.Migrate(t.Context(), address))...); err != nil {
		t.Fatal(err)
	}
	steps, err := postgres.Schema(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, step := range steps {
		want = append(want, step.Name)
	}
	if got := slices.Sorted(slices.Values(slices.Concat(applied...))); !slices.Equal(got, want) {
		t.Errorf("want each migration told by the one migrator that applied it, got %q", applied)
	}
	store := open(t, address)
	if out, err := store.Submit(t.Context(), []core.NewJob{{Type: "a"}}); err != nil || out[0].ID == 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Get(t.Context(), 1); err != nil {
		t.Errorf("after a repeated migration: %v", err)
	}
}

func TestSchemaThatDoesNotFit(t *testing.T) {
	address := testenv.Postgres(t)
	conn := connect(t, address)
	refused := func(what, advice string, err error) {
		t.Helper()
		if !errors.Is(err, core.ErrSchema) || !strings.Contains(err.Error(), advice) {
			t.Errorf("%s: want ErrSchema that says %q, got %v", what, advice, err)
		}
	}
	_, err := postgres.Open(t.Context(), address, postgres.Options{})
	refused("no schema", "run the migrations", err)
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	store := open(t, address)
	if _, err := conn.Exec(t.Context(), "INSERT INTO belfry.migrations (version, name, oldest) VALUES (1000, 'from the future', 999)"); err != nil {
		t.Fatal(err)
	}
	_, err = postgres.Open(t.Context(), address, postgres.Options{})
	refused("Open of a newer schema", "update this program", err)
	refused("Migrate of a newer schema", "update this program", postgres.Migrate(t.Context(), address))
	refused("Ping of a newer schema", "update this program", store.Ping(t.Context()))
	if _, err := conn.Exec(t.Context(), "DELETE FROM belfry.migrations"); err != nil {
		t.Fatal(err)
	}
	_, err = postgres.Open(t.Context(), address, postgres.Options{})
	refused("Open of an older schema", "run the migrations", err)
	refused("Migrate of tables without their version", "belfry.migrations says version 0", postgres.Migrate(t.Context(), address))
	if _, err := conn.Exec(t.Context(), "DROP TABLE belfry.job_types"); err != nil {
		t.Fatal(err)
	}
	refused("a table that is gone", "run the migrations", store.Announce(t.Context(), core.Presence{ID: "w", Types: []string{"a"}}))
}

func open(t *testing.T, address string) *postgres.Store {
	t.Helper()
	store, err := postgres.Open(t.Context(), address, postgres.Options{})
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

func migrated(t testing.TB) (address string) {
	t.Helper()
	address = testenv.Postgres(t)
	if err := postgres.Migrate(context.WithoutCancel(t.Context()), address); err != nil {
		t.Fatal(err)
	}
	return address
}
