package sqlite

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

// A row whose id is the last number there is, in whichever table, and a counter that stands there stop nothing: the file opens,
// ids go on below it, and the row is named.
func TestLastIDStopsNothing(t *testing.T) {
	const last = "9223372036854775807"
	for name, damage := range map[string]struct{ statement, named string }{
		"a live job":           {"UPDATE jobs SET id = " + last + " WHERE id = 2", "damaged job " + last + " (a)"},
		"a done job":           {"UPDATE jobs SET finished_at = 1; INSERT INTO job_history SELECT * FROM jobs WHERE id = 2; UPDATE job_history SET id = " + last, "damaged history " + last + " (a)"},
		"a dead letter":        {"UPDATE jobs SET finished_at = 1; INSERT INTO dead_letters SELECT * FROM jobs WHERE id = 2; UPDATE dead_letters SET id = " + last, "damaged dead_letter " + last + " (a)"},
		"a schedule":           {"UPDATE schedules SET id = " + last + " WHERE name = 'second'", "damaged schedule " + last + " (second)"},
		"an alert":             {"UPDATE alerts SET id = " + last + " WHERE subject = 'second'", "damaged alert " + last + " (k)"},
		"the counter of jobs":  {"UPDATE meta SET value = " + last + " WHERE name = 'next_id'", ""},
		"the other counters":   {"UPDATE sqlite_sequence SET seq = " + last, ""},
		"a schedule far ahead": {"UPDATE schedules SET next_due = " + last + " WHERE name = 'second'", "damaged schedule 2 (second)"},
		"a token's role":       {"UPDATE tokens SET role = 'root'", "damaged token t1 (n)"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "belfry.db")
			store := openHere(t, path, Options{})
			add := func(store *Store, subject string) (job, schedule int64) {
				out, err := store.Submit(t.Context(), []core.NewJob{{Type: "a"}})
				if err != nil {
					t.Fatal(err)
				}
				sched, err := store.CreateSchedule(t.Context(), core.Schedule{Name: subject, Rule: core.ScheduleRule{Every: 1e9, Type: "a"}})
				if err != nil {
					t.Fatal(err)
				}
				if err := store.RaiseAlerts(t.Context(), []core.Alert{{Kind: "k", Subject: subject, Detail: "d"}}); err != nil {
					t.Fatal(err)
				}
				return out[0].ID, sched.ID
			}
			add(store, "first")
			add(store, "second")
			if _, err := store.CreateToken(t.Context(), core.Token{ID: "t1", Name: "n", Role: core.RoleRead}); err != nil {
				t.Fatal(err)
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			for statement := range strings.SplitSeq(damage.statement, ";") {
				alter(t, path, statement)
			}
			store = openHere(t, path, Options{})
			if job, schedule := add(store, "third"); job < 2 || job > 3000 || schedule < 2 || schedule > 3 {
				t.Errorf("the next job has id %d, the next schedule %d", job, schedule)
			}
			alerts, err := store.Alerts(t.Context(), core.AlertQuery{Limit: 10})
			if err != nil || !slices.ContainsFunc(alerts, func(a core.Alert) bool { return a.Subject == "third" && a.ID > 1 && a.ID < 4 }) {
				t.Errorf("alerts: %+v, %v", alerts, err)
			}
			if err := store.NameDamaged(t.Context()); err != nil {
				t.Fatal(err)
			}
			apart, err := store.Apart(t.Context(), 10)
			var named []string
			for i := range apart {
				named = append(named, apart[i].String())
			}
			if err != nil || strings.Join(named, ", ") != damage.named {
				t.Errorf("named: %q, %v, want %q", named, err, damage.named)
			}
		})
	}
}
