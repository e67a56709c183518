package postgres_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/pgserver"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// No error shows the password of an address that cannot be used.
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

// A server that takes no writes is told from one that is down.
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

// A role without the right to write is told by Ping, not by the first submit.
func TestRoleThatMayOnlyRead(t *testing.T) {
	address := must(url.Parse(migrated(t)))
	conn := connect(t, address.String())
	database := strings.TrimPrefix(address.Path, "/")
	role := "reader_of_" + database
	for _, statement := range []string{
		`CREATE ROLE "` + role + `" LOGIN PASSWORD 'reader'`,
		`GRANT USAGE ON SCHEMA belfry TO "` + role + `"`,
		`GRANT SELECT ON ALL TABLES IN SCHEMA belfry TO "` + role + `"`,
	} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, statement := range []string{`DROP OWNED BY "` + role + `"`, `DROP ROLE "` + role + `"`} {
			if _, err := conn.Exec(context.WithoutCancel(t.Context()), statement); err != nil {
				t.Error(err)
			}
		}
	})
	address.User = url.UserPassword(role, "reader")
	store := open(t, address.String())
	for act, err := range map[string]error{
		"Ping":   store.Ping(t.Context()),
		"Submit": second(store.Submit(t.Context(), []core.NewJob{{Type: "a"}})),
	} {
		if !errors.Is(err, core.ErrReadOnly) {
			t.Errorf("%s: want ErrReadOnly, got %v", act, err)
		}
	}
}

// Lease rows of buckets that do not exist, written by hand, are nobody's.
func TestLeasesOfBucketsThatDoNotExist(t *testing.T) {
	address := migrated(t)
	if _, err := connect(t, address).Exec(t.Context(), "INSERT INTO belfry.scheduler_leases (bucket) VALUES (-5), (64), (32767)"); err != nil {
		t.Fatal(err)
	}
	store := open(t, address)
	for range 2 {
		res, err := store.Tick(t.Context(), core.TickRequest{Holder: "h"})
		if err != nil || len(res.Held) != core.Buckets || res.Released {
			t.Fatalf("want the %d buckets held, got %d, released %t, %v", core.Buckets, len(res.Held), res.Released, err)
		}
	}
}

// What a database sets for every session changes neither how text is sent nor what a string means.
func TestDatabaseWithOtherStrings(t *testing.T) {
	address := migrated(t)
	database := strings.TrimPrefix(must(url.Parse(address)).Path, "/")
	for _, setting := range []string{"client_encoding = 'LATIN1'", "standard_conforming_strings = off"} {
		if _, err := connect(t, address).Exec(t.Context(), `ALTER DATABASE "`+database+`" SET `+setting); err != nil {
			t.Fatal(err)
		}
	}
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	store := open(t, address)
	const tenant = `Łódź \'`
	out, err := store.Submit(t.Context(), []core.NewJob{{Type: "a", Tenant: tenant}})
	if err != nil {
		t.Fatal(err)
	}
	var kept int
	if err := connect(t, address).QueryRow(t.Context(), "SELECT length(tenant) FROM belfry.jobs").Scan(&kept); err != nil {
		t.Fatal(err)
	}
	if want := utf8.RuneCountInString(tenant); kept != want {
		t.Errorf("the table has %d characters, want %d", kept, want)
	}
	if job, err := store.Get(t.Context(), out[0].ID); err != nil || job.Tenant != tenant {
		t.Errorf("%q came back as %q: %v", tenant, job.Tenant, err)
	}
}

// A server that takes the connection and says nothing is given up.
func TestServerThatSaysNothing(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = postgres.Migrate(ctx, "postgres://someone@"+l.Addr().String()+"/db")
	if !errors.Is(err, core.ErrUnavailable) || ctx.Err() != nil {
		t.Errorf("it waited for its caller's deadline: %v", err)
	}
}

func TestDatabaseOfTheWrongKindIsRefused(t *testing.T) {
	address := migrated(t)
	database := strings.TrimPrefix(must(url.Parse(address)).Path, "/")
	for setting, say := range map[string]string{"default_transaction_isolation = 'serializable'": "read committed", "synchronous_commit = 'off'": "synchronous_commit"} {
		conn := connect(t, address)
		if _, err := conn.Exec(t.Context(), `ALTER DATABASE "`+database+`" SET `+setting); err != nil {
			t.Fatal(err)
		}
		if err := openError(t, address); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: want an error that names %s, got %v", setting, say, err)
		}
		if _, err := conn.Exec(t.Context(), `ALTER DATABASE "`+database+`" RESET ALL`); err != nil {
			t.Fatal(err)
		}
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
	if jobs, err := store.List(t.Context(), core.ListQuery{Limit: 10}); err != nil || len(jobs.Jobs) != 2 {
		t.Errorf("%d jobs, %v; want the two that were accepted", len(jobs.Jobs), err)
	}
}

func second[T any](_ T, err error) error { return err }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
