package enginetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/tick"
)

// Whatever a column of a schedule holds, the schedules beside it go on, and every pass succeeds. What raises an error is
// named.
func TestADamagedScheduleStopsNoOther(t *testing.T) {
	for name, open := range map[string]func(*testing.T) hurt{"PostgreSQL": hurtPostgres, "SQLite": hurtSQLite} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			var told []tick.Event
			ticker := newTicker(t, h.store, tick.Options{OnEvent: func(e tick.Event) {
				if e.Kind == tick.RowSetApart || e.Kind == tick.ScheduleBroken {
					told = append(told, e)
				}
			}})
			pass := func(what string) {
				t.Helper()
				if _, err := ticker.Tick(t.Context()); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			var good []core.Schedule
			for i := range 10 {
				good = append(good, keepSchedule(t, h.store, fmt.Sprintf("good-%d", i)))
			}
			pass("before")
			damages := 0
			columns, err := h.tables()
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range columns["schedules"] {
				if slices.Contains([]string{"id", "tenant", "name"}, c.name) {
					continue // the walk over all tables has them
				}
				for _, value := range valuesOf(t, c) {
					what := c.name + " = " + value
					bad := keepSchedule(t, h.store, fmt.Sprintf("bad-%d", damages))
					if err := h.exec(fmt.Sprintf("UPDATE %sschedules SET %s = %s WHERE id = %d", h.prefix, c.name, value, bad.ID)); err != nil {
						continue // the schema does not take it
					}
					damages++
					before := due(t, h.store, good)
					pass(what)
					pass(what)
					if now, err := h.store.GetSchedule(t.Context(), "", bad.Name); c.name == "next_due" && value == "'-infinity'" && (err != nil || now.State.NextDue.IsZero()) {
						t.Errorf("%s: it is not due any more: %v, %v", what, now.State, err)
					}
					for i, now := range due(t, h.store, good) {
						if !now.After(before[i]) {
							t.Errorf("%s: the schedule good-%d stands still at %s", what, i, now)
						}
					}
					if err := h.exec(fmt.Sprintf("DELETE FROM %sschedules WHERE id = %d", h.prefix, bad.ID)); err != nil {
						t.Fatal(err)
					}
				}
			}
			t.Logf("%d values were tried, %d times something was named", damages, len(told))
			if damages < 60 || len(told) == 0 {
				t.Errorf("%d values were tried, %d named", damages, len(told))
			}
		})
	}
}

// due makes the schedules due at once and returns their counts of moves as times, so that they can be compared.
func due(t *testing.T, store core.Store, list []core.Schedule) (moves []time.Time) {
	t.Helper()
	for i := range list {
		s, err := store.GetSchedule(t.Context(), "", list[i].Name)
		if err != nil {
			t.Fatal(err)
		}
		moves = append(moves, time.Unix(s.Moves, 0))
		step := core.Advance{ID: s.ID, Version: s.Version, Moves: s.Moves, State: s.State}
		step.State.Accounted = time.Now().Add(-2 * time.Second).UTC().Truncate(time.Microsecond)
		step.State.NextDue = step.State.Accounted.Add(time.Second)
		if answers, err := store.AdvanceSchedules(t.Context(), []core.Advance{step}, nil); err != nil || answers[0].Stale {
			t.Fatal(answers, err)
		}
		moves[i] = moves[i].Add(time.Second)
	}
	return moves
}

// keepSchedule makes a schedule of every second that is due.
func keepSchedule(t *testing.T, store core.Store, name string) core.Schedule {
	t.Helper()
	at := time.Now().Add(-2 * time.Second).UTC().Truncate(time.Microsecond)
	rule := core.ScheduleRule{Every: core.ScheduleLength(time.Second), Type: "echo", Priority: "default", Missed: "once", Overlap: core.OverlapAllow}
	kept, err := store.CreateSchedule(t.Context(), core.Schedule{
		Name: name, Rule: rule, State: core.ScheduleState{Anchor: at, Accounted: at, NextDue: at.Add(time.Second), TZData: schedule.TZDataVersion()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return kept
}
