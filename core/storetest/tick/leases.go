package tick

import (
	"fmt"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func leaseScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Tick/one holder leases all buckets and a second stands by", Run: leasesAll},
		{Name: "Tick/leases that have run out are taken over under higher tokens", Run: leasesTakenOver},
		{Name: "Tick/bucket leases last 4 s unless told otherwise", Run: leasesLength},
		{Name: "Tick/a holder that was deposed dispatches nothing", Run: leasesDeposed},
		{Name: "Tick/a takeover publishes at once what the dead holder queued, under the same tokens", Run: leasesRepublish},
		{Name: "Tick/a clean release is taken at once and nothing is published again", Run: leasesClean},
		{Name: "Tick/a claim that waited behind a takeover gets no rows", Run: func(s *storetest.Stage) { leasesClaimWaited(s, shortLease+time.Second) }},
		{Name: "Tick/a claim under a lease that was fresh until a takeover gets no rows", Run: func(s *storetest.Stage) { leasesClaimWaited(s, 0) }},
		{Name: "Tick/a takeover that waited behind a claim publishes that claim's rows again", Run: leasesTakeoverWaited},
		{Name: "Tick/lease rows that were deleted are made again, under higher tokens", Run: leasesRemade},
		{Name: "Tick/a lease row that cannot be made again is named, and the others are made", Run: leasesRefused},
		{Name: "Tick/every dispatch of racing holders is under a lease held at that time", Run: leasesRace},
	}
}

const shortLease = 4 * time.Second

// shortTick returns a tick with leases that expire within the scenario.
func shortTick(holder string, quotas ...core.Quota) core.TickRequest {
	req := storetest.TickRequest(holder, quotas...)
	req.LeaseLength = shortLease
	return req
}

func leasesAll(s *storetest.Stage) {
	other := s.Second()
	first := s.Tokens(s.Tick(shortTick("a")).Held)
	if len(first) != core.Buckets {
		s.Fatalf("the first holder holds %d buckets, want all %d", len(first), core.Buckets)
	}
	for range 5 {
		s.Advance(shortLease / 2)
		again := s.Tokens(s.Tick(shortTick("a")).Held)
		for bucket, token := range again {
			if token != first[bucket] {
				s.Fatalf("bucket %d went from token %d to %d in one holder's hands", bucket, first[bucket], token)
			}
		}
		if held := other.Tick(shortTick("b")).Held; len(again) != core.Buckets || len(held) != 0 {
			s.Fatalf("the holder holds %d buckets, the second %d", len(again), len(held))
		}
	}
}

func leasesTakenOver(s *storetest.Stage) {
	other := s.Second()
	first := s.Tokens(s.Tick(shortTick("a")).Held)
	s.Advance(shortLease + time.Second)
	second := s.Tokens(other.Tick(shortTick("b")).Held)
	for bucket := range core.Buckets {
		if second[bucket] <= first[bucket] {
			s.Fatalf("bucket %d was taken over under token %d after %d", bucket, second[bucket], first[bucket])
		}
	}
	if held := s.Tick(shortTick("a")).Held; len(held) != 0 {
		s.Fatalf("the deposed holder still holds %d buckets", len(held))
	}
	s.Advance(shortLease + time.Second)
	third := s.Tokens(s.Tick(shortTick("a")).Held)
	for bucket := range core.Buckets {
		if third[bucket] <= second[bucket] {
			s.Fatalf("bucket %d was taken back under token %d after %d", bucket, third[bucket], second[bucket])
		}
	}
}

func leasesLength(s *storetest.Stage) {
	req := shortTick("a")
	req.LeaseLength = 0
	s.Tick(req)
	s.Advance(time.Second)
	if held := s.Tick(shortTick("b")).Held; len(held) != 0 {
		s.Fatalf("after a second another holder took %d buckets", len(held))
	}
	s.Advance(3*time.Second + time.Millisecond)
	if held := s.Tick(shortTick("b")).Held; len(held) != core.Buckets {
		s.Fatalf("after 4 s another holder took %d buckets, want all", len(held))
	}
}

