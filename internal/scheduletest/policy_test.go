package scheduletest

import (
	"fmt"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// shape is a ledger in short: outcome, reason and count of each row, rows of one kind added up.
func (w *world) shape(name string) string {
	w.Helper()
	text, last, n := "", "", int64(0)
	flush := func() {
		if n > 0 {
			text += fmt.Sprintf("%s×%d ", last, n)
		}
	}
	for _, row := range w.ledger(name) {
		kind := row.Outcome
		if row.Reason != "" {
			kind += ":" + row.Reason
		}
		if kind != last {
			flush()
			last, n = kind, 0
		}
		n += row.Count
	}
	flush()
	return text
}

// A schedule that fires each minute, in time: one job each, due at its instant.
func TestFires(t *testing.T) {
	w := newWorld(t, noon)
	w.put("minutely", core.ScheduleRule{Cron: "* * * * *"})
	for range 300 {
		w.step(time.Second)
		w.tick()
	}
	w.exact("minutely")
	runs := w.runs("minutely")
	if w.shape("minutely") != "fired×5 " || len(runs) != 5 {
		t.Fatalf("%s, %d runs", w.shape("minutely"), len(runs))
	}
	for i, job := range runs {
		if want := noon.Add(time.Duration(i+1) * time.Minute); !job.RunAt.Equal(want) || !job.Run.ScheduledFor.Equal(want) || job.Run.CatchUp {
			t.Errorf("run %d: %+v, due %s", i, job.Run, job.RunAt)
		}
	}
}

// A scheduler that is down for 101 minutes. The policy decides what is made up.
func TestAnOutageIsMadeUpByThePolicy(t *testing.T) {
	for _, c := range []struct {
		rule  core.ScheduleRule
		shape string
		runs  int
	}{
		{core.ScheduleRule{Missed: "once"}, "fired×1 covered×99 caught_up×1 fired×1 ", 3},
		{core.ScheduleRule{Missed: "skip"}, "fired×1 skipped:missed×100 fired×1 ", 2},
		{core.ScheduleRule{Missed: "all"}, "fired×1 caught_up×100 fired×1 ", 102},
		{core.ScheduleRule{Missed: "all", MissedLimit: 10}, "fired×1 skipped:limit×90 caught_up×10 fired×1 ", 12},
		{core.ScheduleRule{Missed: "all", MissedWindow: core.ScheduleLength(30 * time.Minute)}, "fired×1 skipped:window×70 caught_up×30 fired×1 ", 32},
	} {
		t.Run(c.shape, func(t *testing.T) {
			w := newWorld(t, noon)
			c.rule.Cron = "* * * * *"
			w.put("s", c.rule)
			w.step(time.Minute)
			w.tick()
			w.step(101 * time.Minute)
			w.tick()
			w.exact("s")
			runs := w.runs("s")
			if got := w.shape("s"); got != c.shape || len(runs) != c.runs {
				t.Fatalf("%s, %d runs, want %s, %d", got, len(runs), c.shape, c.runs)
			}
			if c.rule.Missed == "once" {
				made := runs[1].Run
				if !made.CatchUp || made.Covers != 100 || !made.CoversFrom.Equal(noon.Add(2*time.Minute)) || !made.ScheduledFor.Equal(noon.Add(101*time.Minute)) {
					t.Errorf("the run made up knows %+v", made)
				}
			}
			dropped, err := w.store.Alerts(t.Context(), core.AlertQuery{Kind: core.AlertDropped, Limit: 10})
			if w.must(err); (len(dropped) > 0) != (c.rule.MissedLimit > 0) {
				t.Errorf("alerts %+v", dropped)
			}
		})
	}
}

// A run that takes longer than its interval.
func TestOverlap(t *testing.T) {
	for _, c := range []struct{ overlap, shape string }{
		{"allow", "fired×6 "}, {"skip", "fired×1 skipped:overlap×2 fired×1 skipped:overlap×2 "}, {"queue_one", "fired×2 skipped:overlap×1 fired×1 skipped:overlap×2 "},
		{"cancel_running", "fired×6 "},
	} {
		t.Run(c.overlap, func(t *testing.T) {
			w := newWorld(t, noon)
			w.put("s", core.ScheduleRule{Cron: "* * * * *", Overlap: c.overlap})
			for minute := 1; minute <= 6; minute++ {
				w.step(time.Minute)
				w.tick()
				if minute == 3 {
					w.step(time.Second)
					w.finish("work")
					w.tick()
					w.step(-time.Second)
				}
			}
			w.exact("s")
			if got := w.shape("s"); got != c.shape {
				t.Errorf("%s, want %s", got, c.shape)
			}
			active, err := w.store.ActiveRuns(t.Context(), "", "s")
			w.must(err)
			if want := map[string]int{"allow": 3, "skip": 1, "queue_one": 1, "cancel_running": 1}[c.overlap]; len(active) != want {
				t.Errorf("%d active runs, want %d", len(active), want)
			}
		})
	}
}
