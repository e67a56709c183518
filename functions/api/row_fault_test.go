package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/functions/api/problem"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// A change of one job whose row raises an error is answered with a problem that names the job and what can be done. If a value
// cannot be read it is a conflict, and what the problem advises works.
func TestChangesOfJobsWhoseRowsRaiseErrors(t *testing.T) {
	b, conn := newPostgresBench(t)
	run := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	const payload = `(SELECT json_agg(md5((i * 1000 + k)::text)) FROM generate_series(1, 500) AS k)`
	run(`INSERT INTO belfry.jobs (id, type, run_at, payload) SELECT i, CASE i WHEN 13 THEN 'refused' ELSE 'a' END, now() + interval '1 hour', ` + payload + ` FROM generate_series(11, 13) AS i`)
	run(`INSERT INTO belfry.dead_letters (id, run_at, created_at, finished_at, lease_token, ended_token, claim_id, dispatch_fence,
		attempts, max_attempts, snoozes, dispatches, status, priority, type, tenant, payload)
		SELECT i, now(), now(), now(), 1, 0, 0, 0, 1, 1, 0, 0, 5, 2, CASE i WHEN 3 THEN 'refused' ELSE 'a' END, '', ` + payload + ` FROM generate_series(1, 3) AS i`)
	testenv.LoseToast(t, conn, "belfry.jobs", 11)
	testenv.LoseToast(t, conn, "belfry.dead_letters", 1)
	run(`CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not this one'; END $$`)
	run(`CREATE TRIGGER refuse BEFORE UPDATE OR DELETE ON belfry.jobs FOR EACH ROW WHEN (old.type = 'refused') EXECUTE FUNCTION public.refuse()`)
	run(`CREATE TRIGGER refuse BEFORE UPDATE OR DELETE ON belfry.dead_letters FOR EACH ROW WHEN (old.type = 'refused') EXECUTE FUNCTION public.refuse()`)

	const when = `{"delay":"2h"}`
	const unreadable, refused = "cannot be read any more (missing chunk number 0", "remove the trigger or constraint that refuses it"
	for _, row := range []struct {
		id, act, body string
		status        int
		says          []string
	}{
		{"11", "reschedule", when, http.StatusConflict, []string{"job 11 cannot be rescheduled", unreadable, "cancel it"}},
		{"1", "retry", "", http.StatusConflict, []string{"job 1 cannot be retried", unreadable, "discard it"}},
		{"13", "reschedule", when, http.StatusInternalServerError, []string{"job 13 cannot be rescheduled", refused}},
		{"13", "cancel", "", http.StatusInternalServerError, []string{"job 13 cannot be cancelled", refused}},
		{"3", "retry", "", http.StatusInternalServerError, []string{"job 3 cannot be retried", refused}},
	} {
		p := decode[problem.Problem](t, b.change(row.id, row.act, row.body, row.status))
		if (p.Reason == "a value of the job cannot be read") != (row.status == http.StatusConflict) {
			t.Errorf("%s of %s: the reason is %q", row.act, row.id, p.Reason)
		}
		for _, text := range row.says {
			if !strings.Contains(p.Detail, text) {
				t.Errorf("%s of %s: it does not say %q: %s", row.act, row.id, text, p.Detail)
			}
		}
	}
	for _, id := range []string{"1", "3"} {
		got := decode[struct {
			Conflicts []struct{ ID, Reason string }
		}](t, b.do("POST", "/v1/dead-letters/redrive", fmt.Sprintf(`{"ids":[%q]}`, id)).want(t, http.StatusOK))
		if len(got.Conflicts) != 1 || got.Conflicts[0].ID != id || !strings.Contains(got.Conflicts[0].Reason, "discard the dead letter") {
			t.Errorf("redrive of %s: %+v", id, got)
		}
	}
	b.change("11", "cancel", "", http.StatusOK)
	if gone := decode[struct{ Discarded int }](t, b.do("DELETE", "/v1/dead-letters?id=1", "").want(t, http.StatusOK)); gone.Discarded != 1 {
		t.Errorf("%+v", gone)
	}
	b.change("12", "reschedule", when, http.StatusOK)
	b.change("2", "retry", "", http.StatusOK)
}
