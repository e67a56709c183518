package schedule

import (
	"reflect"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func advanceWhole(s *storetest.Stage) {
	of, other := s.NewSchedule(core.ScheduleRule{}), s.NewSchedule(core.ScheduleRule{})
	step := storetest.Fired(of, 0)
	run := &core.Run{Schedule: of.Name, ScheduledFor: storetest.Instant(3), CatchUp: true, Covers: 3, CoversFrom: storetest.Instant(1)}
	step.Jobs = append(step.Jobs, core.NewJob{Type: of.Rule.Type, Payload: []byte(`{ "b" : 1e5 }`), Priority: core.Critical, RunAt: storetest.Instant(4), MaxAttempts: 2,
		Timeout: time.Minute, ExpiresAfter: time.Hour, Backoff: []time.Duration{time.Second}, Target: []byte(`{"url":"https://example.com"}`), Tags: []string{"t"}, Run: run})
	step.Occurrences = append(step.Occurrences,
		core.Ledgered{Occurrence: core.Occurrence{From: storetest.Instant(1), To: storetest.Instant(2), Count: 2, Outcome: core.OccurrenceCovered}, Job: 1},
		core.Ledgered{Occurrence: core.Occurrence{From: storetest.Instant(3), To: storetest.Instant(3), Count: 1, Outcome: core.OccurrenceCaughtUp}, Job: 1},
		core.Ledgered{Occurrence: core.Occurrence{From: storetest.Instant(4), To: storetest.Instant(9), Count: 6, Outcome: core.OccurrenceSkipped, Reason: core.SkippedPaused}, Job: -1})
	step.State = core.ScheduleState{Anchor: storetest.Instant(-5), Accounted: storetest.Instant(9), NextDue: storetest.Instant(10), Waiting: run, PausedAt: storetest.Instant(12), TZData: "2026b", ExpectBy: storetest.Instant(14), Expected: storetest.Instant(15), Alerted: true}
	answers, err := s.Store.AdvanceSchedules(s.Ctx, []core.Advance{step, storetest.Fired(other, 0)}, nil)
	s.Must(err)
	if len(answers) != 2 || answers[0].Stale || answers[1].Stale || len(answers[0].JobIDs) != 2 || len(answers[1].JobIDs) != 1 {
		s.Fatalf("answers %+v", answers)
	}
	if got := s.Schedule(of); !reflect.DeepEqual(got.State, step.State) || got.Version != 1 || !got.Active {
		s.Errorf("state %+v\nwant  %+v", got, step.State)
	}
	first, second := s.Get(answers[0].JobIDs[0]), s.Get(answers[0].JobIDs[1])
	if !reflect.DeepEqual(first.Run, step.Jobs[0].Run) || !first.RunAt.Equal(storetest.Instant(0)) || string(first.Payload) != "{}" {
		s.Errorf("first job %+v", first)
	}
	if !reflect.DeepEqual(second.Run, run) || string(second.Payload) != `{ "b" : 1e5 }` || second.Priority != core.Critical || second.MaxAttempts != 2 ||
		second.Timeout != time.Minute || len(second.Backoff) != 1 || len(second.Target) == 0 || len(second.Tags) != 1 || !second.ExpiresAt.Equal(storetest.Instant(64)) || !first.ExpiresAt.IsZero() {
		s.Errorf("second job %+v", second)
	}
	want := []core.Occurrence{
		{From: storetest.Instant(0), To: storetest.Instant(0), Count: 1, Outcome: core.OccurrenceFired, JobID: first.ID},
		{From: storetest.Instant(1), To: storetest.Instant(2), Count: 2, Outcome: core.OccurrenceCovered, JobID: second.ID},
		{From: storetest.Instant(3), To: storetest.Instant(3), Count: 1, Outcome: core.OccurrenceCaughtUp, JobID: second.ID},
		{From: storetest.Instant(4), To: storetest.Instant(9), Count: 6, Outcome: core.OccurrenceSkipped, Reason: core.SkippedPaused},
	}
	if got := ledger(s, of); !reflect.DeepEqual(got, want) {
		s.Errorf("ledger %+v\nwant   %+v", got, want)
	}
	if got := ledger(s, other); len(got) != 1 || got[0].JobID != answers[1].JobIDs[0] {
		s.Errorf("the other's ledger %+v", got)
	}
	redefine(s, of)
}

// redefine gives a schedule a new rule: its version rises.
func redefine(s *storetest.Stage, of core.Schedule) {
	s.Helper()
	now := s.Schedule(of)
	rule := now.Rule
	rule.Type, rule.Paused = "another", true
	answer := s.Step(core.Advance{ID: of.ID, Version: now.Version, Moves: now.Moves, State: now.State, Rule: &rule})
	got := s.Schedule(of)
	if answer.Stale || answer.Version != 2 || got.Version != 2 || !reflect.DeepEqual(got.Rule, rule) {
		s.Errorf("answer %+v, schedule %+v", answer, got)
	}
	paused := true
	list, err := s.Store.ListSchedules(s.Ctx, core.ScheduleQuery{Type: "another", Paused: &paused, Limit: 10})
	s.Must(err)
	if len(list) != 1 || list[0].ID != of.ID {
		s.Errorf("listed by its new type: %+v", list)
	}
}

func advanceStale(s *storetest.Stage) {
	of := s.NewSchedule(core.ScheduleRule{})
	for name, change := range map[string]func(*core.Advance){
		"another state":   func(a *core.Advance) { a.Moves++ },
		"another version": func(a *core.Advance) { a.Version++ },
		"no such one":     func(a *core.Advance) { a.ID += 1000 },
	} {
		step := storetest.Fired(of, 0)
		change(&step)
		if answer := s.Step(step); !answer.Stale || len(answer.JobIDs) != 0 {
			s.Errorf("%s: %+v", name, answer)
		}
	}
	if got := s.Schedule(of); !reflect.DeepEqual(got.State, of.State) || got.Active || len(ledger(s, of)) != 0 {
		s.Errorf("something was done: %+v", got)
	}
}

func advanceRace(s *storetest.Stage) {
	of := s.NewSchedule(core.ScheduleRule{})
	second := s.Second()
	won := make([]bool, 16)
	s.Times(len(won), func(i int) error {
		store := s.Store
		if i%2 == 1 {
			store = second.Store
		}
		answers, err := store.AdvanceSchedules(s.Ctx, []core.Advance{storetest.Fired(of, 0)}, nil)
		won[i] = err == nil && !answers[0].Stale
		return err
	})
	winners := 0
	for _, w := range won {
		if w {
			winners++
		}
	}
	runs, err := s.Store.ActiveRuns(s.Ctx, "", of.Name)
	s.Must(err)
	if rows := ledger(s, of); winners != 1 || len(rows) != 1 || len(runs) != 1 {
		s.Errorf("%d winners, %d ledger rows, %d jobs", winners, len(rows), len(runs))
	}
}

func advanceFence(s *storetest.Stage) {
	of := s.NewSchedule(core.ScheduleRule{})
	held := s.Tick(storetest.TickRequest("holder-1")).Held
	mine := slices.DeleteFunc(slices.Clone(held), func(h core.Held) bool { return h.Bucket == core.BucketOf(of.ID) })
	if answers, err := s.Store.AdvanceSchedules(s.Ctx, []core.Advance{storetest.Fired(of, 0)}, mine); err != nil || !answers[0].Stale {
		s.Errorf("a bucket that is not held: %+v, %v", answers, err)
	}
	old := slices.Clone(held)
	for i := range old {
		old[i].Token--
	}
	if answers, err := s.Store.AdvanceSchedules(s.Ctx, []core.Advance{storetest.Fired(of, 0)}, old); err != nil || !answers[0].Stale {
		s.Errorf("a lease of before: %+v, %v", answers, err)
	}
	if answers, err := s.Store.AdvanceSchedules(s.Ctx, []core.Advance{storetest.Fired(of, 0)}, held); err != nil || answers[0].Stale {
		s.Errorf("under its lease: %+v, %v", answers, err)
	}
}

func advanceInactive(s *storetest.Stage) {
	of := s.NewSchedule(core.ScheduleRule{Overlap: core.OverlapSkip})
	s.Step(storetest.Fired(of, 0))
	of = s.Schedule(of)
	step := storetest.Fired(of, 1)
	step.Inactive = true
	if answer := s.Step(step); !answer.Stale {
		s.Errorf("during an active run: %+v", answer)
	}
	job := s.Claim(of.Rule.Type, 1)[0]
	s.FinishAs(core.Done, core.End{Ref: storetest.RefOf(job), Outcome: core.EndDone})
	if answer := s.Step(step); answer.Stale {
		s.Errorf("after it: %+v", answer)
	}
}

func advanceAttach(s *storetest.Stage) {
	of := s.NewSchedule(core.ScheduleRule{Overlap: core.OverlapQueueOne})
	step := storetest.Fired(of, 0)
	step.Jobs, step.Occurrences[0].Job, step.State.Waiting = nil, -1, &core.Run{Schedule: of.Name, ScheduledFor: storetest.Instant(0)}
	s.Step(step)
	of = s.Schedule(of)
	later := storetest.Fired(of, 0)
	later.State, later.Occurrences, later.Attach, later.Inactive = of.State, nil, true, true
	later.State.Waiting = nil
	answer := s.Step(later)
	if rows := ledger(s, of); answer.Stale || len(rows) != 1 || rows[0].JobID != answer.JobIDs[0] {
		s.Errorf("answer %+v, ledger %+v", answer, rows)
	}
}
