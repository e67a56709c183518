package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func scheduleScenarios() []scenario {
	return []scenario{
		{"CreateSchedule/keeps what it is given, once per tenant and name", scheduleRoundTrip},
		{"ListSchedules/pages by tenant and name, and every filter keeps its own", scheduleList},
		{"DeleteSchedule/only at its version, with its ledger, and jobs stay", scheduleDelete},
		{"AdvanceSchedules/moves state, jobs and ledger together", advanceWhole},
		{"AdvanceSchedules/a step from another state or version is stale and does nothing", advanceStale},
		{"AdvanceSchedules/of many at once exactly one wins", advanceRace},
		{"AdvanceSchedules/outside its fence is stale", advanceFence},
		{"AdvanceSchedules/passes over a schedule with an active run where it must not have one", advanceInactive},
		{"AdvanceSchedules/a run that waited is attached to its ledger row", advanceAttach},
		{"Tick/lists schedules that need to be advanced, in held buckets, and says when the next one does", tickSchedules},
		{"Tick/a run that waits is listed once no run is active", tickWaitingRun},
		{"Occurrences/newest first, in pages", occurrencePages},
		{"Maintain/drops ledger rows past their retention", ledgerRetention},
		{"Succeeded/finds the newest instant that was done", succeededNewest},
		{"RaiseAlerts/raises once, clears once, and both may be repeated", alertsOnce},
		{"Alerts/events wait until they were published as they stand", alertsUnsent},
	}
}

// instant is a fixed due instant, n minutes on.
func instant(n int) time.Time {
	return time.Date(2026, 3, 1, 12, n, 0, 123_456_000, time.UTC)
}

// newSchedule keeps a schedule that is due at instant(0).
func (s *stage) newSchedule(rule core.ScheduleRule) core.Schedule {
	s.Helper()
	rule.Type = cmp.Or(rule.Type, s.newType())
	kept, err := s.store.CreateSchedule(s.ctx, core.Schedule{
		Name: fmt.Sprintf("schedule-%d", s.number()), Rule: rule,
		State: core.ScheduleState{Anchor: instant(-1), Accounted: instant(-1), NextDue: instant(0), TZData: "2026a"},
	})
	s.must(err)
	return kept
}

// schedule reads one again.
func (s *stage) schedule(of core.Schedule) core.Schedule {
	s.Helper()
	got, err := s.store.GetSchedule(s.ctx, of.Tenant, of.Name)
	s.must(err)
	return got
}

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

func scheduleRoundTrip(s *stage) {
	rule := core.ScheduleRule{
		Cron: "*/5 * * * *", TimeZone: "Europe/Berlin", DSTGap: "shift", StartsAt: instant(1), Missed: "all", MissedWindow: core.ScheduleLength(time.Hour),
		MissedLimit: 7, Overlap: core.OverlapSkip, Jitter: core.ScheduleLength(time.Second), ExpectWithin: core.ScheduleLength(time.Minute),
		Type: "mail.send", Payload: []byte(`{ "a" : 1e5 }`), Priority: "critical", MaxAttempts: 3, Tags: []string{"x"},
		Backoff: []core.ScheduleLength{core.ScheduleLength(time.Second)}, Target: []byte(`{"url":"https://example.com"}`),
	}
	given := core.Schedule{Tenant: "a", Name: `über "nightly"/50%`, Rule: rule, State: core.ScheduleState{
		Anchor: instant(0), Accounted: instant(1), NextDue: instant(2), PausedAt: instant(3), TZData: "2026a", ExpectBy: instant(4), Expected: instant(2),
	}}
	kept, err := s.store.CreateSchedule(s.ctx, given)
	s.must(err)
	if kept.ID == 0 || kept.Version != 1 || kept.CreatedAt.IsZero() || !kept.UpdatedAt.Equal(kept.CreatedAt) {
		s.Errorf("kept %+v", kept)
	}
	got := s.schedule(kept)
	want := kept
	if !reflect.DeepEqual(got.Rule, rule) || !reflect.DeepEqual(got.State, given.State) {
		s.Errorf("got  %+v\nwant %+v", got, want)
	}
	if _, err := s.store.CreateSchedule(s.ctx, given); !errors.Is(err, core.ErrConflict) {
		s.Errorf("the same name again: %v", err)
	}
	given.Tenant = "b"
	other, err := s.store.CreateSchedule(s.ctx, given)
	s.must(err)
	if other.ID == kept.ID {
		s.Error("two tenants share one schedule")
	}
	if _, err := s.store.GetSchedule(s.ctx, "c", given.Name); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("another tenant's name: %v", err)
	}
}

func scheduleList(s *stage) {
	var want []string
	for _, tenant := range []string{"", "a", "b"} {
		for i := range 5 {
			rule := core.ScheduleRule{Type: []string{"x", "y"}[i%2], Paused: i == 4}
			_, err := s.store.CreateSchedule(s.ctx, core.Schedule{Tenant: tenant, Name: fmt.Sprintf("n%d", i), Rule: rule,
				State: core.ScheduleState{Anchor: instant(0), Accounted: instant(0), TZData: []string{"2026a", "2026b"}[i%2]}})
			s.must(err)
			want = append(want, tenant+"/"+rule.Type+"/"+fmt.Sprint(i))
		}
	}
	var got []string
	for q := (core.ScheduleQuery{Limit: 4}); ; {
		page, err := s.store.ListSchedules(s.ctx, q)
		s.must(err)
		for _, one := range page {
			got = append(got, one.Tenant+"/"+one.Rule.Type+"/"+one.Name[1:])
			q.AfterTenant, q.AfterName = one.Tenant, one.Name
		}
		if len(page) < q.Limit {
			break
		}
	}
	if !slices.Equal(got, want) {
		s.Errorf("got  %v\nwant %v", got, want)
	}
	tenant, paused := "a", true
	for name, c := range map[string]struct {
		q core.ScheduleQuery
		n int
	}{
		"tenant": {core.ScheduleQuery{Tenant: &tenant}, 5}, "type": {core.ScheduleQuery{Type: "y"}, 6}, "paused": {core.ScheduleQuery{Paused: &paused}, 3},
		"time zone data": {core.ScheduleQuery{TZDataNot: "2026a"}, 6}, "no tenant": {core.ScheduleQuery{Tenant: new(string)}, 5},
	} {
		c.q.Limit = 100
		list, err := s.store.ListSchedules(s.ctx, c.q)
		s.must(err)
		if len(list) != c.n {
			s.Errorf("%s: %d schedules, want %d", name, len(list), c.n)
		}
	}
}

