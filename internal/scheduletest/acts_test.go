package scheduletest

import (
	"errors"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
)

// A new schedule does not fire for times before it was created.
func TestANewScheduleFiresOnlyFromItsCreation(t *testing.T) {
	w := newWorld(t, noon.Add(90*time.Second))
	s := w.put("s", core.ScheduleRule{Cron: "* * * * *", Missed: "all"})
	if want := noon.Add(2 * time.Minute); !s.State.NextDue.Equal(want) {
		t.Fatalf("first due %s, want %s", s.State.NextDue, want)
	}
	w.tick()
	if got := w.shape("s"); got != "" {
		t.Errorf("fired for the past: %s", got)
	}
}

// An edit counts from now, the same definition again changes nothing.
func TestAnEditCountsFromNowAndARepeatedOneChangesNothing(t *testing.T) {
	w := newWorld(t, noon)
	first := w.put("s", core.ScheduleRule{Cron: "*/10 * * * *"})
	w.step(25 * time.Minute)
	w.tick()
	again := w.put("s", core.ScheduleRule{Cron: "*/10 * * * *"})
	if again.Version != first.Version || again.State.NextDue != noon.Add(30*time.Minute) {
		t.Fatalf("the same again: version %d, due %s", again.Version, again.State.NextDue)
	}
	// Two minutes after an instant that the tick has not seen yet: the old rule's instant is not lost.
	w.step(7 * time.Minute)
	edited := w.put("s", core.ScheduleRule{Cron: "15 * * * *"})
	if edited.Version != first.Version+1 || !edited.State.NextDue.Equal(noon.Add(75*time.Minute)) {
		t.Fatalf("edited: version %d, due %s", edited.Version, edited.State.NextDue)
	}
	if got := w.shape("s"); got != "covered×1 caught_up×2 " && got != "covered×1 caught_up×1 caught_up×1 " {
		t.Errorf("the ledger of the old rule: %s", got)
	}
	w.step(time.Hour)
	w.tick()
	if runs := w.runs("s"); len(runs) != 3 || !runs[2].Run.ScheduledFor.Equal(noon.Add(75*time.Minute)) {
		t.Errorf("%d runs: %+v", len(runs), runs[len(runs)-1].Run)
	}
}

// A pause: nothing fires in it; the instants in it fare by the missed policy when it ends.
func TestPauseAndResume(t *testing.T) {
	for missed, shape := range map[string]string{
		// The instant at which it is resumed lies behind the pause.
		"once": "fired×5 covered×8 caught_up×1 fired×6 ", "skip": "fired×5 skipped:paused×9 fired×6 ", "all": "fired×5 caught_up×9 fired×6 ",
	} {
		t.Run(missed, func(t *testing.T) {
			w := newWorld(t, noon)
			w.put("s", core.ScheduleRule{Cron: "* * * * *", Missed: missed})
			minutes := func(n int) {
				for range n {
					w.step(time.Minute)
					w.tick()
				}
			}
			minutes(5)
			paused, err := w.acts.Pause(t.Context(), "", "s")
			if w.must(err); !paused.Rule.Paused || !paused.State.NextDue.IsZero() {
				t.Fatalf("paused: %+v", paused)
			}
			minutes(10)
			if got := w.shape("s"); got != "fired×5 " {
				t.Fatalf("in the pause: %s", got)
			}
			resumed, err := w.acts.Resume(t.Context(), "", "s")
			if w.must(err); resumed.Rule.Paused || resumed.State.NextDue.IsZero() {
				t.Fatalf("resumed: %+v", resumed)
			}
			minutes(5)
			w.exact("s")
			if got := w.shape("s"); got != shape {
				t.Errorf("%s, want %s", got, shape)
			}
		})
	}
}

// An edit while it is paused: what fell into the pause is skipped, and it stays paused.
func TestAnEditInAPause(t *testing.T) {
	w := newWorld(t, noon)
	w.put("s", core.ScheduleRule{Cron: "* * * * *", Missed: "all"})
	w.step(time.Minute)
	w.tick()
	_, err := w.acts.Pause(t.Context(), "", "s")
	w.must(err)
	w.step(10 * time.Minute)
	edited := w.put("s", core.ScheduleRule{Cron: "*/2 * * * *", Missed: "all", Paused: true})
	if got := w.shape("s"); got != "fired×1 skipped:paused×10 " || !edited.State.NextDue.IsZero() {
		t.Fatalf("%s, next due %s", got, edited.State.NextDue)
	}
	w.step(4 * time.Minute)
	_, err = w.acts.Resume(t.Context(), "", "s")
	w.must(err)
	if got := w.shape("s"); got != "fired×1 skipped:paused×10 caught_up×2 " {
		t.Errorf("resumed: %s", got)
	}
}

// If-Match and If-None-Match.
func TestPutMatches(t *testing.T) {
	w := newWorld(t, noon)
	rule := core.ScheduleRule{Cron: "* * * * *", Type: "work"}
	if _, _, err := w.acts.Put(t.Context(), "", "s", rule, schedule.Match{Version: 1}); !errors.Is(err, core.ErrStale) {
		t.Errorf("a version of none: %v", err)
	}
	s, made, err := w.acts.Put(t.Context(), "", "s", rule, schedule.Match{Absent: true})
	if w.must(err); !made {
		t.Error("not made")
	}
	if _, _, err := w.acts.Put(t.Context(), "", "s", rule, schedule.Match{Absent: true}); !errors.Is(err, core.ErrStale) {
		t.Errorf("once more: %v", err)
	}
	rule.Cron = "1 * * * *"
	s, made, err = w.acts.Put(t.Context(), "", "s", rule, schedule.Match{Version: s.Version})
	if w.must(err); made || s.Version != 2 {
		t.Errorf("version %d, made %v", s.Version, made)
	}
	if _, _, err := w.acts.Put(t.Context(), "", "s", rule, schedule.Match{Version: 1}); !errors.Is(err, core.ErrStale) {
		t.Errorf("an old version: %v", err)
	}
}

