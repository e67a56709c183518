package storetest

import (
	"reflect"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// fired is the step in which the instant n fired: a job, a ledger row, the next due one minute on.
func fired(of core.Schedule, n int) core.Advance {
	state := of.State
	state.Accounted, state.NextDue = instant(n), instant(n+1)
	return core.Advance{
		ID: of.ID, Version: of.Version, Moves: of.Moves, State: state,
		Jobs:        []core.NewJob{{Type: of.Rule.Type, Tenant: of.Tenant, RunAt: instant(n), Run: &core.Run{Schedule: of.Name, ScheduledFor: instant(n)}}},
		Occurrences: []core.Ledgered{{Occurrence: core.Occurrence{From: instant(n), To: instant(n), Count: 1, Outcome: core.OccurrenceFired}}},
	}
}

// step applies one step as a user, who needs no fence.
func (s *stage) step(step core.Advance) core.Advanced {
	s.Helper()
	answers, err := s.store.AdvanceSchedules(s.ctx, []core.Advance{step}, nil)
	s.must(err)
	if len(answers) != 1 {
		s.Fatalf("one step got %d answers", len(answers))
	}
	return answers[0]
}

func advanceWhole(s *stage) {
	of, other := s.newSchedule(core.ScheduleRule{}), s.newSchedule(core.ScheduleRule{})
	step := fired(of, 0)
	run := &core.Run{Schedule: of.Name, ScheduledFor: instant(3), CatchUp: true, Covers: 3, CoversFrom: instant(1)}
	step.Jobs = append(step.Jobs, core.NewJob{Type: of.Rule.Type, Payload: []byte(`{ "b" : 1e5 }`), Priority: core.Critical, RunAt: instant(4), MaxAttempts: 2,
		Timeout: time.Minute, ExpiresAfter: time.Hour, Backoff: []time.Duration{time.Second}, Target: []byte(`{"url":"https://example.com"}`), Tags: []string{"t"}, Run: run})
	step.Occurrences = append(step.Occurrences,
		core.Ledgered{Occurrence: core.Occurrence{From: instant(1), To: instant(2), Count: 2, Outcome: core.OccurrenceCovered}, Job: 1},
		core.Ledgered{Occurrence: core.Occurrence{From: instant(3), To: instant(3), Count: 1, Outcome: core.OccurrenceCaughtUp}, Job: 1},
		core.Ledgered{Occurrence: core.Occurrence{From: instant(4), To: instant(9), Count: 6, Outcome: core.OccurrenceSkipped, Reason: core.SkippedPaused}, Job: -1})
	step.State = core.ScheduleState{Anchor: instant(-5), Accounted: instant(9), NextDue: instant(10), Waiting: run, PausedAt: instant(12), TZData: "2026b", ExpectBy: instant(14), Expected: instant(15), Alerted: true}
	answers, err := s.store.AdvanceSchedules(s.ctx, []core.Advance{step, fired(other, 0)}, nil)
	s.must(err)
	if len(answers) != 2 || answers[0].Stale || answers[1].Stale || len(answers[0].JobIDs) != 2 || len(answers[1].JobIDs) != 1 {
		s.Fatalf("answers %+v", answers)
	}
	if got := s.schedule(of); !reflect.DeepEqual(got.State, step.State) || got.Version != 1 || !got.Active {
		s.Errorf("state %+v\nwant  %+v", got, step.State)
	}
	first, second := s.get(answers[0].JobIDs[0]), s.get(answers[0].JobIDs[1])
	if !reflect.DeepEqual(first.Run, step.Jobs[0].Run) || !first.RunAt.Equal(instant(0)) || string(first.Payload) != "{}" {
		s.Errorf("first job %+v", first)
	}
	if !reflect.DeepEqual(second.Run, run) || string(second.Payload) != `{ "b" : 1e5 }` || second.Priority != core.Critical || second.MaxAttempts != 2 ||
		second.Timeout != time.Minute || len(second.Backoff) != 1 || len(second.Target) == 0 || len(second.Tags) != 1 || !second.ExpiresAt.Equal(instant(64)) || !first.ExpiresAt.IsZero() {
		s.Errorf("second job %+v", second)
	}
	want := []core.Occurrence{
		{From: instant(0), To: instant(0), Count: 1, Outcome: core.OccurrenceFired, JobID: first.ID},
		{From: instant(1), To: instant(2), Count: 2, Outcome: core.OccurrenceCovered, JobID: second.ID},
		{From: instant(3), To: instant(3), Count: 1, Outcome: core.OccurrenceCaughtUp, JobID: second.ID},
		{From: instant(4), To: instant(9), Count: 6, Outcome: core.OccurrenceSkipped, Reason: core.SkippedPaused},
	}
	if got := s.ledger(of); !reflect.DeepEqual(got, want) {
		s.Errorf("ledger %+v\nwant   %+v", got, want)
	}
	if got := s.ledger(other); len(got) != 1 || got[0].JobID != answers[1].JobIDs[0] {
		s.Errorf("the other's ledger %+v", got)
	}
	s.redefine(of)
}

// redefine gives a schedule a new rule: its version rises.
func (s *stage) redefine(of core.Schedule) {
	s.Helper()
	now := s.schedule(of)
	rule := now.Rule
	rule.Type, rule.Paused = "another", true
	answer := s.step(core.Advance{ID: of.ID, Version: now.Version, Moves: now.Moves, State: now.State, Rule: &rule})
	got := s.schedule(of)
	if answer.Stale || answer.Version != 2 || got.Version != 2 || !reflect.DeepEqual(got.Rule, rule) {
		s.Errorf("answer %+v, schedule %+v", answer, got)
	}
	paused := true
	list, err := s.store.ListSchedules(s.ctx, core.ScheduleQuery{Type: "another", Paused: &paused, Limit: 10})
	s.must(err)
	if len(list) != 1 || list[0].ID != of.ID {
		s.Errorf("listed by its new type: %+v", list)
	}
}

func advanceStale(s *stage) {
	of := s.newSchedule(core.ScheduleRule{})
	for name, change := range map[string]func(*core.Advance){
		"another state":   func(a *core.Advance) { a.Moves++ },
		"another version": func(a *core.Advance) { a.Version++ },
		"no such one":     func(a *core.Advance) { a.ID += 1000 },
	} {
		step := fired(of, 0)
		change(&step)
		if answer := s.step(step); !answer.Stale || len(answer.JobIDs) != 0 {
			s.Errorf("%s: %+v", name, answer)
		}
	}
	if got := s.schedule(of); !reflect.DeepEqual(got.State, of.State) || got.Active || len(s.ledger(of)) != 0 {
		s.Errorf("something was done: %+v", got)
	}
}

func advanceRace(s *stage) {
	of := s.newSchedule(core.ScheduleRule{})
	second := s.second()
	won := make([]bool, 16)
	s.times(len(won), func(i int) error {
		store := s.store
		if i%2 == 1 {
			store = second.store
		}
		answers, err := store.AdvanceSchedules(s.ctx, []core.Advance{fired(of, 0)}, nil)
		won[i] = err == nil && !answers[0].Stale
		return err
	})
	winners := 0
	for _, w := range won {
		if w {
			winners++
		}
	}
	runs, err := s.store.ActiveRuns(s.ctx, "", of.Name)
	s.must(err)
	if rows := s.ledger(of); winners != 1 || len(rows) != 1 || len(runs) != 1 {
		s.Errorf("%d winners, %d ledger rows, %d jobs", winners, len(rows), len(runs))
	}
}

func advanceFence(s *stage) {
	of := s.newSchedule(core.ScheduleRule{})
	held := s.tick(tickRequest("holder-1")).Held
	mine := slices.DeleteFunc(slices.Clone(held), func(h core.Held) bool { return h.Bucket == core.BucketOf(of.ID) })
	if answers, err := s.store.AdvanceSchedules(s.ctx, []core.Advance{fired(of, 0)}, mine); err != nil || !answers[0].Stale {
		s.Errorf("a bucket that is not held: %+v, %v", answers, err)
	}
	old := slices.Clone(held)
	for i := range old {
		old[i].Token--
	}
	if answers, err := s.store.AdvanceSchedules(s.ctx, []core.Advance{fired(of, 0)}, old); err != nil || !answers[0].Stale {
		s.Errorf("a lease of before: %+v, %v", answers, err)
	}
	if answers, err := s.store.AdvanceSchedules(s.ctx, []core.Advance{fired(of, 0)}, held); err != nil || answers[0].Stale {
		s.Errorf("under its lease: %+v, %v", answers, err)
	}
}

func advanceInactive(s *stage) {
	of := s.newSchedule(core.ScheduleRule{Overlap: core.OverlapSkip})
	s.step(fired(of, 0))
	of = s.schedule(of)
	step := fired(of, 1)
	step.Inactive = true
	if answer := s.step(step); !answer.Stale {
		s.Errorf("beside an active run: %+v", answer)
	}
	job := s.claim(of.Rule.Type, 1)[0]
	s.finishAs(core.Done, core.End{Ref: refOf(job), Outcome: core.EndDone})
	if answer := s.step(step); answer.Stale {
		s.Errorf("after it: %+v", answer)
	}
}

func advanceAttach(s *stage) {
	of := s.newSchedule(core.ScheduleRule{Overlap: core.OverlapQueueOne})
	step := fired(of, 0)
	step.Jobs, step.Occurrences[0].Job, step.State.Waiting = nil, -1, &core.Run{Schedule: of.Name, ScheduledFor: instant(0)}
	s.step(step)
	of = s.schedule(of)
	later := fired(of, 0)
	later.State, later.Occurrences, later.Attach, later.Inactive = of.State, nil, true, true
	later.State.Waiting = nil
	answer := s.step(later)
	if rows := s.ledger(of); answer.Stale || len(rows) != 1 || rows[0].JobID != answer.JobIDs[0] {
		s.Errorf("answer %+v, ledger %+v", answer, rows)
	}
}