func scheduleDelete(s *stage) {
	of := s.newSchedule(core.ScheduleRule{})
	made := s.step(fired(of, 0))
	if err := s.store.DeleteSchedule(s.ctx, "", of.Name, of.Version+1); !errors.Is(err, core.ErrStale) {
		s.Errorf("at another version: %v", err)
	}
	s.must(s.store.DeleteSchedule(s.ctx, "", of.Name, of.Version))
	if err := s.store.DeleteSchedule(s.ctx, "", of.Name, 0); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("again: %v", err)
	}
	if rows := s.ledger(of); len(rows) != 0 {
		s.Errorf("its ledger stays: %+v", rows)
	}
	if job := s.get(made.JobIDs[0]); job.Status != core.Scheduled {
		s.Errorf("its job is %s", job.Status)
	}
}

func advanceWhole(s *stage) {
	of, other := s.newSchedule(core.ScheduleRule{}), s.newSchedule(core.ScheduleRule{})
	step := fired(of, 0)
	run := &core.Run{Schedule: of.Name, ScheduledFor: instant(3), CatchUp: true, Covers: 3, CoversFrom: instant(1)}
	step.Jobs = append(step.Jobs, core.NewJob{Type: of.Rule.Type, Payload: []byte(`{ "b" : 1e5 }`), Priority: core.Critical, RunAt: instant(4), MaxAttempts: 2,
		Timeout: time.Minute, Backoff: []time.Duration{time.Second}, Target: []byte(`{"url":"https://example.com"}`), Tags: []string{"t"}, Run: run})
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
		second.Timeout != time.Minute || len(second.Backoff) != 1 || len(second.Target) == 0 || len(second.Tags) != 1 {
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

func alertsOnce(s *stage) {
	one := core.Alert{Kind: "schedule_missed", Tenant: "a", Subject: "nightly", Detail: "no success"}
	for range 3 {
		s.must(s.store.RaiseAlerts(s.ctx, []core.Alert{one, {Kind: "type_missed", Subject: "nightly"}}))
	}
	open := s.alerts(core.AlertQuery{Open: true})
	if len(open) != 2 || open[1].Detail != "no success" || open[1].RaisedAt.IsZero() || !open[1].ClearedAt.IsZero() {
		s.Fatalf("open %+v", open)
	}
	over := one
	over.ClearedAt = s.now()
	for range 3 {
		s.must(s.store.RaiseAlerts(s.ctx, []core.Alert{over}))
	}
	tenant := "a"
	if all := s.alerts(core.AlertQuery{Tenant: &tenant}); len(all) != 1 || all[0].ClearedAt.IsZero() {
		s.Errorf("after clearing: %+v", all)
	}
	s.must(s.store.RaiseAlerts(s.ctx, []core.Alert{one}))
	if all := s.alerts(core.AlertQuery{Tenant: &tenant, Kind: one.Kind}); len(all) != 2 || !all[0].ClearedAt.IsZero() {
		s.Errorf("raised anew: %+v", all)
	}
	moment := core.Alert{Kind: "occurrences_dropped", Subject: "nightly", RaisedAt: s.now(), ClearedAt: s.now()}
	s.must(s.store.RaiseAlerts(s.ctx, []core.Alert{moment}))
	if all := s.alerts(core.AlertQuery{Kind: moment.Kind}); len(all) != 1 || all[0].ClearedAt.IsZero() {
		s.Errorf("one that was over at once: %+v", all)
	}
}

func alertsUnsent(s *stage) {
	one := core.Alert{Kind: "schedule_missed", Subject: "nightly"}
	s.must(s.store.RaiseAlerts(s.ctx, []core.Alert{one}))
	req := tickRequest("holder-1")
	req.ScheduleLimit = 1
	if !s.tick(req).Unsent {
		s.Error("the tick does not say that an event waits")
	}
	raised := s.alerts(core.AlertQuery{Unsent: true})
	if len(raised) != 1 {
		s.Fatalf("unsent %+v", raised)
	}
	over := one
	over.ClearedAt = s.now()
	s.must(s.store.RaiseAlerts(s.ctx, []core.Alert{over}))
	s.must(s.store.MarkAlerts(s.ctx, raised))
	cleared := s.alerts(core.AlertQuery{Unsent: true})
	if len(cleared) != 1 || cleared[0].ClearedAt.IsZero() {
		s.Fatalf("what was cleared before its raising was published: %+v", cleared)
	}
	s.must(s.store.MarkAlerts(s.ctx, cleared))
	if left := s.alerts(core.AlertQuery{Unsent: true}); len(left) != 0 || s.tick(req).Unsent {
		s.Errorf("left %+v", left)
	}
}

func (s *stage) alerts(q core.AlertQuery) []core.Alert {
	s.Helper()
	q.Limit = 100
	list, err := s.store.Alerts(s.ctx, q)
	s.must(err)
	return list
}
