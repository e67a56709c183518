package scheduletest

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
)

// pass makes n ticks, a step of the clock before each.
func (w *world) pass(n int, step time.Duration) {
	w.Helper()
	for range n {
		w.step(step)
		w.tick()
	}
}

// alerts counts alerts of a kind.
func (w *world) alerts(kind string, open bool) int {
	w.Helper()
	list, err := w.store.Alerts(w.Context(), core.AlertQuery{Kind: kind, Open: open, Limit: 100})
	w.must(err)
	return len(list)
}

// An act planned before a waiting run was let go must not bring it back: the run would be made twice.
func TestAnActFromBeforeAWaitingRunWasMadeIsStale(t *testing.T) {
	w := newWorld(t, noon)
	w.put("s", core.ScheduleRule{Cron: "* * * * *", Overlap: core.OverlapQueueOne})
	w.pass(2, time.Minute)
	before, err := w.store.GetSchedule(t.Context(), "", "s")
	if w.must(err); before.State.Waiting == nil {
		t.Fatal("no run waits")
	}
	w.step(time.Second)
	w.finish("work")
	w.tick() // lets it go
	answers, err := w.store.AdvanceSchedules(t.Context(), []core.Advance{{ID: before.ID, Version: before.Version, Moves: before.Moves, State: before.State}}, nil)
	if w.must(err); !answers[0].Stale {
		t.Error("an act brought back the state of before")
	}
	w.finish("work")
	w.tick()
	w.exact("s")
	if runs := w.runs("s"); len(runs) != 2 {
		t.Errorf("%d runs of two instants", len(runs))
	}
}

// A run that waited is made once its schedule's policy lets runs overlap, and holds nothing up.
func TestAWaitingRunWhoseScheduleNowAllowsOverlap(t *testing.T) {
	w := newWorld(t, noon)
	w.put("s", core.ScheduleRule{Cron: "* * * * *", Overlap: core.OverlapQueueOne})
	w.pass(2, time.Minute)
	w.put("s", core.ScheduleRule{Cron: "* * * * *", Overlap: core.OverlapAllow})
	w.pass(3, time.Minute)
	w.exact("s")
	if runs := w.runs("s"); len(runs) != 5 || w.shape("s") != "fired×5 " {
		t.Errorf("%d runs, %s", len(runs), w.shape("s"))
	}
}

// A run that waited is due when it is let go: its wait is not lag.
func TestAWaitingRunIsDueWhenItIsMade(t *testing.T) {
	w := newWorld(t, noon)
	w.put("s", core.ScheduleRule{Cron: "* * * * *", Overlap: core.OverlapQueueOne})
	w.pass(2, time.Minute)
	w.step(20 * time.Second)
	w.finish("work")
	w.tick()
	runs := w.runs("s")
	if len(runs) != 2 || !runs[1].RunAt.Equal(w.now()) || runs[1].Run.CatchUp {
		t.Errorf("%d runs, the last due %s", len(runs), runs[len(runs)-1].RunAt)
	}
	if rows := w.ledger("s"); rows[1].JobID != runs[1].ID {
		t.Errorf("its ledger row has job %d, want %d", rows[1].JobID, runs[1].ID)
	}
}

// Two who plan the same instant of a schedule that cancels: the slower one must not cancel the run the faster one made.
func TestASlowPlanDoesNotCancelTheNewRun(t *testing.T) {
	w := newWorld(t, noon)
	w.put("s", core.ScheduleRule{Cron: "* * * * *", Overlap: core.OverlapCancelRunning})
	w.pass(1, time.Minute)
	slow, err := w.store.GetSchedule(t.Context(), "", "s")
	w.must(err)
	w.pass(1, time.Minute)
	w.must(schedule.CancelRuns(t.Context(), w.store, &slow))
	active, err := w.store.ActiveRuns(t.Context(), "", "s")
	if w.must(err); len(active) != 1 {
		t.Errorf("%d active runs", len(active))
	}
}

// The clock of a store that is set back makes nothing due twice, whatever is done meanwhile.
func TestAClockSetBackRepeatsNothing(t *testing.T) {
	w := newWorld(t, noon)
	w.put("s", core.ScheduleRule{Cron: "* * * * *", Missed: "all"})
	w.pass(5, time.Minute)
	s, err := w.store.GetSchedule(t.Context(), "", "s")
	w.must(err)
	back := noon.Add(2 * time.Minute)
	for name, rule := range map[string]core.ScheduleRule{
		"another rule": {Cron: "*/1 * * * *", Missed: "all", Type: "work"}, "a pause": func() core.ScheduleRule { r := s.Rule; r.Paused = true; return r }(),
	} {
		plan, err := schedule.Redefine(&s, &rule, back, schedule.Options{})
		if w.must(err); plan.State.Accounted.Before(s.State.Accounted) || len(plan.Jobs) != 0 {
			t.Errorf("%s: accounted for to %s, was %s", name, plan.State.Accounted, s.State.Accounted)
		}
	}
	paused := s
	paused.Rule.Paused, paused.State.PausedAt, paused.State.NextDue = true, back, time.Time{}
	resumed, err := schedule.Resume(&paused, &s.Rule, back.Add(time.Second), schedule.Options{})
	if w.must(err); resumed.State.Accounted.Before(s.State.Accounted) || !resumed.State.NextDue.After(s.State.Accounted) {
		t.Errorf("resumed: %+v", resumed.State)
	}
}

