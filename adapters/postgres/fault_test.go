package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/pgserver"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// H10: no password in an error, whatever is wrong with the address.
func TestNoErrorQuotesThePassword(t *testing.T) {
	address, err := url.Parse(migrated(t))
	if err != nil {
		t.Fatal(err)
	}
	wrong := *address
	wrong.User = url.UserPassword("postgres", "canary")
	nowhere := *address
	nowhere.User, nowhere.Path = url.UserPassword("someone", "canary"), "/nowhere"
	for _, dsn := range []string{
		wrong.String(), nowhere.String(),
		"postgres://u:canary@127.0.0.1:1/db", "postgres://u:canary@no-such-host.invalid/db",
		"postgres://u:canary@host:notaport/db", "postgres://u:canary%zz@host/db", "postgres://u:can@ary@host:5432:1/db", "host=h password=canary port=x", "host=h password='canary",
	} {
		for act, err := range map[string]error{"Migrate": postgres.Migrate(t.Context(), dsn), "Open": openError(t, dsn)} {
			if err == nil || strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "can@ary") {
				t.Errorf("%s: %v", act, err)
			}
		}
	}
	for _, dsn := range []string{wrong.String(), "postgres://u:canary@127.0.0.1:1/db", "postgres://u:canary@no-such-host.invalid/db"} {
		if err := openError(t, dsn); !errors.Is(err, core.ErrUnavailable) {
			t.Errorf("want ErrUnavailable, got %v", err)
		}
	}
}

func openError(t *testing.T, dsn string) error {
	t.Helper()
	store, err := postgres.Open(t.Context(), dsn, postgres.Options{})
	if err == nil {
		_ = store.Close()
	}
	return err
}

// I06: a server that takes no writes is told from one that is down.
func TestReadOnlyServer(t *testing.T) {
	address := migrated(t)
	store := open(t, address)
	if err := store.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	database := strings.TrimPrefix(must(url.Parse(address)).Path, "/")
	if _, err := connect(t, address).Exec(t.Context(), `ALTER DATABASE "`+database+`" SET default_transaction_read_only = on`); err != nil {
		t.Fatal(err)
	}
	standby := open(t, address)
	for act, err := range map[string]error{
		"Ping":   standby.Ping(t.Context()),
		"Submit": second(standby.Submit(t.Context(), []core.NewJob{{Type: "a"}})),
		"Tick":   second(standby.Tick(t.Context(), core.TickRequest{Holder: "h"})),
		"Claim":  second(standby.ClaimDue(t.Context(), core.ClaimRequest{Quotas: []core.Quota{{Priority: core.Default, Type: "a", Limit: 1}}, Lease: time.Second})),
	} {
		if !errors.Is(err, core.ErrReadOnly) {
			t.Errorf("%s: want ErrReadOnly, got %v", act, err)
		}
	}
}

func TestDatabaseOfTheWrongKindIsRefused(t *testing.T) {
	address := migrated(t)
	database := strings.TrimPrefix(must(url.Parse(address)).Path, "/")
	if _, err := connect(t, address).Exec(t.Context(), `ALTER DATABASE "`+database+`" SET default_transaction_isolation = 'serializable'`); err != nil {
		t.Fatal(err)
	}
	if err := openError(t, address); err == nil || !strings.Contains(err.Error(), "read committed") {
		t.Errorf("want an error that names the isolation it needs, got %v", err)
	}
}

func TestServerThatStopsAndStarts(t *testing.T) {
	server := testenv.PostgresServer(t, pgserver.Options{})
	if err := postgres.Migrate(t.Context(), server.URL()); err != nil {
		t.Fatal(err)
	}
	store := open(t, server.URL())
	submit := func() error { return second(store.Submit(t.Context(), []core.NewJob{{Type: "a"}})) }
	if err := submit(); err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(pgserver.Immediate); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := submit(); !errors.Is(err, core.ErrUnavailable) {
			t.Errorf("while it is down: want ErrUnavailable, got %v", err)
		}
	}
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for err := submit(); err != nil; err = submit() { // each failure takes a dead connection away
		if !errors.Is(err, core.ErrUnavailable) || ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	if jobs, err := store.List(t.Context(), core.ListQuery{Limit: 10}); err != nil || len(jobs) != 2 {
		t.Errorf("%d jobs, %v; want the two that were accepted", len(jobs), err)
	}
}

func second[T any](_ T, err error) error { return err }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
