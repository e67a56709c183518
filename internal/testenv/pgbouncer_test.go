package testenv_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/internal/testenv"
)

func TestPgBouncerPoolsByTransaction(t *testing.T) {
	address := testenv.PgBouncer(t, testenv.Postgres(t))
	// In session mode two open clients have a backend each; in transaction mode
	// the second takes the one the first has just given back.
	first, second := connect(t, address), connect(t, address)
	if a, b := backend(t, first), backend(t, second); a != b {
		t.Errorf("two idle clients used backends %d and %d; want one", a, b)
	}
	tx, err := first.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a, b := backend(t, first), backend(t, second); a == b {
		t.Errorf("a client was given backend %d, which is inside another client's transaction", a)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
}

func connect(t *testing.T, address string) *pgx.Conn {
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
	return conn
}

func backend(t *testing.T, conn *pgx.Conn) (pid int) {
	t.Helper()
	err := conn.QueryRow(t.Context(), "SELECT pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&pid)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
