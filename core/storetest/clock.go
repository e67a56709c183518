package storetest

import (
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func clockScenarios() []scenario {
	return []scenario{
		{"Now/advances with the store's clock for every handle", clockAdvances},
		{"Now/nothing uses the program's clock when it is 10 minutes ahead", func(s *stage) { clockSkew(s, -10*time.Minute) }},
		{"Now/nothing uses the program's clock when it is 400 days behind", func(s *stage) { clockSkew(s, 400*24*time.Hour) }},
	}
}

func clockAdvances(s *stage) {
	other := s.second()
	before := s.now()
	s.advance(36 * time.Hour)
	for _, now := range []time.Time{s.now(), other.now()} {
		if d := now.Sub(before); d < 36*time.Hour || d > 36*time.Hour+patience {
			s.Fatalf("advanced by 36 h, the clock moved by %s", d)
		}
	}
}

// clockSkew moves the store's clock away from the program's: every time the store writes or answers must be its own.
func clockSkew(s *stage, skew time.Duration) {
	s.advance(skew)
	began := s.now().Truncate(time.Microsecond)
	near := func(what string, at time.Time, after time.Duration) {
		s.Helper()
		if from, to := began.Add(after), s.now().Add(after); at.Before(from) || at.After(to) {
			s.Errorf("%s is %s, want it between %s and %s", what, at, from, to)
		}
	}
	out := s.submit(core.NewJob{Type: "a"}, core.NewJob{Type: "later", Delay: time.Minute}, core.NewJob{Type: "q"})
	near("run_at", out[0].RunAt, 0)
	near("created_at", out[0].CreatedAt, 0)
	near("run_at after a delay", out[1].RunAt, time.Minute)
	if jobs := s.claim("later", 1); len(jobs) != 0 {
		s.Error("a job was claimed a minute early")
	}
	running := s.claim("a", 1)
	if len(running) != 1 {
		s.Fatal("a job due now was not claimed")
	}
	near("started_at", running[0].StartedAt, 0)
	near("lease_until", running[0].LeaseUntil, lease)
	s.beat(refOf(running[0]))
	near("lease_until after a heartbeat", s.get(running[0].ID).LeaseUntil, lease)
	if res := s.tick(tickRequest("holder-1", quota("q", 1))); len(res.Lost) != 0 || len(res.Dispatched) != 1 {
		s.Errorf("the tick found %d lost jobs and dispatched %d, want none and 1", len(res.Lost), len(res.Dispatched))
	} else {
		near("the tick's now", res.Now, 0)
	}
	near("the dispatch lease", s.get(out[2].ID).LeaseUntil, dispatchLease)
	s.finishAs(core.Scheduled, core.End{Ref: refOf(running[0]), Outcome: core.EndRetry, Wait: 30 * time.Second})
	near("run_at of a retry", s.get(running[0].ID).RunAt, 30*time.Second)
	moved, err := s.store.Reschedule(s.ctx, out[1].ID, core.When{Delay: time.Hour})
	s.must(err)
	near("run_at of a reschedule", moved.RunAt, time.Hour)
	for _, status := range []core.Status{core.Done, core.Failed, core.Cancelled} {
		job := s.put(status, core.NewJob{})
		near(fmt.Sprintf("finished_at of a %s job", status), job.FinishedAt, 0)
	}
	stats, err := s.store.Stats(s.ctx, time.Hour)
	s.must(err)
	near("the stats' now", stats.Now, 0)
}
