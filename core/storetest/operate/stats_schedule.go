package operate

import (
	"fmt"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

// statsAlerts: only a due schedule is late, and a cleared alert is not counted.
func statsAlerts(s *storetest.Stage) {
	if stats, _ := s.Stats(); stats.OldestDueSchedule != 0 || len(stats.OpenAlerts) != 0 {
		s.Errorf("an empty store: %s, %+v", stats.OldestDueSchedule, stats.OpenAlerts)
	}
	for _, due := range []time.Duration{time.Hour, time.Minute} {
		NewScheduleDue(s, due)
	}
	if stats, _ := s.Stats(); stats.OldestDueSchedule != 0 {
		s.Errorf("none is due: %s", stats.OldestDueSchedule)
	}
	s.Advance(2 * time.Minute)
	if stats, _ := s.Stats(); stats.OldestDueSchedule < time.Minute || stats.OldestDueSchedule > time.Minute+storetest.Patience {
		s.Errorf("one is due for a minute: %s", stats.OldestDueSchedule)
	}
	missed := core.Alert{Kind: core.AlertScheduleMissed, Subject: "a"}
	s.Must(s.Store.RaiseAlerts(s.Ctx, []core.Alert{missed, {Kind: core.AlertScheduleMissed, Subject: "b"}, {Kind: core.AlertTypeMissed, Subject: "a"}}))
	missed.ClearedAt = s.Now()
	s.Must(s.Store.RaiseAlerts(s.Ctx, []core.Alert{missed}))
	want := []core.AlertCount{{Kind: core.AlertScheduleMissed, Open: 1}, {Kind: core.AlertTypeMissed, Open: 1}}
	if stats, _ := s.Stats(); !slices.Equal(stats.OpenAlerts, want) {
		s.Errorf("%+v, want %+v", stats.OpenAlerts, want)
	}
}

// NewScheduleDue creates a schedule that is due this long after now; 0 means never.
func NewScheduleDue(s *storetest.Stage, after time.Duration) {
	s.Helper()
	state := core.ScheduleState{Anchor: s.Now(), Accounted: s.Now(), TZData: "2026a"}
	if after != 0 {
		state.NextDue = s.Now().Add(after)
	}
	_, err := s.Store.CreateSchedule(s.Ctx, core.Schedule{Name: fmt.Sprintf("due-%d", s.Number()), Rule: core.ScheduleRule{Type: s.NewType()}, State: state})
	s.Must(err)
}

func countSchedules(s *storetest.Stage) {
	for range 3 {
		s.NewSchedule(core.ScheduleRule{})
	}
	for range 2 {
		s.NewSchedule(core.ScheduleRule{Paused: true})
	}
	NewScheduleDue(s, 0)
	got, err := s.Store.CountSchedules(s.Ctx)
	s.Must(err)
	if want := (core.ScheduleStates{Active: 3, Paused: 2, Ended: 1}); got != want {
		s.Errorf("%+v, want %+v", got, want)
	}
}
