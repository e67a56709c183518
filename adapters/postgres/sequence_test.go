package postgres_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/pgserver"
)

func serverOptions() pgserver.Options { return pgserver.Options{} }

// Every sequence of the schema is among those that are compared with their rows.
func TestEverySequenceIsCompared(t *testing.T) {
	address := migrated(t)
	admin := connect(t, address)
	rows := must(admin.Query(t.Context(), "SELECT c.relname::text FROM pg_class c WHERE c.relnamespace = 'belfry'::regnamespace AND c.relkind = 'S'"))
	count := 0
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		count++
		if !strings.Contains(postgres.ComparedSequences, "belfry."+name+"'") && !strings.Contains(postgres.ComparedSequences, "belfry."+strings.TrimSuffix(name, "_id_seq")+"'") {
			t.Errorf("%s is not compared with the rows that have its numbers", name)
		}
	}
	if err := rows.Err(); err != nil || count < 4 {
		t.Errorf("%d sequences, %v", count, err)
	}
}

// After a restore that left sequences behind their rows no id is given twice, wherever the row with the highest id is.
func TestSequencesBehindTheirRows(t *testing.T) {
	insert := func(table, status string) string { return endedRow(table, "7001", status) }
	for name, rows := range map[string]string{
		"a live job":            "INSERT INTO belfry.jobs (id, type, run_at) VALUES (7001, 'a', now() + interval '1 h')",
		"a done job":            insert("job_history", "4"),
		"in the overflow":       insert("job_history_overflow", "4"),
		"a dead letter":         insert("dead_letters", "5"),
		"damaged rows beside":   "INSERT INTO belfry.jobs (id, type, run_at) VALUES (7001, 'a', now() + interval '1 h'), (9223372036854775807, 'a', now() + interval '1 h')",
		"a schedule's":          "INSERT INTO belfry.schedules (id, tenant, name, type, rule, created_at, updated_at, anchor, accounted) VALUES (7001, '', 's', 'a', '{}', now(), now(), now(), now())",
		"a ledger's":            "INSERT INTO belfry.occurrences (schedule_id, from_at, to_at, count, outcome, at) VALUES (7001, now(), now(), 1, 'fired', now())",
		"an alert's":            "INSERT INTO belfry.alerts (id, kind, tenant, subject, detail, raised_at) OVERRIDING SYSTEM VALUE VALUES (7001, 'k', '', 's', 'd', now())",
		"a note of a failure's": "INSERT INTO belfry.failure_notes (id, type, error_group, count, newest, at) OVERRIDING SYSTEM VALUE VALUES (7001, 'a', 'g', 1, 1, now())",
	} {
		t.Run(name, func(t *testing.T) {
			address := migrated(t)
			admin := connect(t, address)
			script(t, admin, rows)
			d, err := postgres.Diagnose(t.Context(), address)
			if err != nil || !slices.ContainsFunc(d.Faults(), func(f postgres.Fault) bool {
				return strings.Contains(f.Advice, "setval('belfry.") && strings.Contains(f.Advice, "7001")
			}) {
				t.Errorf("doctor: %+v, %v", d.Faults(), err)
			}
			store, told := openWarned(t, address)
			if !told.have("7001") {
				t.Errorf("the log has %q", told.texts)
			}
			for _, sequence := range []string{"belfry.job_ids", "belfry.schedule_ids", "pg_get_serial_sequence('belfry.alerts', 'id')", "pg_get_serial_sequence('belfry.failure_notes', 'id')"} {
				if !strings.HasPrefix(sequence, "pg_get") {
					sequence = "'" + sequence + "'"
				}
				if next := value[int64](t, admin, "SELECT nextval("+sequence+")"); next != 1 && next != 7002 {
					t.Errorf("%s gives %d", sequence, next)
				}
			}
			out := must(store.Submit(t.Context(), []core.NewJob{{Type: "a"}}))
			if id := out[0].ID; id == 7001 || id > 7003 {
				t.Errorf("the next job has id %d", id)
			}
		})
	}
}

// It is looked for while the store is used, too: a restore may happen under it.
func TestSequenceThatIsPutBackUnderARunningStore(t *testing.T) {
	address := migrated(t)
	store, _ := openWarned(t, address)
	admin := connect(t, address)
	first := must(store.Submit(t.Context(), []core.NewJob{{Type: "a"}, {Type: "a"}}))
	script(t, admin, "SELECT setval('belfry.job_ids', 1, false)")
	if _, err := store.Maintain(t.Context(), core.MaintainRequest{}); err != nil {
		t.Fatal(err)
	}
	if out := must(store.Submit(t.Context(), []core.NewJob{{Type: "a"}})); out[0].ID <= first[1].ID {
		t.Errorf("id %d is given again", out[0].ID)
	}
}

// A role that may not put a sequence right does not start, and says what to run.
func TestSequenceThatThisRoleMayNotMend(t *testing.T) {
	address := migrated(t)
	admin := connect(t, address)
	role := "seq_" + newName()
	limited := asOwnerNamed(t, admin, address, role)
	script(t, admin, "ALTER SEQUENCE belfry.job_ids OWNER TO postgres; GRANT USAGE ON SEQUENCE belfry.job_ids TO "+role)
	script(t, admin, "INSERT INTO belfry.jobs (id, type, run_at) VALUES (7001, 'a', now())")
	_, err := postgres.Open(t.Context(), limited, postgres.Options{})
	if !errors.Is(err, core.ErrUnsafe) || !strings.Contains(err.Error(), "SELECT setval('belfry.job_ids', 7001)") {
		t.Fatalf("%v", err)
	}
	script(t, admin, "SELECT setval('belfry.job_ids', 7001)")
	store, err := postgres.Open(t.Context(), limited, postgres.Options{ConnectTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}