func leasesDeposed(s *storetest.Stage) {
	other := s.Second()
	s.Tick(shortTick("a"))
	ids := s.SubmitMany(100, "a")
	s.Advance(shortLease + time.Second)
	other.Tick(shortTick("b"))
	res := s.Tick(shortTick("a", storetest.Quota("a", 1000)))
	if len(res.Dispatched) != 0 || len(res.Taken) != 1 || res.Taken[0].N != 0 {
		s.Fatalf("a deposed holder dispatched %d jobs: %+v", len(res.Dispatched), res.Taken)
	}
	for _, id := range ids {
		if got := s.Get(id); got.Status != core.Scheduled {
			s.Fatalf("job %d is %s", id, got.Status)
		}
	}
	if res = other.Tick(shortTick("b", storetest.Quota("a", 1000))); len(res.Dispatched) != len(ids) {
		s.Fatalf("the new holder dispatched %d of %d jobs", len(res.Dispatched), len(ids))
	}
}

// publishedOnce fails if jobs that may never have been published already count as published more than once, because then
// their dispatch leases would grow.
func publishedOnce(s *storetest.Stage, jobs []core.Job) {
	s.Helper()
	for _, job := range jobs {
		row := s.Get(job.ID)
		if left := row.LeaseUntil.Sub(s.Now()); row.Dispatches != 1 || left > storetest.DispatchLease {
			s.Errorf("job %d counts as published %d times and is left alone for %s", job.ID, row.Dispatches, left)
		}
	}
}

func leasesRepublish(s *storetest.Stage) {
	other := s.Second()
	s.SubmitMany(130, "a")
	queued := s.Tick(shortTick("a", storetest.Quota("a", 120))).Dispatched
	started := s.Start(storetest.RefsOf(queued[:20])...).Jobs
	s.Advance(shortLease + time.Second) // the dispatch lease of 10 s is still live
	res := other.Tick(shortTick("b"))
	if len(queued) != 120 || len(started) != 20 || len(res.Held) != core.Buckets {
		s.Fatalf("%d dispatched, %d started, %d buckets taken over", len(queued), len(started), len(res.Held))
	}
	s.Republished(res, queued[20:])
	publishedOnce(s, queued[20:])
	if res = other.Tick(shortTick("b")); len(res.Dispatched) != 0 {
		s.Fatalf("the next tick published %d jobs once more", len(res.Dispatched))
	}
	if jobs := s.Start(storetest.RefsOf(queued)...).Jobs; len(jobs) != 100 {
		s.Fatalf("%d of 100 jobs were started by their first messages", len(jobs))
	}
}

func leasesClean(s *storetest.Stage) {
	other := s.Second()
	s.SubmitMany(50, "a")
	queued := s.Tick(shortTick("a", storetest.Quota("a", 50))).Dispatched
	s.Must(s.Store.ReleaseLeases(s.Ctx, "nobody"))
	if held := other.Tick(shortTick("b")).Held; len(held) != 0 {
		s.Fatalf("another holder's release freed %d buckets", len(held))
	}
	s.Must(s.Store.ReleaseLeases(s.Ctx, "a"))
	res := other.Tick(shortTick("b"))
	if len(res.Held) != core.Buckets || len(res.Dispatched) != 0 {
		s.Fatalf("after a clean release the next took %d buckets and published %d jobs again", len(res.Held), len(res.Dispatched))
	}
	s.Advance(2 * time.Second)
	if res = other.Tick(shortTick("b")); len(res.Dispatched) != 0 {
		s.Fatalf("%d jobs were published again later", len(res.Dispatched))
	}
	s.Must(s.Store.ReleaseLeases(s.Ctx, "a")) // late: it is no longer the holder
	if held := s.Tick(shortTick("c")).Held; len(held) != 0 {
		s.Fatalf("a former holder's release freed %d buckets", len(held))
	}
	if jobs := s.Start(storetest.RefsOf(queued)...).Jobs; len(jobs) != 50 {
		s.Fatalf("%d of 50 jobs were started", len(jobs))
	}
}

