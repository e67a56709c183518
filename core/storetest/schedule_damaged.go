package storetest

import (
	"time"

	"github.com/belfry-dev/belfry/core"
)

// scheduleCreatedAt: the instants of an interval count from a schedule's creation, so that both are one instant.
func scheduleCreatedAt(s *stage) {
	kept, err := s.store.CreateSchedule(s.ctx, core.Schedule{Name: "n", Rule: core.ScheduleRule{Type: "a", Every: core.ScheduleLength(time.Minute)},
		State: core.ScheduleState{Anchor: instant(0), Accounted: instant(0), NextDue: instant(1), TZData: "2026a"}, CreatedAt: instant(0)})
	s.must(err)
	if got := s.schedule(kept); !got.CreatedAt.Equal(instant(0)) || !got.UpdatedAt.Equal(instant(0)) || !kept.CreatedAt.Equal(instant(0)) {
		s.Errorf("made %s, changed %s, answered %s", got.CreatedAt, got.UpdatedAt, kept.CreatedAt)
	}
	state := kept.State
	state.Anchor = instant(5)
	answers, err := s.store.AdvanceSchedules(s.ctx, []core.Advance{{ID: kept.ID, Version: kept.Version, Moves: kept.Moves, State: state, Rule: &kept.Rule}}, nil)
	if s.must(err); answers[0].Stale {
		s.Fatal("stale")
	}
	if got := s.schedule(kept); !got.UpdatedAt.Equal(instant(5)) || !got.CreatedAt.Equal(instant(0)) {
		s.Errorf("an interval that counts anew: made %s, changed %s", got.CreatedAt, got.UpdatedAt)
	}
}

// scheduleDamaged: a definition that is none is told as a fault; others are read beside it, a tick passes it on, and a
// definition that is put in its place is kept with the state that goes with it.
func scheduleDamaged(s *stage) {
	damager, ok := s.db.(ScheduleDamager)
	if !ok {
		s.Skip("this database damages no schedule")
	}
	for _, text := range []string{`"x"`, `{"cron":5}`, `[]`, `{"every":"a minute"}`} {
		sound, bad := s.newSchedule(core.ScheduleRule{Cron: "* * * * *"}), s.newSchedule(core.ScheduleRule{Cron: "* * * * *", Payload: []byte(`{"a":1}`)})
		damager.DamageSchedule(s.T, bad.ID, text)
		got := s.schedule(bad)
		if got.Fault != core.DamagedRule || got.Rule.Cron != "" || !got.State.NextDue.Equal(bad.State.NextDue) {
			s.Errorf("%s reads as %+v", text, got)
		}
		if s.schedule(sound).Fault != "" {
			s.Errorf("beside %s a sound one is damaged", text)
		}
		faults, request := 0, tickRequest("holder-1")
		request.ScheduleLimit = 10
		for _, one := range s.tick(request).Schedules {
			if one.Fault != "" {
				faults++
			}
		}
		if faults != 1 {
			s.Errorf("beside %s the tick lists %d that are damaged", text, faults)
		}
		state := got.State
		state.Unreadable, state.ZoneMark = true, "5-3600"
		answers, err := s.store.AdvanceSchedules(s.ctx, []core.Advance{{ID: got.ID, Version: got.Version, Moves: got.Moves, State: state, Rule: &bad.Rule}}, nil)
		if s.must(err); answers[0].Stale {
			s.Fatal("stale")
		}
		mended := s.schedule(bad)
		if mended.Fault != "" || mended.Rule.Cron != bad.Rule.Cron || string(mended.Rule.Payload) != `{"a":1}` || mended.Version != bad.Version+1 || !mended.State.Unreadable || mended.State.ZoneMark != "5-3600" {
			s.Errorf("mended: %+v", mended)
		}
		s.must(s.store.DeleteSchedule(s.ctx, "", bad.Name, 0))
		s.must(s.store.DeleteSchedule(s.ctx, "", sound.Name, 0))
	}
}
