package storetest

import (
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// ledger reads all of a schedule's rows, oldest first, without the time of writing.
func (s *stage) ledger(of core.Schedule) []core.Occurrence {
	s.Helper()
	rows, err := s.store.Occurrences(s.ctx, core.OccurrenceQuery{ScheduleID: of.ID, Limit: 1000})
	s.must(err)
	for i := range rows {
		if rows[i].At.IsZero() {
			s.Errorf("a ledger row without its time: %+v", rows[i])
		}
		rows[i].At = time.Time{}
	}
	slices.Reverse(rows)
	return rows
}

func tickSchedules(s *stage) {
	due := s.newSchedule(core.ScheduleRule{})
	ahead := s.newSchedule(core.ScheduleRule{})
	state := ahead.State
	state.NextDue = s.now().Add(20 * time.Minute).Truncate(time.Microsecond)
	s.step(core.Advance{ID: ahead.ID, Version: 1, State: state})
	late := s.newSchedule(core.ScheduleRule{})
	state = late.State
	state.NextDue, state.ExpectBy = time.Time{}, s.now().Add(-time.Second)
	s.step(core.Advance{ID: late.ID, Version: 1, State: state})

	req := tickRequest("holder-1")
	if res := s.tick(req); len(res.Schedules) != 0 || res.ScheduleIn != 0 {
		s.Errorf("unasked: %+v", res.Schedules)
	}
	req.ScheduleLimit = 10
	res := s.tick(req)
	names := map[string]bool{}
	for _, one := range res.Schedules {
		names[one.Name] = true
	}
	if len(res.Schedules) != 2 || !names[due.Name] || !names[late.Name] {
		s.Errorf("listed %+v", res.Schedules)
	}
	if second := s.tick(core.TickRequest{Holder: "holder-2", LeaseLength: bucketLease, ScheduleLimit: 10}); len(second.Schedules) != 0 {
		s.Errorf("one who holds nothing was given %d", len(second.Schedules))
	}
	req.ScheduleLimit = 1
	if res := s.tick(req); len(res.Schedules) != 1 || res.ScheduleIn != 0 {
		s.Errorf("limited to 1: %d, next in %s", len(res.Schedules), res.ScheduleIn)
	}
	s.step(fired(due, 0))
	for _, of := range []core.Schedule{due, late} {
		now := s.schedule(of)
		now.State.NextDue, now.State.ExpectBy = time.Time{}, time.Time{}
		s.step(core.Advance{ID: of.ID, Version: 1, Moves: now.Moves, State: now.State})
	}
	req.ScheduleLimit = 10
	if res := s.tick(req); len(res.Schedules) != 0 || res.ScheduleIn <= 19*time.Minute || res.ScheduleIn > 20*time.Minute {
		s.Errorf("%d due, next in %s", len(res.Schedules), res.ScheduleIn)
	}
	s.advance(20 * time.Minute)
	if res := s.tick(req); len(res.Schedules) != 1 || res.Schedules[0].Name != ahead.Name {
		s.Errorf("twenty minutes on: %+v", res.Schedules)
	}
}

func tickWaitingRun(s *stage) {
	of := s.newSchedule(core.ScheduleRule{Overlap: core.OverlapQueueOne})
	step := fired(of, 0)
	step.State.NextDue, step.State.Waiting = time.Time{}, &core.Run{Schedule: of.Name, ScheduledFor: instant(1)}
	s.step(step)
	req := tickRequest("holder-1")
	req.ScheduleLimit = 10
	if res := s.tick(req); len(res.Schedules) != 0 {
		s.Errorf("beside an active run: %+v", res.Schedules)
	}
	job := s.claim(of.Rule.Type, 1)[0]
	s.finishAs(core.Done, core.End{Ref: refOf(job), Outcome: core.EndDone})
	if res := s.tick(req); len(res.Schedules) != 1 || res.Schedules[0].State.Waiting == nil || !res.Schedules[0].State.Waiting.ScheduledFor.Equal(instant(1)) || res.Schedules[0].Active {
		s.Errorf("after it: %+v", res.Schedules)
	}
}

func occurrencePages(s *stage) {
	of := s.newSchedule(core.ScheduleRule{})
	for n := range 7 {
		s.step(fired(s.schedule(of), n))
	}
	var got []time.Time
	for q := (core.OccurrenceQuery{ScheduleID: of.ID, Limit: 3}); ; {
		page, err := s.store.Occurrences(s.ctx, q)
		s.must(err)
		for _, row := range page {
			got = append(got, row.From)
			q.Before = row.From
		}
		if len(page) < q.Limit {
			break
		}
	}
	for i := range got {
		if !got[i].Equal(instant(6 - i)) {
			s.Fatalf("pages brought %v", got)
		}
	}
	if len(got) != 7 {
		s.Errorf("pages brought %d rows", len(got))
	}
	for name, c := range map[string]struct {
		q core.OccurrenceQuery
		n int
	}{"from": {core.OccurrenceQuery{From: instant(4)}, 3}, "outcome": {core.OccurrenceQuery{Outcome: core.OccurrenceSkipped}, 0}} {
		c.q.ScheduleID, c.q.Limit = of.ID, 100
		rows, err := s.store.Occurrences(s.ctx, c.q)
		s.must(err)
		if len(rows) != c.n {
			s.Errorf("%s: %d rows, want %d", name, len(rows), c.n)
		}
	}
}

func ledgerRetention(s *stage) {
	of := s.newSchedule(core.ScheduleRule{})
	s.step(fired(of, 0))
	s.advance(70 * 24 * time.Hour) // a month that is kept whole lies in between
	of = s.schedule(of)
	s.step(fired(of, 1))
	_, err := s.store.Maintain(s.ctx, core.MaintainRequest{LedgerRetention: 24 * time.Hour})
	s.must(err)
	if rows := s.ledger(of); len(rows) != 1 || !rows[0].From.Equal(instant(1)) {
		s.Errorf("the ledger holds %+v", rows)
	}
}

func succeededNewest(s *stage) {
	of := s.newSchedule(core.ScheduleRule{})
	for n := range 3 {
		s.step(fired(s.schedule(of), n))
	}
	for _, job := range s.claim(of.Rule.Type, 3) {
		outcome := core.End{Ref: refOf(job), Outcome: core.EndDone}
		if job.Run.ScheduledFor.Equal(instant(2)) {
			outcome = core.End{Ref: refOf(job), Outcome: core.EndFail, Errors: oneError(job, "no")}
		}
		s.finish(outcome)
	}
	found, err := s.store.Succeeded(s.ctx, []core.SuccessQuery{{Name: of.Name, Since: instant(0)}, {Name: of.Name, Since: instant(2)}, {Tenant: "a", Name: of.Name}})
	s.must(err)
	if len(found) != 3 || !found[0].Newest.Equal(instant(1)) || found[0].First.IsZero() {
		s.Fatalf("succeeded: %+v", found)
	}
	if !found[1].Newest.IsZero() || !found[1].First.IsZero() || !found[2].Newest.IsZero() {
		s.Errorf("of an instant that failed, and of another tenant: %+v", found[1:])
	}
}
