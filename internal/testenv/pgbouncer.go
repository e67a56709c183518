package testenv

import (
	"context"
	"errors"
	"net/url"
	"os"
	"testing"

	"github.com/belfry-dev/belfry/internal/pgserver"
)

// bouncerVariable holds the URL of a PgBouncer in transaction mode that passes
// any database of the server in BELFRY_TEST_POSTGRES_URL on.
const bouncerVariable = "BELFRY_TEST_PGBOUNCER_URL"

const bouncerHowTo = "install pgbouncer, or set " + bouncerVariable + " beside " + postgresVariable

// PgBouncer returns the URL of the same database through a PgBouncer in
// transaction mode, which is closed when the test ends.
func PgBouncer(t testing.TB, databaseURL string) string {
	t.Helper()
	if address := os.Getenv(bouncerVariable); address != "" {
		return sameDatabase(t, address, databaseURL)
	}
	ctx, cancel := context.WithTimeout(t.Context(), setupTimeout)
	defer cancel()
	bouncer, err := pgserver.StartBouncer(ctx, databaseURL)
	if errors.Is(err, pgserver.ErrNoBouncer) {
		missing(t, "pgbouncer", err, bouncerHowTo)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bouncer.Close(); err != nil {
			t.Error(err)
		}
	})
	return bouncer.URL()
}

// sameDatabase is the address with the database of another address.
func sameDatabase(t testing.TB, address, databaseURL string) string {
	t.Helper()
	through, err := url.Parse(address)
	if err != nil {
		t.Fatalf("%s is not a URL", bouncerVariable)
	}
	direct, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal("the database URL is not a URL")
	}
	through.Path = direct.Path
	return through.String()
}
