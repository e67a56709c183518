package storetest

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func startScenarios() []scenario {
	return []scenario{
		{"Start/makes a queued job running under a lease", startRuns},
		{"Start/of many concurrent starts of one job exactly one wins", startRace},
		{"Start/a reference named twice starts once", startTwice},
		{"Start/stale references come back as nothing and change nothing", startStale},
		{"Start/ends expired jobs instead of returning them", startExpired},
		{"Start/fails jobs whose attempts are used up and starts the others", startUsedUp},
		{"Start/a row held by a stranger is busy and the others start", startHeld},
	}
}

// queue submits and dispatches n jobs of one type.
func (s *stage) queue(n int, typ string) []core.Job {
	s.Helper()
	s.submitMany(n, typ)
	jobs := s.dispatch(typ, n)
	if len(jobs) != n {
		s.Fatalf("%d of %d jobs were dispatched", len(jobs), n)
	}
	return jobs
}

func startRuns(s *stage) {
	queued := s.queue(3, "a")
	req := s.claimRequest()
	req.WorkerID = "w-7"
	res, err := s.store.Start(s.ctx, refsOf(queued[:2]), req)
	s.must(err)
	if len(res.Jobs) != 2 || len(res.Busy) != 0 {
		s.Fatalf("want 2 jobs started, got %+v", res)
	}
	for _, got := range slices.Concat(res.Jobs, []core.Job{s.get(queued[0].ID), s.get(queued[1].ID)}) {
		if got.Status != core.Running || got.Attempts != 1 || got.LeaseToken != queued[0].LeaseToken+1 || got.WorkerID != "w-7" || got.ClaimID != req.ClaimID || string(got.Payload) != "{}" {
			s.Errorf("want it running, attempt 1, token %d, by w-7: %+v", queued[0].LeaseToken+1, got)
		}
		if until := res.Now.Add(lease); got.LeaseUntil.Sub(until).Abs() > time.Second || got.StartedAt.Sub(res.Now).Abs() > time.Second {
			s.Errorf("lease until %s, want %s; started %s", got.LeaseUntil, until, got.StartedAt)
		}
	}
	if got := s.get(queued[2].ID); got.Status != core.Queued {
		s.Errorf("a job nobody started is %s", got.Status)
	}
}

func startRace(s *stage) {
	queued := s.queue(100, "a")
	other := s.second()
	var wins atomic.Int64
	for part := range slices.Chunk(refsOf(queued), 5) {
		s.times(8, func(i int) error { // all at once for each part: a slow one must not find the race over
			mine := slices.Clone(part)
			if i%3 == 1 {
				slices.Reverse(mine)
			}
			for len(mine) > 0 {
				res, err := []core.Store{s.store, other.store}[i%2].Start(s.ctx, mine, s.claimRequest())
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
		if got := s.get(job.ID); got.Attempts != 1 || got.LeaseToken != job.LeaseToken+1 {
			s.Fatalf("want one attempt charged: %+v", got)
		}
	}
}

func startTwice(s *stage) {
	ref := refOf(s.queue(1, "a")[0])
	if res := s.start(ref, ref, ref); len(res.Jobs) != 1 || res.Jobs[0].Attempts != 1 {
		s.Fatalf("want it started once, got %+v", res)
	}
}

func startStale(s *stage) {
	var refs []core.Ref
	var before []core.Job
	for _, status := range []core.Status{core.Scheduled, core.Running, core.Done, core.Failed, core.Cancelled} {
		job := s.put(status, core.NewJob{})
		before = append(before, job)
		refs = append(refs, refOf(job))
	}
	queued := s.put(core.Queued, core.NewJob{})
	before = append(before, queued)
	good := s.put(core.Queued, core.NewJob{})
	refs = append(refs, core.Ref{ID: queued.ID, Token: queued.LeaseToken - 1}, core.Ref{ID: queued.ID, Token: queued.LeaseToken + 1}, core.Ref{ID: 1 << 60, Token: 1}, refOf(good))
	res := s.start(refs...)
	if len(res.Jobs) != 1 || res.Jobs[0].ID != good.ID || len(res.Busy) != 0 {
		s.Fatalf("want job %d alone, got %v, busy %v", good.ID, idsOf(res.Jobs), res.Busy)
	}
	for _, job := range before {
		s.unchanged(job)
	}
}

func startExpired(s *stage) {
	id := s.submitOne(core.NewJob{Type: "a", ExpiresAt: s.now().Add(time.Hour)})
	s.submitMany(1, "a")
	queued := s.dispatch("a", 10)
	s.advance(2 * time.Hour)
	res := s.start(refsOf(queued)...)
	if len(queued) != 2 || len(res.Jobs) != 1 || res.Jobs[0].ID == id {
		s.Fatalf("want the other job alone, got %v", idsOf(res.Jobs))
	}
	if got := s.get(id); got.Status != core.Cancelled || got.Reason != "expired" || got.Attempts != 0 {
		s.Fatalf("want it cancelled as expired, got %+v", got)
	}
}

func startUsedUp(s *stage) {
	queued := s.queue(3, "a")
	if !s.db.Damage(s.T, AttemptsAtMax, queued[1].ID) {
		s.Skip("this schema keeps attempts below max_attempts")
	}
	res := s.start(refsOf(queued)...)
	if len(res.Jobs) != 2 || slices.Contains(idsOf(res.Jobs), queued[1].ID) {
		s.Fatalf("want the two others, got %v", idsOf(res.Jobs))
	}
	if got := s.get(queued[1].ID); got.Status != core.Failed {
		s.Fatalf("want it failed, got %s", got.Status)
	}
	s.saysNoAttemptLeft(queued[1].ID, 0)
}

func startHeld(s *stage) {
	queued := s.queue(50, "a")
	release := s.hold(Hold{Kind: HoldRow, ID: queued[20].ID})
	res := s.start(refsOf(queued)...)
	if len(res.Jobs) != 49 || len(res.Busy) != 1 || res.Busy[0] != refOf(queued[20]) {
		s.Fatalf("want 49 started and one busy, got %d, busy %v", len(res.Jobs), res.Busy)
	}
	release(false)
	if res = s.start(res.Busy...); len(res.Jobs) != 1 || res.Jobs[0].Attempts != 1 {
		s.Fatalf("after the release want it started, got %+v", res)
	}
}
