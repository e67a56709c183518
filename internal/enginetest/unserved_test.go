package enginetest

import (
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/tick"
)

// A due job whose priority was damaged is claimed by nobody and raises no error: its lane is named, in the log once and
// wherever rows that are set apart are.
func TestAJobOfNoPriorityIsNamed(t *testing.T) {
	for name, open := range map[string]func(*testing.T) hurt{"PostgreSQL": hurtPostgres, "SQLite": hurtSQLite} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			submitJobs(t, h.store, 1, core.NewJob{})
			if err := h.exec("UPDATE " + h.prefix + "jobs SET priority = 9"); err != nil {
				t.Fatal(err)
			}
			submitJobs(t, h.store, 1, core.NewJob{})
			told := 0
			ticker := newTicker(t, h.store, tick.Options{OnEvent: func(e tick.Event) {
				if e.Kind == tick.RowSetApart {
					told++
				}
			}})
			for range 3 {
				if report := tickOnce(t, ticker); len(report.Waiting) != 1 {
					t.Errorf("lanes wait: %+v, want the sound one", report.Waiting)
				}
			}
			apart, err := h.store.Apart(t.Context(), 10)
			if err != nil || len(apart) != 1 || apart[0].Kind != core.ApartType || apart[0].Name != "9/echo" || told != 1 {
				t.Errorf("%+v are named, %d times told, %v", apart, told, err)
			}
		})
	}
}

// An attempt that its target accepted and never reported ended with no worker: the log says which is which.
func TestAnAcceptedJobThatIsNotReportedIsToldApart(t *testing.T) {
	h := hurtSQLite(t)
	submitJobs(t, h.store, 3, core.NewJob{})
	claim(t, h.store, "echo", 3, time.Minute)
	if err := h.exec("UPDATE jobs SET lease_until = 1, reap_at = 1"); err != nil {
		t.Fatal(err)
	}
	if err := h.exec("UPDATE jobs SET worker_id = 'target' WHERE id = (SELECT MIN(id) FROM jobs)"); err != nil {
		t.Fatal(err)
	}
	told := map[tick.EventKind]int{}
	tickOnce(t, newTicker(t, h.store, tick.Options{OnEvent: func(e tick.Event) { told[e.Kind] += e.Count }}))
	if told[tick.JobsUnreported] != 1 || told[tick.JobsLost] != 2 {
		t.Errorf("told %v, want one that was not reported and two lost", told)
	}
}