// Whatever next_due says, damaged or from another time zone database: no instant is passed over.
func TestPlansCountFromWhatIsAccountedFor(t *testing.T) {
	w := newWorld(t, noon)
	s := w.put("s", core.ScheduleRule{Cron: "* * * * *"})
	s.State.NextDue = noon.Add(2*time.Minute + 3*time.Second)
	plan, err := schedule.Next(&s, noon.Add(2*time.Minute+4*time.Second), schedule.Options{})
	if w.must(err); plan == nil || len(plan.Occurrences) != 2 || !plan.Occurrences[0].From.Equal(noon.Add(time.Minute)) {
		t.Fatalf("plan %+v", plan)
	}
	s.State.NextDue = noon.Add(30 * time.Second) // too early: it moves on, with nothing made
	plan, err = schedule.Next(&s, noon.Add(40*time.Second), schedule.Options{})
	if w.must(err); plan == nil || len(plan.Jobs) != 0 || !plan.State.NextDue.Equal(noon.Add(time.Minute)) {
		t.Fatalf("plan %+v", plan)
	}
}

// Stores keep a target without its white space: the same definition again changes nothing all the same.
func TestTheSameDefinitionWithATargetAgain(t *testing.T) {
	w := newWorld(t, noon)
	rule := core.ScheduleRule{Cron: "* * * * *", Target: json.RawMessage(`{ "url": "https://example.com/?a=1&b=2" }`), Payload: json.RawMessage(`{ "a" : 1 }`)}
	first, again := w.put("s", rule), w.put("s", rule)
	if first.Version != again.Version || first.Moves != again.Moves {
		t.Errorf("version %d, then %d", first.Version, again.Version)
	}
	rule.Payload = json.RawMessage(`{"a":1}`)
	if changed := w.put("s", rule); changed.Version != first.Version+1 {
		t.Errorf("another payload: version %d", changed.Version)
	}
}

// Runs with large payloads come in steps of bounded size; none is lost between them.
func TestLargePayloadsComeInSteps(t *testing.T) {
	w := newWorld(t, noon)
	payload, err := json.Marshal(string(bytes.Repeat([]byte("x"), 1<<19)))
	w.must(err)
	s := w.put("s", core.ScheduleRule{Cron: "* * * * *", Missed: "all", Payload: payload})
	w.step(100 * time.Minute)
	s, err = w.store.GetSchedule(t.Context(), "", s.Name)
	w.must(err)
	plan, err := schedule.Next(&s, w.now(), schedule.Options{})
	if w.must(err); len(plan.Jobs) > 40 || len(plan.Jobs) == 0 || !plan.More {
		t.Fatalf("a step of %d jobs of half a MiB", len(plan.Jobs))
	}
	w.tick()
	w.exact("s")
	if runs := w.runs("s"); len(runs) != 100 {
		t.Errorf("%d runs", len(runs))
	}
	back, err := w.acts.Backfill(t.Context(), "", "s", noon.Add(-100*time.Minute), noon, false)
	if w.must(err); back.Count != 100 || back.Next.IsZero() || len(back.Made) > 40 {
		t.Errorf("backfilled %d of %d, next %s", len(back.Made), back.Count, back.Next)
	}
}

// An alert is over once nothing is expected any more: the schedule is gone, or expects nothing.
func TestAnAlertEndsWithItsExpectation(t *testing.T) {
	for name, end := range map[string]func(*world){
		"deleted":           func(w *world) { w.must(w.store.DeleteSchedule(w.Context(), "", "s", 0)) },
		"expecting nothing": func(w *world) { w.put("s", core.ScheduleRule{Cron: "*/5 * * * *"}) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, noon)
			w.put("s", core.ScheduleRule{Cron: "*/5 * * * *", ExpectWithin: core.ScheduleLength(time.Minute)})
			w.pass(7, time.Minute)
			if n := w.alerts(core.AlertScheduleMissed, true); n != 1 {
				t.Fatalf("%d open", n)
			}
			if end(w); w.alerts(core.AlertScheduleMissed, true) != 0 {
				t.Error("it stays open")
			}
		})
	}
}

// Alert and state move together: what a lost step had told is not told, what another told is cleared.
func TestAlertsGoWithTheirStep(t *testing.T) {
	w := newWorld(t, noon)
	s := w.put("s", core.ScheduleRule{Cron: "0 0 1 1 *"})
	alert := core.Alert{Kind: core.AlertScheduleMissed, Detail: "x"}
	stale := core.Advance{ID: s.ID, Version: s.Version, Moves: s.Moves + 1, State: s.State, Alerts: []core.Alert{alert}}
	_, err := w.store.AdvanceSchedules(t.Context(), []core.Advance{stale}, nil)
	if w.must(err); w.alerts(core.AlertScheduleMissed, false) != 0 {
		t.Error("a stale step raised its alert")
	}
}

// A tick that finds nothing due sleeps until something is, whatever other schedulers have not done yet.
func TestOverdueSchedulesOfOthersKeepNobodyAwake(t *testing.T) {
	w := newWorld(t, noon)
	for _, name := range []string{"a", "b", "c"} {
		w.put(name, core.ScheduleRule{Cron: "* * * * *"})
	}
	w.tick()
	w.step(time.Minute)
	res, err := w.store.Tick(t.Context(), core.TickRequest{Holder: "other", LeaseLength: time.Second, ScheduleLimit: 10})
	if w.must(err); res.ScheduleIn <= 0 {
		t.Errorf("the next in %s", res.ScheduleIn)
	}
}
