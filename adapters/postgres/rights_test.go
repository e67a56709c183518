package postgres_test

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
)

// unneeded are the rights that a program which works on the tables can do without, by kind: what only migrations, functions
// that run as the owner, or nobody does.
var unneeded = []string{
	"INSERT ON TABLE belfry.migrations", "UPDATE ON TABLE belfry.migrations", "DELETE ON TABLE belfry.migrations",
	"ON TABLE belfry.schema_versions", "ON TABLE belfry.installations",
	"UPDATE ON TABLE belfry.job_history", "DELETE ON TABLE belfry.job_history", "DELETE ON TABLE belfry.job_types",
	"INSERT ON TABLE belfry.scheduler_leases", "DELETE ON TABLE belfry.scheduler_leases",
	"UPDATE ON TABLE belfry.secrets", "DELETE ON TABLE belfry.secrets", "UPDATE ON TABLE belfry.tokens",
}

// grantable are all rights of a program on the schema: on each table that is no partition, each sequence that is not part of a
// table, and each function that somebody else than functions of the owner calls.
const grantable = `
    SELECT 'USAGE ON SCHEMA belfry'
    UNION ALL
    SELECT r.name || ' ON TABLE belfry.' || c.relname FROM pg_class c CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS r (name)
    WHERE  c.relnamespace = 'belfry'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    UNION ALL
    SELECT 'USAGE ON SEQUENCE belfry.' || c.relname FROM pg_class c WHERE c.relnamespace = 'belfry'::regnamespace AND c.relkind = 'S'
    AND    NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'i')
    UNION ALL
    SELECT 'EXECUTE ON FUNCTION belfry.' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')' FROM pg_proc p
    WHERE  p.pronamespace = 'belfry'::regnamespace AND p.proname IN ('add_up', 'drop_ledger_months', 'error_group', 'installations_here', 'last_error', 'make_history_day',
           'make_ledger_month', 'row_faults', 'start_again')`

// grantees makes a role that owns nothing and may sign in, and returns it, its address, and the session of who grants.
func grantee(t *testing.T) (admin *pgx.Conn, role, address string) {
	t.Helper()
	u := must(url.Parse(migrated(t)))
	admin = connect(t, u.String())
	role = newRole(t, admin)
	script(t, admin, "ALTER ROLE "+role+" LOGIN PASSWORD 'grantee'")
	u.User = url.UserPassword(role, "grantee")
	return admin, role, u.String()
}

func rightsToGrant(t *testing.T, admin *pgx.Conn) []string {
	t.Helper()
	rows, err := admin.Query(t.Context(), grantable)
	if err != nil {
		t.Fatal(err)
	}
	return must(pgx.CollectRows(rows, pgx.RowTo[string]))
}

// Whichever right a program lacks, readiness, the log and doctor name it, and what it does not need they do not ask for.
func TestEachMissingRightIsNamed(t *testing.T) {
	admin, role, address := grantee(t)
	rights := rightsToGrant(t, admin)
	for _, right := range rights {
		script(t, admin, "GRANT "+right+" TO "+role)
	}
	store, told := openWarned(t, address)
	if _, err := store.FindTokens(t.Context(), nil); err != nil { // it answers callers
		t.Fatal(err)
	}
	if err := store.Ping(t.Context()); err != nil {
		t.Fatalf("with all rights: %v", err)
	}
	for _, right := range rights {
		script(t, admin, "REVOKE "+right+" FROM "+role)
		err := store.Ping(t.Context())
		d, failed := postgres.Diagnose(t.Context(), address)
		if failed != nil {
			t.Errorf("without %s: doctor: %v", right, failed)
		}
		inDoctor := slices.ContainsFunc(d.Faults(), func(f postgres.Fault) bool { return strings.Contains(f.Text, right) })
		if slices.ContainsFunc(unneeded, func(u string) bool { return strings.HasSuffix(right, u) }) {
			if err != nil || inDoctor {
				t.Errorf("without %s, which nothing needs: readiness: %v, doctor: %+v", right, err, d.Faults())
			}
		} else if !errors.Is(err, core.ErrRights) || !errors.Is(err, core.ErrReadOnly) || !strings.Contains(core.AdviceOf(err), right) || !told.have(right) || !inDoctor {
			t.Errorf("without %s: readiness: %v, told: %t, doctor: %+v", right, err, told.have(right), d.Faults())
		}
		script(t, admin, "GRANT "+right+" TO "+role)
		if err := store.Ping(t.Context()); err != nil {
			t.Errorf("with %s again: %v", right, err)
		}
	}
}

// A program that starts without any right says which it needs, and with those it may send each statement that it has.
func TestRightsThatAreNamedSuffice(t *testing.T) {
	admin, role, address := grantee(t)
	_, err := postgres.Open(t.Context(), address, postgres.Options{})
	if !errors.Is(err, core.ErrRights) || !strings.Contains(core.AdviceOf(err), "USAGE ON SCHEMA belfry") {
		t.Fatalf("without rights: %v", err)
	}
	_, list, _ := strings.Cut(core.AdviceOf(err), "it lacks ")
	for right := range strings.SplitSeq(list, "; ") {
		script(t, admin, "GRANT "+right+" TO "+role)
	}
	store := open(t, address)
	if _, err := store.ListTokens(t.Context(), "", 1); !errors.Is(err, core.ErrRights) {
		t.Errorf("tokens, which were not named to one that answers nobody: %v", err)
	}
	_, list, _ = strings.Cut(core.AdviceOf(store.Ping(t.Context())), "it lacks ")
	for right := range strings.SplitSeq(list, "; ") {
		script(t, admin, "GRANT "+right+" TO "+role)
	}
	if err := store.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	conn := connect(t, address)
	all := must(postgres.Statements())
	looked := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		_, err := conn.Exec(t.Context(), "PREPARE it AS "+all[name])
		if hasState(err, "42P18") { // the clock's offset, which this one does not use
			_, err = conn.Exec(t.Context(), "PREPARE it (interval) AS "+all[name])
		}
		if hasState(err, "42601") {
			continue // no statement that reads or writes tables
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n := value[int](t, conn, "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'it'")
		nulls := ""
		if n > 0 {
			nulls = "(" + strings.TrimSuffix(strings.Repeat("NULL, ", n), ", ") + ")"
		}
		if _, err := conn.Exec(t.Context(), "EXPLAIN EXECUTE it"+nulls); err != nil && (!slices.Contains([]string{"submit_in_tx", "lease_make"}, name) || !hasState(err, "42501")) {
			t.Errorf("%s: %v", name, err)
		}
		script(t, conn, "DEALLOCATE it")
		looked++
	}
	if looked < len(all)*9/10 {
		t.Errorf("only %d of %d statements could be looked at", looked, len(all))
	}
}

func hasState(err error, state string) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && server.Code == state
}

// A worker's role has no hold of what belongs to callers, and is whole without it.
func TestRoleThatAnswersNobody(t *testing.T) {
	admin, role, address := grantee(t)
	for _, right := range rightsToGrant(t, admin) {
		script(t, admin, "GRANT "+right+" TO "+role)
	}
	script(t, admin, "REVOKE ALL ON belfry.tokens, belfry.idempotency_keys FROM "+role)
	store := open(t, address)
	if err := store.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	script(t, admin, "GRANT SELECT, INSERT, DELETE ON belfry.tokens TO "+role) // so it answers callers
	if err := store.Ping(t.Context()); !strings.Contains(core.AdviceOf(err), "ON TABLE belfry.idempotency_keys") {
		t.Errorf("%v", err)
	}
}
