package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/internal/containers/engine"
	"github.com/belfry-dev/belfry/internal/pgserver"
)

// postgresVariable holds the URL of a superuser's database on a server that
// runs already. Each test makes a database of its own there and drops it.
const postgresVariable = "BELFRY_TEST_POSTGRES_URL"

const postgresHowTo = "install PostgreSQL 14 or newer or a container engine, or set " + postgresVariable + "=postgres://user:password@host:port/postgres"

// setupTimeout bounds making and dropping one database, and the first start of a server.
const setupTimeout = 90 * time.Second

// sharedPostgres is the server all tests of this process share, started by the
// first of them. The process's end stops it, so no TestMain is needed.
var sharedPostgres = sync.OnceValues(startPostgres)

// source is where a server was found, and what must be held to keep it.
type source struct {
	url  string
	held *containedServer
}

// startPostgres finds the server: an address, programs, or a container. It
// returns pgserver.ErrNotInstalled where there is none of them.
func startPostgres() (source, error) {
	if address := os.Getenv(postgresVariable); address != "" {
		return source{url: address}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	err := fmt.Errorf("%w, %w", pgserver.ErrNotInstalled, errLeftOut)
	if !onlyContainers() {
		var server *pgserver.Server
		if server, err = pgserver.Start(ctx, pgserver.Options{}); err == nil {
			return source{url: server.URL()}, nil
		}
	}
	if !errors.Is(err, pgserver.ErrNotInstalled) {
		return source{}, err
	}
	contained, containerErr := startContained("postgres")
	if errors.Is(containerErr, engine.ErrNone) {
		return source{}, fmt.Errorf("%w, and %w", err, containerErr)
	}
	if containerErr != nil {
		return source{}, containerErr
	}
	return source{url: contained.url, held: contained}, nil
}

// Postgres returns the URL of a fresh, empty database on a real server. The
// database is dropped when the test ends, with any session still open on it.
func Postgres(t testing.TB) string {
	t.Helper()
	server, err := sharedPostgres()
	if errors.Is(err, pgserver.ErrNotInstalled) {
		missing(t, "postgres", err, postgresHowTo)
	}
	if err != nil {
		t.Fatal(err)
	}
	return database(t, server.url)
}

// Execute runs SQL, which may be several statements, on a connection of its own. It still does so while the test ends.
func Execute(t testing.TB, address, sql string) {
	t.Helper()
	if err := pgserver.Execute(context.WithoutCancel(t.Context()), address, sql); err != nil {
		t.Error(err)
	}
}

// PostgresServer starts a server for this test alone, which the test may stop
// and start as it likes. It is closed when the test ends.
func PostgresServer(t testing.TB, opts pgserver.Options) *pgserver.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), setupTimeout)
	defer cancel()
	server, err := pgserver.Start(ctx, opts)
	if errors.Is(err, pgserver.ErrNotInstalled) {
		missing(t, "postgres", err, postgresHowTo)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// database makes a database for one test and drops it after.
func database(t testing.TB, admin string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), setupTimeout)
	defer cancel()
	address, err := pgserver.CreateDatabase(ctx, admin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
		defer cancel()
		if err := pgserver.DropDatabase(ctx, admin, address); err != nil {
			t.Error(err)
		}
	})
	return address
}
