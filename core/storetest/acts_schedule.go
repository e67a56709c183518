package storetest

import (
	"cmp"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Fired returns the step for the fired instant n: a job, a ledger row, and the next due time one minute later.
func Fired(of core.Schedule, n int) core.Advance {
	state := of.State
	state.Accounted, state.NextDue = Instant(n), Instant(n+1)
	return core.Advance{
		ID: of.ID, Version: of.Version, Moves: of.Moves, State: state,
		Jobs:        []core.NewJob{{Type: of.Rule.Type, Tenant: of.Tenant, RunAt: Instant(n), Run: &core.Run{Schedule: of.Name, ScheduledFor: Instant(n)}}},
		Occurrences: []core.Ledgered{{Occurrence: core.Occurrence{From: Instant(n), To: Instant(n), Count: 1, Outcome: core.OccurrenceFired}}},
	}
}

// Step applies one step as a user, without a fence.
func (s *Stage) Step(step core.Advance) core.Advanced {
	s.Helper()
	answers, err := s.Store.AdvanceSchedules(s.Ctx, []core.Advance{step}, nil)
	s.Must(err)
	if len(answers) != 1 {
		s.Fatalf("one step got %d answers", len(answers))
	}
	return answers[0]
}

// NewSchedule creates a schedule that is due at Instant(0).
func (s *Stage) NewSchedule(rule core.ScheduleRule) core.Schedule {
	s.Helper()
	rule.Type = cmp.Or(rule.Type, s.NewType())
	kept, err := s.Store.CreateSchedule(s.Ctx, core.Schedule{
		Name: fmt.Sprintf("schedule-%d", s.Number()), Rule: rule,
		State: core.ScheduleState{Anchor: Instant(-1), Accounted: Instant(-1), NextDue: Instant(0), TZData: "2026a"},
	})
	s.Must(err)
	return kept
}

// Schedule reads a schedule again.
func (s *Stage) Schedule(of core.Schedule) core.Schedule {
	s.Helper()
	got, err := s.Store.GetSchedule(s.Ctx, of.Tenant, of.Name)
	s.Must(err)
	return got
}

// Instant returns a fixed due instant plus n minutes.
func Instant(n int) time.Time {
	return time.Date(2026, 3, 1, 12, n, 0, 123_456_000, time.UTC)
}
