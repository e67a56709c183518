package storetest

import (
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func dueInScenarios() []scenario {
	return []scenario{
		{"DueIn/says when the next of anything is due", dueInNext},
		{"DueIn/is nothing while jobs are due or in flight", dueInJobs},
		{"DueIn/is nothing while a schedule or a type wants to be looked at", dueInWatched},
		{"DueIn/is nothing while failures, alerts or faults wait to be told", dueInUntold},
		{"DueIn/many rows of one lane are not read", dueInFew},
	}
}

const news = 2 * time.Minute // counts this young are something to do

// dueIn wants something due in so long, or now (0).
func (s *stage) dueIn(when string, req core.DueRequest, want time.Duration) {
	s.Helper()
	got, err := s.second().store.DueIn(s.ctx, req)
	s.must(err)
	if late := want - got; want > 0 && (late < 0 || late > patience) || want == 0 && got > 0 {
		s.Errorf("%s: due in %s, want %s", when, got, want)
	}
}

func dueInNext(s *stage) {
	all := core.DueRequest{Alerts: true, News: news}
	s.dueIn("an empty store", all, time.Hour)
	s.submit(core.NewJob{Type: "far", Delay: 5 * time.Hour})
	s.dueIn("a job in hours", all, time.Hour)
	s.newScheduleDue(0)
	s.dueIn("a schedule that never is", all, time.Hour)
	s.newScheduleDue(50 * time.Minute)
	s.dueIn("a schedule", all, 50*time.Minute)
	s.submit(core.NewJob{Type: "b", Priority: core.Bulk, Tenant: "t", Delay: 45 * time.Minute})
	s.dueIn("a tenant's job", all, 45*time.Minute)
	s.submit(core.NewJob{Type: "b", Priority: core.Bulk, Delay: 40 * time.Minute})
	s.dueIn("one without a tenant", all, 40*time.Minute)
	s.submit(core.NewJob{Type: "c", Priority: core.Critical, Tenant: "u", Delay: 35 * time.Minute})
	s.dueIn("one of another lane", all, 35*time.Minute)
	s.submit(core.NewJob{Type: "far", Delay: 5 * time.Hour, ExpiresAt: s.now().Add(30 * time.Minute)})
	s.dueIn("a job that expires before it is due", all, 30*time.Minute)
	s.expect("d", 25*time.Minute)
	s.dueIn("a success that is expected", all, 25*time.Minute)
	of := s.newSchedule(core.ScheduleRule{})
	state := of.State
	state.NextDue, state.ExpectBy = time.Time{}, s.now().Add(20*time.Minute).Truncate(time.Microsecond)
	s.step(core.Advance{ID: of.ID, Version: 1, State: state})
	s.dueIn("a success of a schedule", all, 20*time.Minute)
	s.advance(15 * time.Minute)
	s.dueIn("a quarter of an hour on", all, 5*time.Minute)
	s.advance(5 * time.Minute)
	s.dueIn("when it is due", all, 0)
}

func dueInJobs(s *stage) {
	var none core.DueRequest
	s.submitMany(1, "a")
	s.dueIn("a job is due", none, 0)
	running := s.claim("a", 1)[0]
	s.dueIn("one runs", none, 0)
	s.finishAs(core.Done, core.End{Ref: refOf(running), Outcome: core.EndDone})
	s.dueIn("it is done", none, time.Hour)
	queued := s.put(core.Queued, core.NewJob{})
	s.dueIn("one is queued", none, 0)
	s.cancel(queued.ID)
	s.dueIn("it is cancelled", none, time.Hour)
	s.counted("a", core.Rollup{Done: 1})
	s.dueIn("counts that are not asked for", none, time.Hour)
	s.dueIn("counts of just now", core.DueRequest{News: news}, 0)
	s.advance(5 * time.Minute)
	s.dueIn("counts of earlier", core.DueRequest{News: news}, time.Hour)
}

func dueInWatched(s *stage) {
	var none core.DueRequest
	of := s.newSchedule(core.ScheduleRule{})
	s.dueIn("an instant is due", none, 0)
	state := of.State
	state.NextDue, state.Waiting = time.Time{}, &core.Run{ScheduledFor: instant(0)}
	s.step(core.Advance{ID: of.ID, Version: 1, State: state})
	s.dueIn("a run waits", none, 0)
	state.Waiting = nil
	s.step(core.Advance{ID: of.ID, Version: 1, Moves: s.schedule(of).Moves, State: state})
	s.dueIn("none does", none, time.Hour)
	s.expect("a", 30*time.Minute)
	s.advance(31 * time.Minute)
	s.dueIn("a type had no success", none, 0)
	s.counted("a", core.Rollup{Done: 1})
	s.must(s.store.WatchTypes(s.ctx))
	s.dueIn("it had one", none, 31*time.Minute)
}

func dueInUntold(s *stage) {
	var none core.DueRequest
	asked := core.DueRequest{Alerts: true}
	s.fail("mail", "refused", 1)
	s.dueIn("a job failed for good", none, 0)
	s.watchFailures()
	s.dueIn("the alert about it is open", none, 0)
	if _, err := s.store.Discard(s.ctx, core.DeadQuery{Type: "mail"}, 10); err != nil {
		s.Fatal(err)
	}
	s.watchFailures()
	s.dueIn("it is over, and nobody publishes alerts", none, time.Hour)
	s.dueIn("it is not published", asked, 0)
	s.must(s.store.MarkAlerts(s.ctx, s.alerts(core.AlertQuery{Unsent: true})))
	s.dueIn("it is published", asked, time.Hour)
	s.must(s.store.SetApart(s.ctx, []core.RowFault{{Kind: core.ApartJob, ID: 1, About: "mail", Act: "claim", Error: "no"}}))
	s.dueIn("a row was set apart", none, 0)
	_, err := s.store.TellApart(s.ctx)
	s.must(err)
	s.dueIn("which was told", none, time.Hour)
}

func dueInFew(s *stage) {
	var batch []core.NewJob
	for i := range core.MaxBatch {
		batch = append(batch, core.NewJob{Type: "many", Tenant: fmt.Sprint("tenant ", i%100), Delay: time.Duration(i+3600) * time.Second, ExpiresAt: s.now().Add(4 * time.Hour)})
	}
	s.submit(batch...)
	s.dueIn("many jobs", core.DueRequest{}, time.Hour)
	read := s.rowsRead(func() { s.dueIn("many jobs", core.DueRequest{}, time.Hour) })
	if read > 100 {
		s.Errorf("%d rows were read beside %d that lie ahead", read, len(batch))
	}
}
