package tick

import (
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func clockScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Now/advances with the store's clock for every handle", Run: clockAdvances},
		{Name: "Now/nothing uses the program's clock when it is 10 minutes ahead", Run: func(s *storetest.Stage) { clockSkew(s, -10*time.Minute) }},
		{Name: "Now/nothing uses the program's clock when it is 400 days behind", Run: func(s *storetest.Stage) { clockSkew(s, 400*24*time.Hour) }},
	}
}

func clockAdvances(s *storetest.Stage) {
	other := s.Second()
	before := s.Now()
	s.Advance(36 * time.Hour)
	for _, now := range []time.Time{s.Now(), other.Now()} {
		if d := now.Sub(before); d < 36*time.Hour || d > 36*time.Hour+storetest.Patience {
			s.Fatalf("advanced by 36 h, the clock moved by %s", d)
		}
	}
}

// clockSkew moves the store's clock away from the program's. Every time that the store writes or returns must come from its
// own clock.
func clockSkew(s *storetest.Stage, skew time.Duration) {
	s.Advance(skew)
	began := s.Now().Truncate(time.Microsecond)
	near := func(what string, at time.Time, after time.Duration) {
		s.Helper()
		if from, to := began.Add(after), s.Now().Add(after); at.Before(from) || at.After(to) {
			s.Errorf("%s is %s, want it between %s and %s", what, at, from, to)
		}
	}
	out := s.Submit(core.NewJob{Type: "a"}, core.NewJob{Type: "later", Delay: time.Minute}, core.NewJob{Type: "q"})
	near("run_at", out[0].RunAt, 0)
	near("created_at", out[0].CreatedAt, 0)
	near("run_at after a delay", out[1].RunAt, time.Minute)
	if jobs := s.Claim("later", 1); len(jobs) != 0 {
		s.Error("a job was claimed a minute early")
	}
	running := s.Claim("a", 1)
	if len(running) != 1 {
		s.Fatal("a job due now was not claimed")
	}
	near("started_at", running[0].StartedAt, 0)
	near("lease_until", running[0].LeaseUntil, storetest.Lease)
	s.Beat(storetest.RefOf(running[0]))
	near("lease_until after a heartbeat", s.Get(running[0].ID).LeaseUntil, storetest.Lease)
	if res := s.Tick(storetest.TickRequest("holder-1", storetest.Quota("q", 1))); len(res.Lost) != 0 || len(res.Dispatched) != 1 {
		s.Errorf("the tick found %d lost jobs and dispatched %d, want none and 1", len(res.Lost), len(res.Dispatched))
	} else {
		near("the tick's now", res.Now, 0)
	}
	near("the dispatch lease", s.Get(out[2].ID).LeaseUntil, storetest.DispatchLease)
	s.FinishAs(core.Scheduled, core.End{Ref: storetest.RefOf(running[0]), Outcome: core.EndRetry, Wait: 30 * time.Second})
	near("run_at of a retry", s.Get(running[0].ID).RunAt, 30*time.Second)
	moved, err := s.Store.Reschedule(s.Ctx, out[1].ID, core.When{Delay: time.Hour})
	s.Must(err)
	near("run_at of a reschedule", moved.RunAt, time.Hour)
	for _, status := range []core.Status{core.Done, core.Failed, core.Cancelled} {
		job := s.Put(status, core.NewJob{})
		near(fmt.Sprintf("finished_at of a %s job", status), job.FinishedAt, 0)
	}
	stats, err := s.Store.Stats(s.Ctx, time.Hour)
	s.Must(err)
	near("the stats' now", stats.Now, 0)
}
