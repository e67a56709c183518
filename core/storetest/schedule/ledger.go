package schedule

import (
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

// ledger reads all ledger rows of a schedule, oldest first, without the time of writing.
func ledger(s *storetest.Stage, of core.Schedule) []core.Occurrence {
	s.Helper()
	rows, err := s.Store.Occurrences(s.Ctx, core.OccurrenceQuery{ScheduleID: of.ID, Limit: 1000})
	s.Must(err)
	for i := range rows {
		if rows[i].At.IsZero() {
			s.Errorf("a ledger row without its time: %+v", rows[i])
		}
		rows[i].At = time.Time{}
	}
	slices.Reverse(rows)
	return rows
}

func tickSchedules(s *storetest.Stage) {
	due := s.NewSchedule(core.ScheduleRule{})
	ahead := s.NewSchedule(core.ScheduleRule{})
	state := ahead.State
	state.NextDue = s.Now().Add(20 * time.Minute).Truncate(time.Microsecond)
	s.Step(core.Advance{ID: ahead.ID, Version: 1, State: state})
	late := s.NewSchedule(core.ScheduleRule{})
	state = late.State
	state.NextDue, state.ExpectBy = time.Time{}, s.Now().Add(-time.Second)
	s.Step(core.Advance{ID: late.ID, Version: 1, State: state})

	req := storetest.TickRequest("holder-1")
	if res := s.Tick(req); len(res.Schedules) != 0 || res.ScheduleIn != 0 {
		s.Errorf("unasked: %+v", res.Schedules)
	}
	req.ScheduleLimit = 10
	res := s.Tick(req)
	names := map[string]bool{}
	for _, one := range res.Schedules {
		names[one.Name] = true
	}
	if len(res.Schedules) != 2 || !names[due.Name] || !names[late.Name] {
		s.Errorf("listed %+v", res.Schedules)
	}
	if second := s.Tick(core.TickRequest{Holder: "holder-2", LeaseLength: storetest.BucketLease, ScheduleLimit: 10}); len(second.Schedules) != 0 {
		s.Errorf("one who holds nothing was given %d", len(second.Schedules))
	}
	req.ScheduleLimit = 1
	if res := s.Tick(req); len(res.Schedules) != 1 || res.ScheduleIn != 0 {
		s.Errorf("limited to 1: %d, next in %s", len(res.Schedules), res.ScheduleIn)
	}
	s.Step(storetest.Fired(due, 0))
	for _, of := range []core.Schedule{due, late} {
		now := s.Schedule(of)
		now.State.NextDue, now.State.ExpectBy = time.Time{}, time.Time{}
		s.Step(core.Advance{ID: of.ID, Version: 1, Moves: now.Moves, State: now.State})
	}
	req.ScheduleLimit = 10
	if res := s.Tick(req); len(res.Schedules) != 0 || res.ScheduleIn <= 19*time.Minute || res.ScheduleIn > 20*time.Minute {
		s.Errorf("%d due, next in %s", len(res.Schedules), res.ScheduleIn)
	}
	s.Advance(20 * time.Minute)
	if res := s.Tick(req); len(res.Schedules) != 1 || res.Schedules[0].Name != ahead.Name {
		s.Errorf("twenty minutes on: %+v", res.Schedules)
	}
}

func tickWaitingRun(s *storetest.Stage) {
	of := s.NewSchedule(core.ScheduleRule{Overlap: core.OverlapQueueOne})
	step := storetest.Fired(of, 0)
	step.State.NextDue, step.State.Waiting = time.Time{}, &core.Run{Schedule: of.Name, ScheduledFor: storetest.Instant(1)}
	s.Step(step)
	req := storetest.TickRequest("holder-1")
	req.ScheduleLimit = 10
	if res := s.Tick(req); len(res.Schedules) != 0 {
		s.Errorf("during an active run: %+v", res.Schedules)
	}
	job := s.Claim(of.Rule.Type, 1)[0]
	s.FinishAs(core.Done, core.End{Ref: storetest.RefOf(job), Outcome: core.EndDone})
	if res := s.Tick(req); len(res.Schedules) != 1 || res.Schedules[0].State.Waiting == nil || !res.Schedules[0].State.Waiting.ScheduledFor.Equal(storetest.Instant(1)) || res.Schedules[0].Active {
		s.Errorf("after it: %+v", res.Schedules)
	}
}

func occurrencePages(s *storetest.Stage) {
	of := s.NewSchedule(core.ScheduleRule{})
	for n := range 7 {
		s.Step(storetest.Fired(s.Schedule(of), n))
	}
	var got []time.Time
	for q := (core.OccurrenceQuery{ScheduleID: of.ID, Limit: 3}); ; {
		page, err := s.Store.Occurrences(s.Ctx, q)
		s.Must(err)
		for _, row := range page {
			got = append(got, row.From)
			q.Before = row.From
		}
		if len(page) < q.Limit {
			break
		}
	}
	for i := range got {
		if !got[i].Equal(storetest.Instant(6 - i)) {
			s.Fatalf("pages brought %v", got)
		}
	}
	if len(got) != 7 {
		s.Errorf("pages brought %d rows", len(got))
	}
	for name, c := range map[string]struct {
		q core.OccurrenceQuery
		n int
	}{"from": {core.OccurrenceQuery{From: storetest.Instant(4)}, 3}, "outcome": {core.OccurrenceQuery{Outcome: core.OccurrenceSkipped}, 0}} {
		c.q.ScheduleID, c.q.Limit = of.ID, 100
		rows, err := s.Store.Occurrences(s.Ctx, c.q)
		s.Must(err)
		if len(rows) != c.n {
			s.Errorf("%s: %d rows, want %d", name, len(rows), c.n)
		}
	}
}

func ledgerRetention(s *storetest.Stage) {
	of := s.NewSchedule(core.ScheduleRule{})
	s.Step(storetest.Fired(of, 0))
	s.Advance(70 * 24 * time.Hour) // this skips a whole month that is still retained
	of = s.Schedule(of)
	s.Step(storetest.Fired(of, 1))
	_, err := s.Store.Maintain(s.Ctx, core.MaintainRequest{LedgerRetention: 24 * time.Hour})
	s.Must(err)
	if rows := ledger(s, of); len(rows) != 1 || !rows[0].From.Equal(storetest.Instant(1)) {
		s.Errorf("the ledger holds %+v", rows)
	}
}

func succeededNewest(s *storetest.Stage) {
	of := s.NewSchedule(core.ScheduleRule{})
	for n := range 3 {
		s.Step(storetest.Fired(s.Schedule(of), n))
	}
	for _, job := range s.Claim(of.Rule.Type, 3) {
		outcome := core.End{Ref: storetest.RefOf(job), Outcome: core.EndDone}
		if job.Run.ScheduledFor.Equal(storetest.Instant(2)) {
			outcome = core.End{Ref: storetest.RefOf(job), Outcome: core.EndFail, Errors: storetest.OneError(job, "no")}
		}
		s.Finish(outcome)
	}
	found, err := s.Store.Succeeded(s.Ctx, []core.SuccessQuery{{Name: of.Name, Since: storetest.Instant(0)}, {Name: of.Name, Since: storetest.Instant(2)}, {Tenant: "a", Name: of.Name}})
	s.Must(err)
	if len(found) != 3 || !found[0].Newest.Equal(storetest.Instant(1)) || found[0].First.IsZero() {
		s.Fatalf("succeeded: %+v", found)
	}
	if !found[1].Newest.IsZero() || !found[1].First.IsZero() || !found[2].Newest.IsZero() {
		s.Errorf("of an instant that failed, and of another tenant: %+v", found[1:])
	}
}
