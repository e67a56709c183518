package schedule

import (
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/storetest"
)

// scheduleCreatedAt: an interval counts from the schedule's creation, so the two times must be equal.
func scheduleCreatedAt(s *storetest.Stage) {
	kept, err := s.Store.CreateSchedule(s.Ctx, core.Schedule{Name: "n", Rule: core.ScheduleRule{Type: "a", Every: core.ScheduleLength(time.Minute)},
		State: core.ScheduleState{Anchor: storetest.Instant(0), Accounted: storetest.Instant(0), NextDue: storetest.Instant(1), TZData: "2026a"}, CreatedAt: storetest.Instant(0)})
	s.Must(err)
	if got := s.Schedule(kept); !got.CreatedAt.Equal(storetest.Instant(0)) || !got.UpdatedAt.Equal(storetest.Instant(0)) || !kept.CreatedAt.Equal(storetest.Instant(0)) {
		s.Errorf("made %s, changed %s, answered %s", got.CreatedAt, got.UpdatedAt, kept.CreatedAt)
	}
	state := kept.State
	state.Anchor = storetest.Instant(5)
	answers, err := s.Store.AdvanceSchedules(s.Ctx, []core.Advance{{ID: kept.ID, Version: kept.Version, Moves: kept.Moves, State: state, Rule: &kept.Rule}}, nil)
	if s.Must(err); answers[0].Stale {
		s.Fatal("stale")
	}
	if got := s.Schedule(kept); !got.UpdatedAt.Equal(storetest.Instant(5)) || !got.CreatedAt.Equal(storetest.Instant(0)) {
		s.Errorf("an interval that was restarted: created %s, changed %s", got.CreatedAt, got.UpdatedAt)
	}
}

// scheduleDamaged: an invalid definition is reported as a fault. Reads return it next to the others, and a tick passes it
// on. A new definition replaces it together with its state.
func scheduleDamaged(s *storetest.Stage) {
	damager, ok := s.DB.(storetest.ScheduleDamager)
	if !ok {
		s.Skip("this database damages no schedule")
	}
	for _, text := range []string{`"x"`, `{"cron":5}`, `[]`, `{"every":"a minute"}`} {
		sound, bad := s.NewSchedule(core.ScheduleRule{Cron: "* * * * *"}), s.NewSchedule(core.ScheduleRule{Cron: "* * * * *", Payload: []byte(`{"a":1}`)})
		damager.DamageSchedule(s.T, bad.ID, text)
		got := s.Schedule(bad)
		if got.Fault != schedule.DamagedRule || got.Rule.Cron != "" || !got.State.NextDue.Equal(bad.State.NextDue) {
			s.Errorf("%s reads as %+v", text, got)
		}
		if s.Schedule(sound).Fault != "" {
			s.Errorf("next to %s a sound one is damaged", text)
		}
		faults, request := 0, storetest.TickRequest("holder-1")
		request.ScheduleLimit = 10
		for _, one := range s.Tick(request).Schedules {
			if one.Fault != "" {
				faults++
			}
		}
		if faults != 1 {
			s.Errorf("next to %s the tick lists %d damaged ones", text, faults)
		}
		state := got.State
		state.Unreadable, state.ZoneMark = true, "5-3600"
		answers, err := s.Store.AdvanceSchedules(s.Ctx, []core.Advance{{ID: got.ID, Version: got.Version, Moves: got.Moves, State: state, Rule: &bad.Rule}}, nil)
		if s.Must(err); answers[0].Stale {
			s.Fatal("stale")
		}
		mended := s.Schedule(bad)
		if mended.Fault != "" || mended.Rule.Cron != bad.Rule.Cron || string(mended.Rule.Payload) != `{"a":1}` || mended.Version != bad.Version+1 || !mended.State.Unreadable || mended.State.ZoneMark != "5-3600" {
			s.Errorf("mended: %+v", mended)
		}
		s.Must(s.Store.DeleteSchedule(s.Ctx, "", bad.Name, 0))
		s.Must(s.Store.DeleteSchedule(s.Ctx, "", sound.Name, 0))
	}
}
