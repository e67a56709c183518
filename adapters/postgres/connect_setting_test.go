package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// eachWayIn are the ways to connect to a database.
func eachWayIn(dsn string) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Open": func(ctx context.Context) error {
			store, err := postgres.Open(ctx, dsn, postgres.Options{})
			if err != nil {
				return err
			}
			return store.Close()
		},
		"Migrate":  func(ctx context.Context) error { return postgres.Migrate(ctx, dsn) },
		"Schema":   func(ctx context.Context) error { return second(postgres.Schema(ctx, dsn)) },
		"Diagnose": func(ctx context.Context) error { return second(postgres.Diagnose(ctx, dsn)) },
	}
}

// addressWith is an address with one more parameter.
func addressWith(address, name, value string) string {
	u := must(url.Parse(address))
	query := u.Query()
	query.Set(name, value)
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // a plus is no space there
	return u.String()
}

// The settings that each session gets are not taken from the environment or the address, in any spelling: a time zone that
// the server does not know stops nothing.
func TestSettingsThatEachSessionGetsAreNotTakenFromOutside(t *testing.T) {
	dsn := migrated(t)
	try := func(name, dsn string) {
		for act, do := range eachWayIn(dsn) {
			if err := do(t.Context()); err != nil {
				t.Errorf("%s with %s: %v", act, name, err)
			}
		}
	}
	for _, name := range []string{"timezone", "TimeZone", "TIMEZONE", "datestyle", "DateStyle", "client_encoding", "standard_conforming_strings"} {
		try(name, addressWith(dsn, name, "Mars/Phobos"))
	}
	t.Setenv("PGTZ", "Mars/Phobos")
	try("PGTZ", dsn)
}

// A server that refuses a setting is not said to have a row that raises an error: the text names the setting, and where it
// comes from.
func TestSettingsThatTheServerRefusesAreNamed(t *testing.T) {
	dsn := migrated(t)
	const (
		inOptions = "correct it in PGOPTIONS, or in options of the database's address"
		inAddress = " in the database's address"
	)
	for _, row := range []struct{ variable, parameter, value, names, says string }{
		{"PGOPTIONS", "", "-c timezone=Mars/Phobos", `"TimeZone"`, inOptions},
		{"", "options", "-c timezone=Mars/Phobos", `"TimeZone"`, inOptions},
		{"PGOPTIONS", "", "-c work_mem=lots", `"work_mem"`, inOptions},
		{"PGOPTIONS", "", "--work-mem=lots", `"work_mem"`, inOptions},
		{"PGOPTIONS", "", "-c nosuch=1", `"nosuch"`, inOptions},
		{"PGOPTIONS", "", "-c shared_buffers=1GB", `"shared_buffers"`, inOptions},
		{"PGOPTIONS", "", "--nosuch", "--nosuch", inOptions},
		{"PGOPTIONS", "", "-c", "-c", inOptions},
		{"", "nosuch", "1", `"nosuch"`, "correct or remove nosuch" + inAddress},
		{"", "work_mem", "lots", `"work_mem"`, "correct or remove work_mem" + inAddress},
		{"", "statement_timeout", "soon", `"statement_timeout"`, "correct or remove statement_timeout" + inAddress},
	} {
		t.Run(row.variable+row.parameter+" "+row.value, func(t *testing.T) {
			address := dsn
			if row.variable != "" {
				t.Setenv(row.variable, row.value)
			} else {
				address = addressWith(dsn, row.parameter, row.value)
			}
			for act, do := range eachWayIn(address) {
				err := do(t.Context())
				if !errors.Is(err, core.ErrUnavailable) || errors.Is(err, core.ErrRow) || !strings.Contains(err.Error(), row.names) || !strings.Contains(err.Error(), row.says) {
					t.Errorf("%s: %v, want %q and %q", act, err, row.names, row.says)
				}
			}
		})
	}
}

// A role may set less than a superuser. That the right to connect is missing is no fault of a setting.
func TestSettingsThatTheRoleMayNotChangeAreNamed(t *testing.T) {
	dsn := migrated(t)
	conn := connect(t, dsn)
	u := must(url.Parse(dsn))
	role := "sets_nothing_in_" + strings.TrimPrefix(u.Path, "/")
	script(t, conn, `CREATE ROLE "`+role+`" LOGIN PASSWORD 'p'`)
	t.Cleanup(func() { script(t, conn, `DROP ROLE "`+role+`"`) })
	u.User = url.UserPassword(role, "p")
	_, err := postgres.Diagnose(t.Context(), addressWith(u.String(), "options", "-c log_statement=all"))
	if err == nil || !strings.Contains(err.Error(), `"log_statement"`) || !strings.Contains(err.Error(), "in PGOPTIONS, or in options") {
		t.Errorf("log_statement: %v", err)
	}
	script(t, conn, `REVOKE CONNECT ON DATABASE "`+strings.TrimPrefix(u.Path, "/")+`" FROM PUBLIC`)
	_, err = postgres.Diagnose(t.Context(), addressWith(u.String(), "options", "-c work_mem=4MB"))
	if !errors.Is(err, core.ErrRights) || strings.Contains(err.Error(), "PGOPTIONS") {
		t.Errorf("no right to connect: %v", err)
	}
}

// A pooler refuses what it cannot pass on, in its own words.
func TestSettingsThatAPoolerRefusesAreNamed(t *testing.T) {
	dsn := testenv.PgBouncer(t, migrated(t))
	_, err := postgres.Diagnose(t.Context(), addressWith(dsn, "work_mem", "4MB"))
	if !errors.Is(err, core.ErrUnavailable) || !strings.Contains(err.Error(), "work_mem") || !strings.Contains(err.Error(), "correct or remove work_mem in the database's address") {
		t.Error(err)
	}
	for act, do := range eachWayIn(addressWith(dsn, "timezone", "Mars/Phobos")) {
		if err := do(t.Context()); err != nil {
			t.Errorf("%s: %v", act, err)
		}
	}
}
