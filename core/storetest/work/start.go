package work

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func startScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Start/makes a queued job running under a lease", Run: startRuns},
		{Name: "Start/exactly one of many concurrent starts of a job wins", Run: startRace},
		{Name: "Start/a reference named twice starts once", Run: startTwice},
		{Name: "Start/stale references come back as nothing and change nothing", Run: startStale},
		{Name: "Start/ends expired jobs instead of returning them", Run: startExpired},
		{Name: "Start/fails jobs whose attempts are used up and starts the others", Run: startUsedUp},
		{Name: "Start/a row locked by another transaction is busy and the others start", Run: startHeld},
	}
}

func startRuns(s *storetest.Stage) {
	queued := s.Queue(3, "a")
	req := s.ClaimRequest()
	req.WorkerID = "w-7"
	res, err := s.Store.Start(s.Ctx, storetest.RefsOf(queued[:2]), req)
	s.Must(err)
	if len(res.Jobs) != 2 || len(res.Busy) != 0 {
		s.Fatalf("want 2 jobs started, got %+v", res)
	}
	for _, got := range slices.Concat(res.Jobs, []core.Job{s.Get(queued[0].ID), s.Get(queued[1].ID)}) {
		if got.Status != core.Running || got.Attempts != 1 || got.LeaseToken != queued[0].LeaseToken+1 || got.WorkerID != "w-7" || got.ClaimID != req.ClaimID || string(got.Payload) != "{}" {
			s.Errorf("want it running, attempt 1, token %d, by w-7: %+v", queued[0].LeaseToken+1, got)
		}
		if until := res.Now.Add(storetest.Lease); got.LeaseUntil.Sub(until).Abs() > time.Second || got.StartedAt.Sub(res.Now).Abs() > time.Second {
			s.Errorf("lease until %s, want %s; started %s", got.LeaseUntil, until, got.StartedAt)
		}
	}
	if got := s.Get(queued[2].ID); got.Status != core.Queued {
		s.Errorf("a job that was not started is %s", got.Status)
	}
}

func startRace(s *storetest.Stage) {
	queued := s.Queue(100, "a")
	other := s.Second()
	var wins atomic.Int64
	for part := range slices.Chunk(storetest.RefsOf(queued), 5) {
		s.Times(8, func(i int) error { // all start together for each part, so that a slow one does not miss the race
			mine := slices.Clone(part)
			if i%3 == 1 {
				slices.Reverse(mine)
			}
			for len(mine) > 0 {
				res, err := []core.Store{s.Store, other.Store}[i%2].Start(s.Ctx, mine, s.ClaimRequest())
				if err != nil {
					return err
				}
				wins.Add(int64(len(res.Jobs)))
				mine = res.Busy
			}
			return nil
		})
	}
	if wins.Load() != int64(len(queued)) {
		s.Fatalf("%d starts won for %d jobs", wins.Load(), len(queued))
	}
	for _, job := range queued {
		if got := s.Get(job.ID); got.Attempts != 1 || got.LeaseToken != job.LeaseToken+1 {
			s.Fatalf("want one attempt charged: %+v", got)
		}
	}
}

func startTwice(s *storetest.Stage) {
	ref := storetest.RefOf(s.Queue(1, "a")[0])
	if res := s.Start(ref, ref, ref); len(res.Jobs) != 1 || res.Jobs[0].Attempts != 1 {
		s.Fatalf("want it started once, got %+v", res)
	}
}

func startStale(s *storetest.Stage) {
	var refs []core.Ref
	var before []core.Job
	for _, status := range []core.Status{core.Scheduled, core.Running, core.Done, core.Failed, core.Cancelled} {
		job := s.Put(status, core.NewJob{})
		before = append(before, job)
		refs = append(refs, storetest.RefOf(job))
	}
	queued := s.Put(core.Queued, core.NewJob{})
	before = append(before, queued)
	good := s.Put(core.Queued, core.NewJob{})
	refs = append(refs, core.Ref{ID: queued.ID, Token: queued.LeaseToken - 1}, core.Ref{ID: queued.ID, Token: queued.LeaseToken + 1}, core.Ref{ID: 1 << 60, Token: 1}, storetest.RefOf(good))
	res := s.Start(refs...)
	if len(res.Jobs) != 1 || res.Jobs[0].ID != good.ID || len(res.Busy) != 0 {
		s.Fatalf("want job %d alone, got %v, busy %v", good.ID, storetest.IdsOf(res.Jobs), res.Busy)
	}
	for _, job := range before {
		s.Unchanged(job)
	}
}

func startExpired(s *storetest.Stage) {
	id := s.SubmitOne(core.NewJob{Type: "a", ExpiresAt: s.Now().Add(time.Hour)})
	s.SubmitMany(1, "a")
	queued := s.Dispatch("a", 10)
	s.Advance(2 * time.Hour)
	res := s.Start(storetest.RefsOf(queued)...)
	if len(queued) != 2 || len(res.Jobs) != 1 || res.Jobs[0].ID == id {
		s.Fatalf("want the other job alone, got %v", storetest.IdsOf(res.Jobs))
	}
	if got := s.Get(id); got.Status != core.Cancelled || got.Reason != "expired" || got.Attempts != 0 {
		s.Fatalf("want it cancelled as expired, got %+v", got)
	}
}

func startUsedUp(s *storetest.Stage) {
	queued := s.Queue(3, "a")
	if !s.DB.Damage(s.T, storetest.AttemptsAtMax, queued[1].ID) {
		s.Skip("this schema keeps attempts below max_attempts")
	}
	res := s.Start(storetest.RefsOf(queued)...)
	if len(res.Jobs) != 2 || slices.Contains(storetest.IdsOf(res.Jobs), queued[1].ID) {
		s.Fatalf("want the two others, got %v", storetest.IdsOf(res.Jobs))
	}
	if got := s.Get(queued[1].ID); got.Status != core.Failed {
		s.Fatalf("want it failed, got %s", got.Status)
	}
	saysNoAttemptLeft(s, queued[1].ID, 0)
}

func startHeld(s *storetest.Stage) {
	queued := s.Queue(50, "a")
	release := s.Hold(storetest.Hold{Kind: storetest.HoldRow, ID: queued[20].ID})
	res := s.Start(storetest.RefsOf(queued)...)
	if len(res.Jobs) != 49 || len(res.Busy) != 1 || res.Busy[0] != storetest.RefOf(queued[20]) {
		s.Fatalf("want 49 started and one busy, got %d, busy %v", len(res.Jobs), res.Busy)
	}
	release(false)
	if res = s.Start(res.Busy...); len(res.Jobs) != 1 || res.Jobs[0].Attempts != 1 {
		s.Fatalf("after the release want it started, got %+v", res)
	}
}