func TestTriggerAndBackfill(t *testing.T) {
	w := newWorld(t, noon)
	w.put("s", core.ScheduleRule{Cron: "0 * * * *", Overlap: "skip"})
	id, err := w.acts.Trigger(t.Context(), "", "s")
	w.must(err)
	job, err := w.store.Get(t.Context(), id)
	if w.must(err); job.Run == nil || job.Run.Schedule != "s" || job.Run.CatchUp || !job.Run.ScheduledFor.Equal(noon) {
		t.Errorf("triggered: %+v", job.Run)
	}
	from, to := noon.Add(-24*time.Hour), noon.Add(-12*time.Hour)
	dry, err := w.acts.Backfill(t.Context(), "", "s", from, to, true)
	if w.must(err); dry.Count != 12 || len(dry.Made) != 0 {
		t.Errorf("dry: %+v", dry)
	}
	done, err := w.acts.Backfill(t.Context(), "", "s", from, to, false)
	if w.must(err); done.Count != 12 || len(done.Made) != 12 || !done.Next.IsZero() {
		t.Fatalf("done: %+v", done)
	}
	first, err := w.store.Get(t.Context(), done.Made[0])
	if w.must(err); !first.Run.CatchUp || !first.Run.ScheduledFor.Equal(from) {
		t.Errorf("the first: %+v", first.Run)
	}
	if got := w.shape("s"); got != "" {
		t.Errorf("the ledger: %s", got)
	}
}

// The dead man's switch: a job that fails, one that is late, one never made, a pause where asked; and its clearing.
func TestDeadMansSwitch(t *testing.T) {
	minute := core.ScheduleLength(time.Minute)
	open := func(w *world) int {
		w.Helper()
		alerts, err := w.store.Alerts(w.Context(), core.AlertQuery{Kind: core.AlertScheduleMissed, Open: true, Limit: 10})
		w.must(err)
		return len(alerts)
	}
	all := func(w *world) int {
		w.Helper()
		alerts, err := w.store.Alerts(w.Context(), core.AlertQuery{Kind: core.AlertScheduleMissed, Limit: 10})
		w.must(err)
		return len(alerts)
	}
	pass := func(w *world, d time.Duration) {
		for range int(d / (10 * time.Second)) {
			w.step(10 * time.Second)
			w.tick()
		}
	}
	t.Run("a success in time raises nothing", func(t *testing.T) {
		w := newWorld(t, noon)
		w.put("s", core.ScheduleRule{Cron: "*/5 * * * *", ExpectWithin: minute})
		for range 3 {
			pass(w, 5*time.Minute)
			w.finish("work")
		}
		pass(w, 3*time.Minute)
		if all(w) != 0 {
			t.Error("an alert")
		}
	})
	t.Run("a job that does not succeed raises one, its success clears it", func(t *testing.T) {
		w := newWorld(t, noon)
		w.put("s", core.ScheduleRule{Cron: "*/5 * * * *", ExpectWithin: minute})
		pass(w, 5*time.Minute+50*time.Second)
		if open(w) != 0 {
			t.Fatal("too early")
		}
		pass(w, 2*time.Minute)
		if open(w) != 1 {
			t.Fatal("no alert")
		}
		pass(w, 8*time.Minute) // two more instants, whose runs end with the first one
		if all(w) != 1 {
			t.Fatal("raised more than once")
		}
		w.finish("work")
		pass(w, time.Minute)
		if open(w) != 0 || all(w) != 1 {
			t.Errorf("%d open of %d", open(w), all(w))
		}
	})
	t.Run("a late success raises one that is over", func(t *testing.T) {
		w := newWorld(t, noon)
		w.put("s", core.ScheduleRule{Cron: "0 13 * * *", ExpectWithin: minute})
		w.step(time.Hour)
		w.tick()
		w.step(90 * time.Second)
		w.finish("work")
		w.tick()
		if open(w) != 0 || all(w) != 1 {
			t.Errorf("%d open of %d", open(w), all(w))
		}
	})
	t.Run("a job that was never made raises one, seen by another tick", func(t *testing.T) {
		w := newWorld(t, noon)
		w.put("s", core.ScheduleRule{Cron: "*/5 * * * *", ExpectWithin: minute, Missed: "skip"})
		w.tick()
		w.step(30 * time.Minute)
		w.ticker = w.newTicker("b")
		w.tick()
		if open(w) != 1 {
			t.Errorf("%d open", open(w))
		}
	})
	t.Run("a pause raises one where asked, else none", func(t *testing.T) {
		for asked, want := range map[bool]int{true: 1, false: 0} {
			w := newWorld(t, noon)
			w.put("s", core.ScheduleRule{Cron: "*/5 * * * *", ExpectWithin: minute, ExpectPaused: asked})
			_, err := w.acts.Pause(t.Context(), "", "s")
			w.must(err)
			pass(w, 10*time.Minute)
			if open(w) != want {
				t.Errorf("asked %v: %d open", asked, open(w))
			}
			_, err = w.acts.Resume(t.Context(), "", "s")
			w.must(err)
			pass(w, time.Minute)
			w.finish("work")
			pass(w, 5*time.Minute)
			w.finish("work")
			pass(w, time.Minute)
			if open(w) != 0 {
				t.Errorf("asked %v: not cleared", asked)
			}
		}
	})
}
