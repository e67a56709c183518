package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// statsAlerts: only a schedule that is due is late, and an alert that is over counts no more.
func statsAlerts(s *stage) {
	if stats, _ := s.stats(); stats.OldestDueSchedule != 0 || len(stats.OpenAlerts) != 0 {
		s.Errorf("an empty store: %s, %+v", stats.OldestDueSchedule, stats.OpenAlerts)
	}
	for _, due := range []time.Duration{time.Hour, time.Minute} {
		s.newScheduleDue(due)
	}
	if stats, _ := s.stats(); stats.OldestDueSchedule != 0 {
		s.Errorf("none is due: %s", stats.OldestDueSchedule)
	}
	s.advance(2 * time.Minute)
	if stats, _ := s.stats(); stats.OldestDueSchedule < time.Minute || stats.OldestDueSchedule > time.Minute+patience {
		s.Errorf("one is due for a minute: %s", stats.OldestDueSchedule)
	}
	missed := core.Alert{Kind: core.AlertScheduleMissed, Subject: "a"}
	s.must(s.store.RaiseAlerts(s.ctx, []core.Alert{missed, {Kind: core.AlertScheduleMissed, Subject: "b"}, {Kind: core.AlertTypeMissed, Subject: "a"}}))
	missed.ClearedAt = s.now()
	s.must(s.store.RaiseAlerts(s.ctx, []core.Alert{missed}))
	want := []core.AlertCount{{Kind: core.AlertScheduleMissed, Open: 1}, {Kind: core.AlertTypeMissed, Open: 1}}
	if stats, _ := s.stats(); !slices.Equal(stats.OpenAlerts, want) {
		s.Errorf("%+v, want %+v", stats.OpenAlerts, want)
	}
}

// newScheduleDue makes a schedule that is due so long after now; 0 means never.
func (s *stage) newScheduleDue(after time.Duration) {
	s.Helper()
	state := core.ScheduleState{Anchor: s.now(), Accounted: s.now(), TZData: "2026a"}
	if after != 0 {
		state.NextDue = s.now().Add(after)
	}
	_, err := s.store.CreateSchedule(s.ctx, core.Schedule{Name: fmt.Sprintf("due-%d", s.number()), Rule: core.ScheduleRule{Type: s.newType()}, State: state})
	s.must(err)
}

func countSchedules(s *stage) {
	for range 3 {
		s.newSchedule(core.ScheduleRule{})
	}
	for range 2 {
		s.newSchedule(core.ScheduleRule{Paused: true})
	}
	s.newScheduleDue(0)
	got, err := s.store.CountSchedules(s.ctx)
	s.must(err)
	if want := (core.ScheduleStates{Active: 3, Paused: 2, Ended: 1}); got != want {
		s.Errorf("%+v, want %+v", got, want)
	}
}
