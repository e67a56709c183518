package testenv_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/internal/testenv"
)

func TestPostgresGivesEachCallAnEmptyDatabase(t *testing.T) {
	first, second := testenv.Postgres(t), testenv.Postgres(t)
	if first == second {
		t.Fatalf("two calls returned one database: %s", first)
	}
	for _, address := range []string{first, second} {
		conn, err := pgx.Connect(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		var tables int
		err = conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&tables)
		if err != nil || tables != 0 {
			t.Errorf("tables %d, %v; want 0, nil", tables, err)
		}
		if _, err := conn.Exec(t.Context(), "CREATE TABLE once (id int)"); err != nil {
			t.Error(err)
		}
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
