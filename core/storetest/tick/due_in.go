package tick

import (
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
	"github.com/belfry-dev/belfry/core/storetest/operate"
	"github.com/belfry-dev/belfry/core/storetest/schedule"
	"github.com/belfry-dev/belfry/core/storetest/work"
)

func dueInScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "DueIn/says when the next of anything is due", Run: dueInNext},
		{Name: "DueIn/is zero while jobs are due or in flight", Run: dueInJobs},
		{Name: "DueIn/is zero while a schedule or a type must be checked", Run: dueInWatched},
		{Name: "DueIn/is zero while failures, alerts or faults wait to be reported", Run: dueInUntold},
		{Name: "DueIn/many rows of one lane are not read", Run: dueInFew},
	}
}

const news = 2 * time.Minute // counts younger than this still need work

// dueIn checks that something is due in this time, or now (0).
func dueIn(s *storetest.Stage, when string, req core.DueRequest, want time.Duration) {
	s.Helper()
	got, err := s.Second().Store.DueIn(s.Ctx, req)
	s.Must(err)
	if late := want - got; want > 0 && (late < 0 || late > storetest.Patience) || want == 0 && got > 0 {
		s.Errorf("%s: due in %s, want %s", when, got, want)
	}
}

func dueInNext(s *storetest.Stage) {
	all := core.DueRequest{Alerts: true, News: news}
	dueIn(s, "an empty store", all, time.Hour)
	s.Submit(core.NewJob{Type: "far", Delay: 5 * time.Hour})
	dueIn(s, "a job in hours", all, time.Hour)
	operate.NewScheduleDue(s, 0)
	dueIn(s, "a schedule that never is", all, time.Hour)
	operate.NewScheduleDue(s, 50*time.Minute)
	dueIn(s, "a schedule", all, 50*time.Minute)
	s.Submit(core.NewJob{Type: "b", Priority: core.Bulk, Tenant: "t", Delay: 45 * time.Minute})
	dueIn(s, "a tenant's job", all, 45*time.Minute)
	s.Submit(core.NewJob{Type: "b", Priority: core.Bulk, Delay: 40 * time.Minute})
	dueIn(s, "one without a tenant", all, 40*time.Minute)
	s.Submit(core.NewJob{Type: "c", Priority: core.Critical, Tenant: "u", Delay: 35 * time.Minute})
	dueIn(s, "one of another lane", all, 35*time.Minute)
	s.Submit(core.NewJob{Type: "far", Delay: 5 * time.Hour, ExpiresAt: s.Now().Add(30 * time.Minute)})
	dueIn(s, "a job that expires before it is due", all, 30*time.Minute)
	schedule.Expect(s, "d", 25*time.Minute)
	dueIn(s, "a success that is expected", all, 25*time.Minute)
	of := s.NewSchedule(core.ScheduleRule{})
	state := of.State
	state.NextDue, state.ExpectBy = time.Time{}, s.Now().Add(20*time.Minute).Truncate(time.Microsecond)
	s.Step(core.Advance{ID: of.ID, Version: 1, State: state})
	dueIn(s, "a success of a schedule", all, 20*time.Minute)
	s.Advance(15 * time.Minute)
	dueIn(s, "a quarter of an hour on", all, 5*time.Minute)
	s.Advance(5 * time.Minute)
	dueIn(s, "when it is due", all, 0)
}

func dueInJobs(s *storetest.Stage) {
	var none core.DueRequest
	s.SubmitMany(1, "a")
	dueIn(s, "a job is due", none, 0)
	running := s.Claim("a", 1)[0]
	dueIn(s, "one runs", none, 0)
	s.FinishAs(core.Done, core.End{Ref: storetest.RefOf(running), Outcome: core.EndDone})
	dueIn(s, "it is done", none, time.Hour)
	queued := s.Put(core.Queued, core.NewJob{})
	dueIn(s, "one is queued", none, 0)
	s.Cancel(queued.ID)
	dueIn(s, "it is cancelled", none, time.Hour)
	schedule.Counted(s, "a", core.Rollup{Done: 1})
	dueIn(s, "counts that are not asked for", none, time.Hour)
	dueIn(s, "counts of just now", core.DueRequest{News: news}, 0)
	s.Advance(5 * time.Minute)
	dueIn(s, "counts of earlier", core.DueRequest{News: news}, time.Hour)
}

func dueInWatched(s *storetest.Stage) {
	var none core.DueRequest
	of := s.NewSchedule(core.ScheduleRule{})
	dueIn(s, "an instant is due", none, 0)
	state := of.State
	state.NextDue, state.Waiting = time.Time{}, &core.Run{ScheduledFor: storetest.Instant(0)}
	s.Step(core.Advance{ID: of.ID, Version: 1, State: state})
	dueIn(s, "a run waits", none, 0)
	state.Waiting = nil
	s.Step(core.Advance{ID: of.ID, Version: 1, Moves: s.Schedule(of).Moves, State: state})
	dueIn(s, "none does", none, time.Hour)
	schedule.Expect(s, "a", 30*time.Minute)
	s.Advance(31 * time.Minute)
	dueIn(s, "a type had no success", none, 0)
	schedule.Counted(s, "a", core.Rollup{Done: 1})
	s.Must(s.Store.WatchTypes(s.Ctx))
	dueIn(s, "it had one", none, 31*time.Minute)
}

func dueInUntold(s *storetest.Stage) {
	var none core.DueRequest
	asked := core.DueRequest{Alerts: true}
	operate.Fail(s, "mail", "refused", 1)
	dueIn(s, "a job failed for good", none, 0)
	operate.WatchFailures(s)
	dueIn(s, "the alert about it is open", none, 0)
	if _, err := s.Store.Discard(s.Ctx, core.DeadQuery{Type: "mail"}, 10); err != nil {
		s.Fatal(err)
	}
	operate.WatchFailures(s)
	dueIn(s, "it is over, and nobody publishes alerts", none, time.Hour)
	dueIn(s, "it is not published", asked, 0)
	s.Must(s.Store.MarkAlerts(s.Ctx, s.Alerts(core.AlertQuery{Unsent: true})))
	dueIn(s, "it is published", asked, time.Hour)
	s.Must(s.Store.SetApart(s.Ctx, []core.RowFault{{Kind: core.ApartJob, ID: 1, About: "mail", Act: "claim", Error: "no"}}))
	dueIn(s, "a row was set apart", none, 0)
	_, err := s.Store.TellApart(s.Ctx)
	s.Must(err)
	dueIn(s, "which was told", none, time.Hour)
}

func dueInFew(s *storetest.Stage) {
	var batch []core.NewJob
	for i := range core.MaxBatch {
		batch = append(batch, core.NewJob{Type: "many", Tenant: fmt.Sprint("tenant ", i%100), Delay: time.Duration(i+3600) * time.Second, ExpiresAt: s.Now().Add(4 * time.Hour)})
	}
	s.Submit(batch...)
	dueIn(s, "many jobs", core.DueRequest{}, time.Hour)
	read := work.RowsRead(s, func() { dueIn(s, "many jobs", core.DueRequest{}, time.Hour) })
	if read > 100 {
		s.Errorf("%d rows were read with %d jobs due later", read, len(batch))
	}
}
