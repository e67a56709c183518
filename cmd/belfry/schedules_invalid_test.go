package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// A schedule whose stored definition cannot be read is invalid wherever schedules are shown, with the reason; doctor names it,
// and so does an alert. A file that has it puts it right.
func TestInvalidSchedulesAreShown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "belfry.db")
	store, err := sqlite.Open(t.Context(), file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, nodetest.StartOn(t, "all", store))
	r.ok("schedules", "put", "good", "--cron", "0 3 * * *", "--type", "echo")
	r.ok("schedules", "put", "bad", "--cron", "* * * * *", "--type", "echo")
	r.ok("doctor")
	if !strings.Contains(r.out, "ok        schedules     all can be read, and none is overdue\n") {
		t.Error(r.out)
	}
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `UPDATE schedules SET rule = json_set(rule, '$.time_zone', 'Mars/Olympus'), next_due = 1 WHERE name = 'bad'`); err != nil {
		t.Fatal(err)
	}
	const reason = `the stored definition cannot be read: time_zone: "Mars/Olympus" is no time zone`
	if out := r.ok("schedules", "list"); !strings.Contains(out, reason) || !strings.Contains(out, "invalid\n") || !strings.Contains(out, "At 03:00 every day, UTC") {
		t.Error(out)
	}
	if out := r.ok("schedules", "get", "bad"); !strings.Contains(out, "state         invalid\n") || !strings.Contains(out, "invalid       "+reason) {
		t.Error(out)
	}
	r.within("warning   alert         schedule_unreadable bad, since ", "doctor")
	if !strings.Contains(r.out, "broken    schedule      bad makes no runs: "+reason) || !strings.Contains(r.out, "→ belfry schedules put a good definition") {
		t.Error(r.out)
	}
	if code := r.run("schedules", "next", "bad"); code != console.ExitConflict || !strings.Contains(r.errs, reason) {
		t.Errorf("%d %s", code, r.errs)
	}
	applied := filepath.Join(t.TempDir(), "schedules.yaml")
	if err := os.WriteFile(applied, []byte("schedules:\n  - name: bad\n    cron: \"30 * * * *\"\n    type: echo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := r.ok("schedules", "apply", applied, "--yes"); !strings.Contains(out, "appears") {
		t.Error(out)
	}
	if out := r.ok("schedules", "get", "bad"); !strings.Contains(out, "state         on\n") {
		t.Error(out)
	}
	r.ok("doctor")
}

// One whose row somebody changed so that it never comes due is not shown as one that is on; doctor names it, and a file that has
// it puts it right.
func TestSchedulesThatNeverComeDueAreShown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "belfry.db")
	store, err := sqlite.Open(t.Context(), file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, nodetest.StartOn(t, "api", store))
	r.ok("schedules", "put", "bad", "--cron", "30 * * * *", "--type", "echo")
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "UPDATE schedules SET next_due = 9223372036854775807"); err != nil {
		t.Fatal(err)
	}
	const reason, due = "its next_due lies beyond the year 9999, so it never comes due", "294247-01-10T04:00:54.775807Z"
	if out := r.ok("schedules", "list"); !strings.Contains(out, reason) || !strings.Contains(out, "invalid\n") || !strings.Contains(out, due) {
		t.Error(out)
	}
	if out := r.ok("schedules", "get", "bad"); !strings.Contains(out, "state         invalid\n") || !strings.Contains(out, "invalid       "+reason) || !strings.Contains(out, "next due      "+due) {
		t.Error(out)
	}
	if code := r.run("doctor"); code != console.ExitFailed || !strings.Contains(r.out, "broken    schedule      bad makes no runs: "+reason) {
		t.Errorf("%d %s", code, r.out)
	}
	applied := filepath.Join(t.TempDir(), "schedules.yaml")
	if err := os.WriteFile(applied, []byte("schedules:\n  - name: bad\n    cron: \"30 * * * *\"\n    type: echo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := r.run("schedules", "apply", applied, "--check"); code == 0 {
		t.Errorf("a file that would mend it changes nothing: %s", r.out)
	}
	r.ok("schedules", "apply", applied, "--yes")
	if out := r.ok("schedules", "get", "bad"); !strings.Contains(out, "state         on\n") {
		t.Error(out)
	}
}

// One that has been due for long, as when no tick runs, is named by doctor.
func TestDoctorNamesOverdueSchedules(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	now, err := store.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []core.Schedule{
		{Name: "late", Tenant: "acme", Rule: core.ScheduleRule{Cron: "* * * * *", Type: "echo"}, State: core.ScheduleState{NextDue: now.Add(-10 * time.Minute)}},
		{Name: "paused", Rule: core.ScheduleRule{Cron: "* * * * *", Type: "echo", Paused: true}, State: core.ScheduleState{PausedAt: now}},
		{Name: "due", Rule: core.ScheduleRule{Cron: "* * * * *", Type: "echo"}, State: core.ScheduleState{NextDue: now.Add(-time.Second)}},
	} {
		s.State.Anchor, s.State.Accounted, s.State.TZData = now, now, schedule.TZDataVersion()
		if _, err := store.CreateSchedule(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	r := newRig(t, nodetest.StartOn(t, "api", store))
	if code := r.run("doctor"); code != console.ExitFailed || strings.Count(r.out, "broken    schedule ") != 1 || !strings.Contains(r.out, "broken    schedule      late (tenant acme) has been due for 10m0s\n") {
		t.Errorf("%d %s", code, r.out)
	}
}
