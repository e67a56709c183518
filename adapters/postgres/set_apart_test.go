package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
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
	if !loseToast(t, conn, 2) {
		t.Skip("without a payload that is lost")
	}
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
