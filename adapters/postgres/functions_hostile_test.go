package postgres_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/internal/rulestest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// newRole makes a role for this test that the connection can become.
func newRole(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	role := "someone_" + strconv.FormatInt(time.Now().UnixNano(), 36)
	script(t, conn, "CREATE ROLE "+role)
	t.Cleanup(func() { script(t, conn, "RESET ROLE; DROP OWNED BY "+role+"; DROP ROLE "+role) })
	return role
}

// traps stand in the caller's schemas under the names of everything the functions use; each tells that it was called.
const traps = `
CREATE SCHEMA trap;
CREATE TABLE trap.sprung (what text);
GRANT ALL ON SCHEMA trap TO PUBLIC;
GRANT ALL ON trap.sprung TO PUBLIC;
CREATE FUNCTION trap.octet_length(text) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN INSERT INTO trap.sprung VALUES ('octet_length'); RETURN 1; END $$;
CREATE FUNCTION trap.strpos(text, text) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN INSERT INTO trap.sprung VALUES ('strpos'); RETURN 0; END $$;
CREATE FUNCTION trap.now() RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN INSERT INTO trap.sprung VALUES ('now'); RETURN '2000-01-01'; END $$;
CREATE FUNCTION trap.nextval(text) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN INSERT INTO trap.sprung VALUES ('nextval'); RETURN 1; END $$;
CREATE FUNCTION trap.isfinite(interval) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN INSERT INTO trap.sprung VALUES ('isfinite'); RETURN true; END $$;
CREATE FUNCTION trap.split_part(text, text, integer) RETURNS text LANGUAGE plpgsql AS $$ BEGIN INSERT INTO trap.sprung VALUES ('split_part'); RETURN ''; END $$;
CREATE FUNCTION trap.json_typeof(json) RETURNS text LANGUAGE plpgsql AS $$ BEGIN INSERT INTO trap.sprung VALUES ('json_typeof'); RETURN 'object'; END $$;
CREATE FUNCTION trap.always(text, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN INSERT INTO trap.sprung VALUES ('operator'); RETURN true; END $$;
CREATE OPERATOR trap.~ (LEFTARG = text, RIGHTARG = text, FUNCTION = trap.always);
CREATE OPERATOR trap.= (LEFTARG = text, RIGHTARG = text, FUNCTION = trap.always);
CREATE OPERATOR trap.!~ (LEFTARG = text, RIGHTARG = text, FUNCTION = trap.always);
SET search_path = trap, pg_temp, pg_catalog;
CREATE TEMP TABLE jobs (id bigint); CREATE TEMP TABLE job_types (type text, max_attempts integer, timeout bigint, backoff bigint[], delivered boolean, defined_at timestamptz);
SET standard_conforming_strings = off; SET escape_string_warning = off; SET backslash_quote = on; SET transform_null_equals = on; SET array_nulls = off; SET plpgsql.variable_conflict = 'use_variable';
`

