package postgres_test

import (
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// Nothing that a database sets for every session about how values are written changes what the migrations, the store and
// the functions do. A zone of more than a day makes offsets that the server itself does not read back.
func TestDatabaseThatWritesValuesInOtherWays(t *testing.T) {
	for _, setting := range []string{
		"timezone = '<+25>-25'", "timezone = '<-25>+25'", "datestyle = 'SQL, DMY'", "datestyle = 'German, YMD'", "intervalstyle = 'sql_standard'",
		"bytea_output = 'escape'", "search_path = ''", "array_nulls = off",
	} {
		t.Run(setting, func(t *testing.T) {
			address := testenv.Postgres(t)
			database := strings.TrimPrefix(must(url.Parse(address)).Path, "/")
			script(t, connect(t, address), `ALTER DATABASE "`+database+`" SET `+setting)
			if err := postgres.Migrate(t.Context(), address); err != nil {
				t.Fatal(err)
			}
			clock := new(atomic.Int64)
			store, err := postgres.Open(t.Context(), address, postgres.Options{Clock: clock})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			for range 2 {
				liveThroughADay(t, store, address)
				clock.Add((40 * 24 * time.Hour).Microseconds()) // past what is made ahead, of days and of months
			}
		})
	}
}

// liveThroughADay submits jobs in each way, ends them in some, and maintains the tables.
func liveThroughADay(t *testing.T, store *postgres.Store, address string) {
	t.Helper()
	now := must(store.Now(t.Context()))
	if result, err := store.Maintain(t.Context(), core.MaintainRequest{LedgerRetention: 24 * time.Hour}); err != nil || result.Overflow != 0 {
		t.Errorf("maintain: %+v, %v", result, err)
	}
	out, err := store.Submit(t.Context(), []core.NewJob{{Type: "a", RunAt: now, Timeout: 90 * time.Minute, Backoff: []time.Duration{time.Second}}, {Type: "a", RunAt: now.Add(time.Hour), DedupeKey: "k"}})
	if err != nil || !out[0].RunAt.Equal(now) || !out[1].RunAt.Equal(now.Add(time.Hour)) {
		t.Fatalf("submit: %+v, %v", out, err)
	}
	claimed, err := store.ClaimDue(t.Context(), core.ClaimRequest{WorkerID: "w", ClaimID: now.UnixMicro(), Lease: time.Minute, Quotas: []core.Quota{{Priority: core.Default, Type: "a", Limit: 1}}})
	if err != nil || len(claimed.Jobs) != 1 || claimed.Jobs[0].Timeout != 90*time.Minute {
		t.Fatalf("claim: %+v, %v", claimed, err)
	}
	if answers, err := store.Finish(t.Context(), []core.End{{Ref: core.Ref{ID: claimed.Jobs[0].ID, Token: claimed.Jobs[0].LeaseToken}, Outcome: core.EndDone}}); err != nil || answers[0].Status != core.Done {
		t.Errorf("finish: %+v, %v", answers, err)
	}
	if _, err := store.Cancel(t.Context(), out[1].ID); err != nil {
		t.Errorf("cancel: %v", err)
	}
	conn := connect(t, address)
	const call = `SELECT belfry.cancel(belfry.submit('a', delay => '90 min', timeout => '1 h', backoff => ARRAY[interval '1 s'], run_at => NULL, expires_at => now() + interval '1 day'))`
	if word := value[string](t, conn, call); word != "cancelled" {
		t.Errorf("cancel from SQL: %q", word)
	}
	if n := value[int](t, conn, `SELECT count(*)::integer FROM belfry.job_history_overflow`); n != 0 {
		t.Errorf("%d rows found no partition", n)
	}
}

// Whatever stands in the schemas of the store's role, under whatever names: its statements mean what they say.
func TestStatementsAmongOtherPeoplesNames(t *testing.T) {
	address := testenv.Postgres(t)
	admin := connect(t, address)
	script(t, admin, traps)
	script(t, admin, `CREATE FUNCTION trap.setval(text, bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN INSERT INTO trap.sprung VALUES ('setval'); RETURN 1; END $$;
CREATE TABLE trap.jobs (id bigint); CREATE TABLE trap.job_types (id bigint); CREATE TABLE trap.schedules (id bigint); CREATE TABLE trap.migrations (id bigint)`)
	database := strings.TrimPrefix(must(url.Parse(address)).Path, "/")
	script(t, admin, `ALTER DATABASE "`+database+`" SET search_path = trap, public`)
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	store := open(t, address)
	liveThroughADay(t, store, address)
	if what := value[string](t, connect(t, address), `SELECT coalesce(string_agg(what, ', '), '') FROM trap.sprung`); what != "" {
		t.Errorf("traps were sprung: %s", what)
	}
}

// What a role may call because it may use the schema is what it was granted: nothing is left to everybody.
func TestNoFunctionIsForEverybody(t *testing.T) {
	conn := connect(t, migrated(t))
	const query = `SELECT coalesce(string_agg(p.oid::regprocedure::text, ', '), '') FROM pg_proc p
WHERE p.pronamespace = 'belfry'::regnamespace AND has_function_privilege('public', p.oid, 'EXECUTE')`
	if open := value[string](t, conn, query); open != "" {
		t.Errorf("these need a line REVOKE ALL ON FUNCTION … FROM PUBLIC in their migration: %s", open)
	}
}

// A role that works on the tables, and does not own them, may call what the statements call, also after a migration that
// takes the functions from everybody else.
func TestProgramThatDoesNotOwnTheTables(t *testing.T) {
	address := must(url.Parse(testenv.Postgres(t)))
	conn := connect(t, address.String())
	role := newRole(t, conn)
	if err := postgres.MigrateTo(t.Context(), address.String(), 8); err != nil {
		t.Fatal(err)
	}
	script(t, conn, "ALTER ROLE "+role+" LOGIN PASSWORD 'program'; GRANT USAGE, CREATE ON SCHEMA belfry TO "+role+"; GRANT ALL ON ALL TABLES IN SCHEMA belfry TO "+role+"; GRANT ALL ON ALL SEQUENCES IN SCHEMA belfry TO "+role+
		"; ALTER DEFAULT PRIVILEGES IN SCHEMA belfry GRANT ALL ON TABLES TO "+role)
	if err := postgres.Migrate(t.Context(), address.String()); err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword(role, "program")
	store := open(t, address.String())
	out, err := store.Submit(t.Context(), []core.NewJob{{Type: "a", MaxAttempts: 1, DedupeKey: "k"}})
	if err != nil {
		t.Fatal(err)
	}
	claimed, err := store.ClaimDue(t.Context(), core.ClaimRequest{WorkerID: "w", ClaimID: 1, Lease: time.Minute, Quotas: []core.Quota{{Priority: core.Default, Type: "a", Limit: 1}}})
	if err != nil || len(claimed.Jobs) != 1 || claimed.Jobs[0].ID != out[0].ID {
		t.Fatalf("claim: %+v, %v", claimed, err)
	}
	end := core.End{Ref: core.Ref{ID: out[0].ID, Token: claimed.Jobs[0].LeaseToken}, Outcome: core.EndFail, Errors: []core.AttemptError{{Attempt: 1, Error: "no"}}}
	if answers, err := store.Finish(t.Context(), []core.End{end}); err != nil || answers[0].Status != core.Failed {
		t.Errorf("fail: %+v, %v", answers, err)
	}
	if _, err := store.WatchFailures(t.Context()); err != nil {
		t.Error(err)
	}
	if err := store.AddRollups(t.Context(), 1, []core.Rollup{{Minute: time.Now().Add(-time.Hour).Truncate(time.Minute), Priority: core.Default, Type: "a", Starts: 1}}); err != nil {
		t.Error(err)
	}
}
