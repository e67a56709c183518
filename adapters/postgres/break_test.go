package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core/storetest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// breaks are what makes jobs of a type raise an error: the statements, with a name of their own in {name} and the type in
// {type}. What they make is dropped with the function.
var breaks = map[storetest.Break]string{
	storetest.BreakChange: `CREATE TRIGGER {name} BEFORE UPDATE ON belfry.jobs FOR EACH ROW WHEN (old.type = '{type}') EXECUTE FUNCTION public.{name}()`,
	storetest.BreakCommit: `CREATE CONSTRAINT TRIGGER {name} AFTER UPDATE ON belfry.jobs DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.type = '{type}') EXECUTE FUNCTION public.{name}()`,
	storetest.BreakRemove: `CREATE TRIGGER {name} BEFORE DELETE ON belfry.jobs FOR EACH ROW WHEN (old.type = '{type}') EXECUTE FUNCTION public.{name}()`,
	storetest.BreakNote:   `CREATE TRIGGER {name} BEFORE INSERT ON belfry.failure_notes FOR EACH ROW WHEN (new.type = '{type}') EXECUTE FUNCTION public.{name}()`,
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
		testenv.LoseToast(t, conn, "belfry.jobs", id)
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
