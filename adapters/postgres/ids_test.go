package postgres_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
)

// A row whose id is the last number there is, in whichever table, and a sequence that stands there stop nothing: ids go on
// below it, and the row is named.
func TestLastIDStopsNothing(t *testing.T) {
	const last = "9223372036854775807"
	for name, damage := range map[string]struct{ statement, named string }{
		"a live job":           {"UPDATE belfry.jobs SET id = " + last + " WHERE id = 2", "damaged job " + last + " (a)"},
		"a done job":           {endedRow("job_history", last, "4"), "damaged history " + last + " (a)"},
		"a dead letter":        {endedRow("dead_letters", last, "5"), "damaged dead_letter " + last + " (a)"},
		"a schedule":           {"UPDATE belfry.schedules SET id = " + last + " WHERE name = 'second'", "damaged schedule " + last + " (second)"},
		"an alert":             {"INSERT INTO belfry.alerts (id, kind, tenant, subject, detail, raised_at) OVERRIDING SYSTEM VALUE VALUES (" + last + ", 'k', '', 'x', 'd', now())", "damaged alert " + last + " (k)"},
		"a schedule far ahead": {"UPDATE belfry.schedules SET next_due = 'infinity' WHERE name = 'second'", "damaged schedule 2 (second)"},
		"a token's role":       {"UPDATE belfry.tokens SET role = 'root'", "damaged token t1 (n)"},
		"the sequences": {"SELECT setval('belfry.job_ids', " + last + "), setval('belfry.schedule_ids', " + last + "), setval(pg_get_serial_sequence('belfry.alerts', 'id'), " + last +
			"), setval(pg_get_serial_sequence('belfry.failure_notes', 'id'), " + last + ")", ""},
	} {
		t.Run(name, func(t *testing.T) {
			address := migrated(t)
			store, _ := openWarned(t, address)
			now := must(store.Now(t.Context()))
			add := func(store *postgres.Store, subject string) (job, schedule int64) {
				out := must(store.Submit(t.Context(), []core.NewJob{{Type: "a"}}))
				sched := must(store.CreateSchedule(t.Context(), core.Schedule{Name: subject, Rule: core.ScheduleRule{Every: 1e9, Type: "a"}, State: core.ScheduleState{Anchor: now, Accounted: now}}))
				if err := store.RaiseAlerts(t.Context(), []core.Alert{{Kind: "k", Subject: subject, Detail: "d"}}); err != nil {
					t.Fatal(err)
				}
				return out[0].ID, sched.ID
			}
			add(store, "first")
			add(store, "second")
			must(store.CreateToken(t.Context(), core.Token{ID: "t1", Name: "n", Role: core.RoleRead}))
			script(t, connect(t, address), damage.statement)
			store, _ = openWarned(t, address)
			if job, schedule := add(store, "third"); job < 2 || job > 3 || schedule < 2 || schedule > 3 {
				t.Errorf("the next job has id %d, the next schedule %d", job, schedule)
			}
			if err := store.NameDamaged(t.Context()); err != nil {
				t.Fatal(err)
			}
			var named []string
			for _, fault := range must(store.Apart(t.Context(), 10)) {
				named = append(named, fault.String())
			}
			if strings.Join(named, ", ") != damage.named {
				t.Errorf("named: %q, want %q", named, damage.named)
			}
		})
	}
}

// endedRow inserts a row of an ended job.
func endedRow(table, id, status string) string {
	return `INSERT INTO belfry.` + table + ` (id, run_at, created_at, finished_at, lease_token, ended_token, claim_id, dispatch_fence, attempts, max_attempts, snoozes, dispatches, status, priority, type, tenant, payload)
VALUES (` + id + `, now(), now(), now(), 1, 1, 0, 0, 1, 5, 0, 0, ` + status + `, 2, 'a', '', '1')`
}

// While the store runs, no id is given that a job had before, whoever puts the sequence back, and whichever call needs an id.
func TestNoIDIsGivenTwiceWhileTheStoreRuns(t *testing.T) {
	type acts = func(t *testing.T, store *postgres.Store) []int64
	once := 0
	calls := map[string]acts{
		"a job": func(t *testing.T, store *postgres.Store) []int64 {
			return []int64{must(store.Submit(t.Context(), []core.NewJob{{Type: "a"}}))[0].ID}
		},
		"a batch with keys": func(t *testing.T, store *postgres.Store) []int64 {
			once++
			key := fmt.Sprint("dedupe-", once)
			out := must(store.Submit(t.Context(), []core.NewJob{{Type: "a", DedupeKey: key}, {Type: "a"}, {Type: "a", DedupeKey: key}, {Type: "a", DedupeKey: key + "b"}}))
			if out[2].Existing == nil || out[2].ID != out[0].ID {
				t.Errorf("the same key twice: %+v", out)
			}
			return []int64{out[0].ID, out[1].ID, out[3].ID}
		},
		"under an idempotency key": func(t *testing.T, store *postgres.Store) (ids []int64) {
			for range 2 {
				once++
				key := core.IdempotencyKey{Holder: "h", Key: fmt.Sprint("once-", once), Keep: time.Hour}
				out := must(store.SubmitOnceEach(t.Context(), []core.OnceCall{{Job: core.NewJob{Type: "a"}, Key: key}}))
				if out[0].Err != nil {
					t.Fatal(out[0].Err)
				}
				ids = append(ids, out[0].Once.Jobs[0].ID)
			}
			return ids
		},
		"a run of a schedule": func(t *testing.T, store *postgres.Store) []int64 {
			sched := must(store.GetSchedule(t.Context(), "", "s"))
			out := must(store.AdvanceSchedules(t.Context(), []core.Advance{{ID: sched.ID, Version: sched.Version, Moves: sched.Moves, State: sched.State, Jobs: []core.NewJob{{Type: "a"}}}}, nil))
			if out[0].Stale {
				t.Fatalf("%+v", out)
			}
			return out[0].JobIDs
		},
	}
	back := map[string]string{
		"to live jobs":       "SELECT setval('belfry.job_ids', 1, false)",
		"to ended jobs":      "SELECT setval('belfry.job_ids', 1, false); DELETE FROM belfry.jobs",
		"by a restart":       "ALTER SEQUENCE belfry.job_ids RESTART; DELETE FROM belfry.jobs",
		"to the last number": "SELECT setval('belfry.job_ids', 9223372036854775807)",
	}
	for what, call := range calls {
		for how, statement := range back {
			t.Run(what+"/"+how, func(t *testing.T) {
				address := migrated(t)
				store, told := openWarned(t, address)
				now := must(store.Now(t.Context()))
				must(store.CreateSchedule(t.Context(), core.Schedule{Name: "s", Rule: core.ScheduleRule{Every: 1e9, Type: "a"}, State: core.ScheduleState{Anchor: now, Accounted: now}}))
				given := call(t, store)
				for _, act := range calls {
					given = append(given, act(t, store)...)
				}
				script(t, connect(t, address), statement)
				again := call(t, store)
				for _, id := range again {
					if slices.Contains(given, id) || id >= core.IDLimit {
						t.Errorf("%d is given again, of %v", id, given)
					}
				}
				if !told.have("belfry.job_ids") {
					t.Errorf("the log has %q", told.texts)
				}
			})
		}
	}
}