// leasesClaimWaited: the old holder's claim waits behind a takeover whose transaction is open. When the claim continues, the
// leases belong to the new holder, so it must claim nothing. age is the age of the old holder's lease. The old holder renews
// an expired lease, and only reads a fresh one, like a holder that was frozen after reading.
func leasesClaimWaited(s *storetest.Stage, age time.Duration) {
	s.Tick(shortTick("a"))
	ids := s.SubmitMany(100, "a")
	s.Advance(age)
	release := s.Hold(storetest.Hold{Kind: storetest.HoldTakeover, Holder: "b"})
	var res core.TickResult
	ended := make(chan struct{})
	s.Together(func() (err error) {
		defer close(ended)
		res, err = s.Store.Tick(s.Ctx, shortTick("a", storetest.Quota("a", 1000)))
		return err
	}, func() error {
		untilWaiting(s, "the claim waits behind the takeover", ended)
		release(true)
		return nil
	})
	if len(res.Dispatched) != 0 {
		s.Errorf("the claim dispatched %d jobs", len(res.Dispatched))
	}
	if res = s.Tick(shortTick("a", storetest.Quota("a", 1000))); len(res.Dispatched) != 0 || len(res.Held) != 0 {
		s.Errorf("the next claim dispatched %d jobs and held %d buckets", len(res.Dispatched), len(res.Held))
	}
	for _, id := range ids {
		if got := s.Get(id); got.Status != core.Scheduled {
			s.Fatalf("job %d is %s", id, got.Status)
		}
	}
}

// untilWaiting returns when a statement waits for a lock, or when ended is closed.
func untilWaiting(s *storetest.Stage, what string, ended <-chan struct{}) {
	w, ok := s.DB.(storetest.WaitCounter)
	if !ok {
		return
	}
	s.Eventually(what, func() bool {
		select {
		case <-ended:
			return true
		default:
			return w.Waiting(s.T) > 0
		}
	})
}

func leasesTakeoverWaited(s *storetest.Stage) {
	s.Tick(shortTick("a"))
	id := s.SubmitMany(1, "a")[0]
	token := s.Get(id).LeaseToken
	release := s.Hold(storetest.Hold{Kind: storetest.HoldDispatch, ID: id})
	s.Advance(shortLease + time.Second)
	other := s.Second()
	var published []core.Job
	ended := make(chan struct{})
	s.Together(func() error {
		defer close(ended)
		res, err := other.Store.Tick(s.Ctx, shortTick("b"))
		published = res.Dispatched
		return err
	}, func() error {
		untilWaiting(s, "the takeover waits behind the claim", ended)
		release(true)
		return nil
	})
	for range 3 { // a takeover may skip locked leases; a later tick then takes them
		if len(published) == 0 {
			published = other.Tick(shortTick("b")).Dispatched
		}
	}
	if len(published) != 1 || storetest.RefOf(published[0]) != (core.Ref{ID: id, Token: token}) {
		s.Fatalf("want job %d published again under token %d, got %+v", id, token, published)
	}
}

// leasesRace lets two holders tick while the clock keeps making their leases expire.
func leasesRace(s *storetest.Stage) {
	const jobs = 600
	s.SubmitMany(jobs, "a")
	var mu sync.Mutex
	dispatched := map[int64]core.Job{}
	tick := func(store core.Store, holder string) func() error {
		return func() error {
			for range 40 {
				res, err := store.Tick(s.Ctx, shortTick(holder, storetest.Quota("a", 10)))
				if err != nil {
					return err
				}
				held := map[int]int64{}
				for _, h := range res.Held {
					held[h.Bucket] = h.Token
				}
				mu.Lock()
				for _, job := range res.Dispatched {
					if token, ok := held[core.BucketOf(job.ID)]; !ok || token != job.DispatchFence {
						err = fmt.Errorf("%s dispatched job %d under fence %d, it held %d, %t", holder, job.ID, job.DispatchFence, token, ok)
					}
					if old, ok := dispatched[job.ID]; ok && (old.LeaseToken != job.LeaseToken) {
						err = fmt.Errorf("job %d was published under tokens %d and %d", job.ID, old.LeaseToken, job.LeaseToken)
					}
					dispatched[job.ID] = job
				}
				mu.Unlock()
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	s.Together(tick(s.Store, "a"), tick(s.Second().Store, "b"), func() error {
		for range 30 {
			s.Advance(3 * time.Second)
			if _, err := s.Store.Now(s.Ctx); err != nil {
				return err
			}
		}
		return nil
	})
	queued := s.List(core.ListQuery{Type: "a", Statuses: []core.Status{core.Queued}, Limit: 1000})
	if len(queued) != len(dispatched) || len(queued) == 0 {
		s.Errorf("%d rows are queued, %d jobs were dispatched", len(queued), len(dispatched))
	}
	for _, job := range queued {
		if _, ok := dispatched[job.ID]; !ok || job.Attempts != 0 {
			s.Errorf("job %d is queued, but no tick dispatched it", job.ID)
		}
	}
}
