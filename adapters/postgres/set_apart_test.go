package postgres_test

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// The function names the rows that raise an error when they alone are worked on, and leaves all as they are.
func TestRowFaults(t *testing.T) {
	address := migrated(t)
	conn := connect(t, address)
	run := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	run(`INSERT INTO belfry.jobs (id, type, run_at, payload)
		SELECT i, CASE i WHEN 4 THEN 'refused' WHEN 5 THEN 'late' ELSE 'a' END, now(),
		       CASE WHEN i = 2 THEN (SELECT json_agg(md5(random()::text)) FROM generate_series(1, 500)) ELSE '1' END
		FROM generate_series(1, 6) AS i`)
	testenv.LoseToast(t, conn, "belfry.jobs", 2)
	run(`CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not this one'; END $$`)
	run(`CREATE TRIGGER refuse BEFORE UPDATE ON belfry.jobs FOR EACH ROW WHEN (old.type = 'refused') EXECUTE FUNCTION public.refuse()`)
	run(`CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON belfry.jobs DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.type = 'late') EXECUTE FUNCTION public.refuse()`)
	before := rowsOf(t, conn)
	for act, want := range map[string]map[int64]string{
		"start": {2: "XX001", 4: "P0001", 5: "P0001"}, "dispatch": {4: "P0001", 5: "P0001"}, "beat": {4: "P0001", 5: "P0001"},
	} {
		rows, err := conn.Query(t.Context(), `SELECT id, type, code, error FROM belfry.row_faults(ARRAY[1, 2, 3, 4, 5, 6, 99], $1)`, act)
		if err != nil {
			t.Fatal(err)
		}
		got := map[int64]string{}
		var id int64
		var typ, code, text string
		if _, err := pgx.ForEachRow(rows, []any{&id, &typ, &code, &text}, func() error {
			if got[id] = code; typ == "" || text == "" {
				t.Errorf("%s: job %d of type %q: %q", act, id, typ, text)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Errorf("%s: got %v, want %v", act, got, want)
		}
		for id, code := range want {
			if got[id] != code {
				t.Errorf("%s: job %d: %q, want %s", act, id, got[id], code)
			}
		}
	}
	if after := rowsOf(t, conn); after != before {
		t.Errorf("the rows were changed:\n%s\n%s", before, after)
	}
}

// rowsOf writes what live rows hold, their payloads left out.
func rowsOf(t *testing.T, conn *pgx.Conn) (text string) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), `SELECT string_agg(id || ' ' || status || ' ' || attempts || ' ' || lease_token || ' ' || lease_until, ', ' ORDER BY id) FROM belfry.jobs`).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

// A job of which a value cannot be read is listed, shown and cancelled, and a dead letter discarded, without that value; both are
// named, and the others are shown whole.
func TestUnreadableValues(t *testing.T) {
	address := migrated(t)
	conn := connect(t, address)
	store := open(t, address)
	run := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	const payload = `(SELECT json_agg(md5((i * 1000 + k)::text)) FROM generate_series(1, 500) AS k)`
	run(`INSERT INTO belfry.jobs (id, type, run_at, status, lease_until, reap_at, payload) SELECT i, 'a', now(), CASE WHEN i > 130 THEN 3 ELSE 1 END,
		now() + interval '1 minute', now() + interval '1 minute', ` + payload + ` FROM generate_series(11, 140) AS i`)
	run(`INSERT INTO belfry.dead_letters (id, run_at, created_at, finished_at, lease_token, ended_token, claim_id, dispatch_fence,
		attempts, max_attempts, snoozes, dispatches, status, priority, type, tenant, payload)
		SELECT i, now(), now(), now(), 1, 0, 0, 0, 1, 1, 0, 0, 5, 2, 'a', '', ` + payload + ` FROM generate_series(1, 3) AS i`)
	bad := []int64{2, 12, 77, 135}
	testenv.LoseToast(t, conn, "belfry.dead_letters", 2)
	for _, id := range bad[1:] {
		testenv.LoseToast(t, conn, "belfry.jobs", id)
	}
	shown := func(jobs []core.Job) {
		t.Helper()
		for _, j := range jobs {
			if slices.Contains(bad, j.ID) != (j.Unreadable != "") || (j.Payload == nil) != (j.Unreadable != "") || j.Type != "a" {
				t.Errorf("job %d: %q, %d bytes", j.ID, j.Unreadable, len(j.Payload))
			}
		}
	}
	for name, q := range map[string]core.ListQuery{
		"all": {Limit: 1000}, "pages": {Limit: 7}, "bytes": {Limit: 1000, Bytes: 100_000}, "running": {Statuses: []core.Status{core.Running}, Limit: 5},
		"type": {Type: "a", Limit: 100}, "dead": {Statuses: []core.Status{core.Failed}, Type: "a", Limit: 2},
	} {
		want := map[string]int{"running": 10, "dead": 3}[name]
		if want == 0 {
			want = 133
		}
		var jobs []core.Job
		for more := true; more; more = q.Before != 0 {
			page := must(store.List(t.Context(), q))
			jobs, q.Before = append(jobs, page.Jobs...), page.Next
			if len(page.Jobs) > q.Limit || q.Bytes > 0 && len(page.Jobs) > 30 {
				t.Errorf("%s: a page of %d", name, len(page.Jobs))
			}
		}
		if shown(jobs); len(jobs) != want || !slices.IsSortedFunc(jobs, func(a, b core.Job) int { return cmp.Compare(b.ID, a.ID) }) {
			t.Errorf("%s: %d jobs, want %d", name, len(jobs), want)
		}
	}
	var named []int64
	for _, fault := range must(store.Apart(t.Context(), 100)) {
		if named = append(named, fault.ID); (fault.Kind == core.ApartDead) != (fault.ID == 2) || fault.Error == "" {
			t.Errorf("%+v", fault)
		}
	}
	if slices.Sort(named); !slices.Equal(named, bad) {
		t.Errorf("%v are named, want %v", named, bad)
	}
	for _, id := range bad {
		shown([]core.Job{must(store.Get(t.Context(), id))})
	}
	for id, want := range map[int64]core.Status{12: core.Cancelled, 77: core.Cancelled, 135: core.Running} {
		if got := must(store.Cancel(t.Context(), id)); got.Status != want || got.CancelWanted != (want == core.Running) {
			t.Errorf("job %d is %s", id, got.Status)
		}
	}
	if list := must(store.Redrive(t.Context(), core.DeadQuery{Type: "a"}, 10, core.Pace{})); len(list) != 3 || !errors.Is(list[1].Err, core.ErrRow) || list[0].Err != nil || list[2].Err != nil {
		t.Errorf("redriven: %+v", list)
	}
	if n := must(store.Discard(t.Context(), core.DeadQuery{IDs: []int64{2}}, 10)); n.N != 1 {
		t.Errorf("%+v", n)
	}
}