// Whatever the caller set, whatever stands in his schemas: the functions do what they do, and run nothing of his with
// their owner's rights.
func TestFunctionsInAHostileSession(t *testing.T) {
	address := migrated(t)
	conn := connect(t, address)
	role := newRole(t, conn)
	script(t, conn, "GRANT USAGE ON SCHEMA belfry TO "+role+"; GRANT EXECUTE ON FUNCTION belfry.submit, belfry.submit_job, belfry.cancel TO "+role)
	script(t, conn, traps)
	script(t, conn, "SET ROLE "+role)
	now, rows := time.Now(), 0
	for _, c := range rulestest.Cases(now) {
		if c.Call == "" || c.BadValue || c.Job == nil {
			continue
		}
		rows++
		_, err := submitJob(t.Context(), conn, c.Call, c.Values...)
		if c.Field != "" {
			checkRefused(t, c, now, err)
		} else if err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	id := must(submitJob(t.Context(), conn, `'a'`)).id
	if word := value[string](t, conn, `SELECT belfry.cancel($1)`, id); word != "cancelled" {
		t.Errorf("cancel said %q", word)
	}
	script(t, conn, "RESET ROLE")
	if what := value[string](t, conn, `SELECT coalesce(string_agg(what, ', '), '') FROM trap.sprung`); what != "" {
		t.Errorf("traps were sprung: %s", what)
	}
	if rows < 120 {
		t.Errorf("%d rows", rows)
	}
}

// Names are told apart as bytes, whatever collation the caller's values bring along.
func TestFunctionsTakeNoCollation(t *testing.T) {
	address := migrated(t)
	conn := connect(t, address)
	if value[int](t, conn, `SELECT count(*) FROM pg_collation WHERE collprovider = 'i'`) == 0 {
		testenv.NotInstalled(t, "icu", errors.New("the server was built without it"))
	}
	script(t, conn, `CREATE COLLATION belfry.loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`)
	const call = `$1::text COLLATE belfry.loose, priority => $2::text COLLATE belfry.loose, tenant => $3::text COLLATE belfry.loose, dedupe_key => $4::text COLLATE belfry.loose,
		tags => ARRAY[$4::text COLLATE belfry.loose], traceparent => '' COLLATE belfry.loose`
	first := must(submitJob(t.Context(), conn, call, "a", "bulk", "x", "k"))
	if second := must(submitJob(t.Context(), conn, call, "a", "bulk", "X", "k")); second.duplicate || second.id == first.id {
		t.Errorf("another tenant's key: %+v", second)
	}
	if again := must(submitJob(t.Context(), conn, call, "a", "bulk", "x", "k")); !again.duplicate {
		t.Errorf("the same key: %+v", again)
	}
	_, err := submitJob(t.Context(), conn, call, "a", "BULK", "x", "k2")
	if e := refusal(t, err); e.ColumnName != "priority" {
		t.Errorf("another case: %v", e)
	}
}

// The rights that docs/sql.md names are enough, each is needed, and none of them opens a table.
func TestFunctionsNeedNoRightOnTables(t *testing.T) {
	address := migrated(t)
	conn := connect(t, address)
	role := newRole(t, conn)
	as := func(sql string) error {
		script(t, conn, "SET ROLE "+role)
		defer script(t, conn, "RESET ROLE")
		_, err := conn.Exec(context.WithoutCancel(t.Context()), sql, pgx.QueryExecModeSimpleProtocol)
		return err
	}
	const submit = `SELECT belfry.submit('a', target => '{"url":"https://x"}', timeout => '1 s', backoff => '{1s}', tags => '{x}', dedupe_key => 'k', run_at => now())`
	for _, grant := range []struct{ right, opens string }{
		{"USAGE ON SCHEMA belfry", ""},
		{"EXECUTE ON FUNCTION belfry.submit", submit},
		{"EXECUTE ON FUNCTION belfry.submit_job", strings.ReplaceAll(submit, "submit(", "submit_job(")},
		{"EXECUTE ON FUNCTION belfry.cancel", `SELECT belfry.cancel(max(belfry.submit('b'))) FROM generate_series(1, 1)`},
	} {
		if grant.opens != "" && refusal(t, as(grant.opens)).Code != "42501" {
			t.Errorf("it works without %s", grant.right)
		}
		script(t, conn, "GRANT "+grant.right+" TO "+role)
		if grant.opens != "" {
			if err := as(grant.opens); err != nil {
				t.Errorf("with %s: %v", grant.right, err)
			}
		}
	}
	for _, sql := range []string{
		"SELECT FROM belfry.jobs", "SELECT nextval('belfry.job_ids')", "DELETE FROM belfry.jobs", "SELECT FROM belfry.secrets", "SELECT belfry.mark_delivered('a')",
		"SELECT belfry.end_cancelled(1, 'dead_letters')", "SELECT belfry.json_depth('[]')", "UPDATE belfry.job_types SET delivered = true",
	} {
		if e := refusal(t, as(sql)); e.Code != "42501" {
			t.Errorf("%s: %v", sql, e)
		}
	}
}
