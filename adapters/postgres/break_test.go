package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/core/storetest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// breaks are what makes jobs of a type raise an error: the statements, with a name of their own in {name} and the type in
// {type}. What they make is dropped with the function.
var breaks = map[storetest.Break]string{
	storetest.BreakChange: `CREATE TRIGGER {name} BEFORE UPDATE ON belfry.jobs FOR EACH ROW WHEN (old.type = '{type}') EXECUTE FUNCTION public.{name}()`,
	storetest.BreakCommit: `CREATE CONSTRAINT TRIGGER {name} AFTER UPDATE ON belfry.jobs DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.type = '{type}') EXECUTE FUNCTION public.{name}()`,
	storetest.BreakRemove: `CREATE TRIGGER {name} BEFORE DELETE ON belfry.jobs FOR EACH ROW WHEN (old.type = '{type}') EXECUTE FUNCTION public.{name}()`,
	storetest.BreakDone:   `CREATE TRIGGER {name} BEFORE INSERT ON belfry.job_history FOR EACH ROW WHEN (new.type = '{type}') EXECUTE FUNCTION public.{name}()`,
	storetest.BreakDrop:   `CREATE TRIGGER {name} BEFORE DELETE ON belfry.dead_letters FOR EACH ROW WHEN (old.type = '{type}') EXECUTE FUNCTION public.{name}()`,
	storetest.BreakInsert: `CREATE TRIGGER {name} BEFORE INSERT ON belfry.jobs FOR EACH ROW WHEN (new.type = '{type}') EXECUTE FUNCTION public.{name}()`,
}

// Break makes a job raise an error; see storetest.Breaker.
func (db *database) Break(t *testing.T, how storetest.Break, id int64) (mend func()) {
	t.Helper()
	conn := db.connect(t)
	run := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(context.WithoutCancel(t.Context()), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	switch how {
	case storetest.BreakPayload:
		loseToast(t, conn, id)
		return func() { run("UPDATE belfry.jobs SET payload = '{}' WHERE id = $1", id) }
	case storetest.BreakTwin:
		run(`INSERT INTO belfry.dead_letters (id, run_at, created_at, finished_at, lease_token, ended_token, claim_id, dispatch_fence, attempts, max_attempts, snoozes,
			dispatches, status, priority, type, tenant, payload) VALUES ($1, now(), now(), now(), 1, 0, 0, 0, 1, 1, 0, 0, 5, 2, 'twin', '', '{}')`, id)
		return func() { run("DELETE FROM belfry.dead_letters WHERE id = $1 AND type = 'twin'", id) }
	}
	text, ok := breaks[how]
	body := "RAISE EXCEPTION 'not of this type'"
	if how == storetest.BreakIgnore {
		text, ok, body = breaks[storetest.BreakChange], true, "RETURN NULL"
	}
	if !ok {
		return nil
	}
	var typ string
	if err := conn.QueryRow(t.Context(), "SELECT type FROM belfry.jobs WHERE id = $1 UNION ALL SELECT type FROM belfry.dead_letters WHERE id = $1", id).Scan(&typ); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("refuse_%d", id)
	run(fmt.Sprintf("CREATE FUNCTION public.%s() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN %s; END $$", name, body))
	run(strings.NewReplacer("{name}", name, "{type}", typ).Replace(text))
	mended := false
	mend = func() {
		if !mended {
			mended = true
			run(fmt.Sprintf("DROP FUNCTION public.%s() CASCADE", name))
		}
	}
	t.Cleanup(mend)
	return mend
}

// loseToast deletes the part of a job's payload that the server keeps out of line, so that reading it raises an error. The
// test needs the extension pg_surgery.
func loseToast(t *testing.T, conn *pgx.Conn, id int64) {
	t.Helper()
	loseToastOf(t, conn, "belfry.jobs", id)
}

// loseToastOf is loseToast of a row of another table.
func loseToastOf(t *testing.T, conn *pgx.Conn, table string, id int64) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), `CREATE EXTENSION IF NOT EXISTS pg_surgery`); err != nil {
		testenv.NotInstalled(t, "pg_surgery", err)
	}
	_, err := conn.Exec(t.Context(), fmt.Sprintf(`
DO $$
DECLARE
    apart  regclass := (SELECT reltoastrelid FROM pg_class WHERE oid = '%[2]s'::regclass);
    before oid[];
    places tid[];
    kept   text := (SELECT payload FROM %[2]s WHERE id = %[1]d);
BEGIN
    -- Written anew it has an id among the values kept apart that no other has.
    EXECUTE format('SELECT array_agg(DISTINCT chunk_id) FROM %%s', apart) INTO before;
    UPDATE %[2]s SET payload = ('[' || kept || ']')::json WHERE id = %[1]d;
    EXECUTE format('SELECT array_agg(ctid) FROM %%s WHERE chunk_id <> ALL ($1)', apart) INTO places USING before;
    PERFORM heap_force_kill(apart, places);
END
$$`, id, table))
	if err != nil {
		t.Fatal(err)
	}
	var text string
	if err := conn.QueryRow(t.Context(), "SELECT payload FROM "+table+" WHERE id = $1", id).Scan(&text); err == nil {
		t.Fatal("the payload can still be read")
	}
}
