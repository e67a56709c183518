package storetest

import (
	"fmt"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func leaseScenarios() []scenario {
	return []scenario{
		{"Tick/one holder leases all buckets and a second stands by", leasesAll},
		{"Tick/leases that have run out are taken over under higher tokens", leasesTakenOver},
		{"Tick/bucket leases last 4 s unless told otherwise", leasesLength},
		{"Tick/a holder that was deposed dispatches nothing", leasesDeposed},
		{"Tick/a takeover publishes at once what the dead holder queued, under the same tokens", leasesRepublish},
		{"Tick/a clean release is taken at once and nothing is published again", leasesClean},
		{"Tick/a claim that waited behind a takeover gets no rows", func(s *stage) { leasesClaimWaited(s, shortLease+time.Second) }},
		{"Tick/a claim under a lease that was fresh until a takeover gets no rows", func(s *stage) { leasesClaimWaited(s, 0) }},
		{"Tick/a takeover that waited behind a claim publishes that claim's rows again", leasesTakeoverWaited},
		{"Tick/of holders that race every dispatch is under a lease held at that time", leasesRace},
	}
}

const shortLease = 4 * time.Second

// shortTick is a tick under leases that run out within the scenario.
func shortTick(holder string, quotas ...core.Quota) core.TickRequest {
	req := tickRequest(holder, quotas...)
	req.LeaseLength = shortLease
	return req
}

// tokens maps the buckets held to their tokens, and wants each bucket named once.
func (s *stage) tokens(held []core.Held) map[int]int64 {
	s.Helper()
	tokens := map[int]int64{}
	for _, h := range held {
		if _, twice := tokens[h.Bucket]; twice || h.Bucket < 0 || h.Bucket >= core.Buckets {
			s.Fatalf("bucket %d is held twice or does not exist", h.Bucket)
		}
		tokens[h.Bucket] = h.Token
	}
	return tokens
}

func leasesAll(s *stage) {
	other := s.second()
	first := s.tokens(s.tick(shortTick("a")).Held)
	if len(first) != core.Buckets {
		s.Fatalf("the first holder holds %d buckets, want all %d", len(first), core.Buckets)
	}
	for range 5 {
		s.advance(shortLease / 2)
		again := s.tokens(s.tick(shortTick("a")).Held)
		for bucket, token := range again {
			if token != first[bucket] {
				s.Fatalf("bucket %d went from token %d to %d in one holder's hands", bucket, first[bucket], token)
			}
		}
		if held := other.tick(shortTick("b")).Held; len(again) != core.Buckets || len(held) != 0 {
			s.Fatalf("the holder holds %d buckets, the second %d", len(again), len(held))
		}
	}
}

func leasesTakenOver(s *stage) {
	other := s.second()
	first := s.tokens(s.tick(shortTick("a")).Held)
	s.advance(shortLease + time.Second)
	second := s.tokens(other.tick(shortTick("b")).Held)
	for bucket := range core.Buckets {
		if second[bucket] <= first[bucket] {
			s.Fatalf("bucket %d was taken over under token %d after %d", bucket, second[bucket], first[bucket])
		}
	}
	if held := s.tick(shortTick("a")).Held; len(held) != 0 {
		s.Fatalf("the deposed holder still holds %d buckets", len(held))
	}
	s.advance(shortLease + time.Second)
	third := s.tokens(s.tick(shortTick("a")).Held)
	for bucket := range core.Buckets {
		if third[bucket] <= second[bucket] {
			s.Fatalf("bucket %d was taken back under token %d after %d", bucket, third[bucket], second[bucket])
		}
	}
}

func leasesLength(s *stage) {
	req := shortTick("a")
	req.LeaseLength = 0
	s.tick(req)
	s.advance(time.Second)
	if held := s.tick(shortTick("b")).Held; len(held) != 0 {
		s.Fatalf("after a second another holder took %d buckets", len(held))
	}
	s.advance(3*time.Second + time.Millisecond)
	if held := s.tick(shortTick("b")).Held; len(held) != core.Buckets {
		s.Fatalf("after 4 s another holder took %d buckets, want all", len(held))
	}
}

func leasesDeposed(s *stage) {
	other := s.second()
	s.tick(shortTick("a"))
	ids := s.submitMany(100, "a")
	s.advance(shortLease + time.Second)
	other.tick(shortTick("b"))
	res := s.tick(shortTick("a", quota("a", 1000)))
	if len(res.Dispatched) != 0 || len(res.Taken) != 1 || res.Taken[0].N != 0 {
		s.Fatalf("a deposed holder dispatched %d jobs: %+v", len(res.Dispatched), res.Taken)
	}
	for _, id := range ids {
		if got := s.get(id); got.Status != core.Scheduled {
			s.Fatalf("job %d is %s", id, got.Status)
		}
	}
	if res = other.tick(shortTick("b", quota("a", 1000))); len(res.Dispatched) != len(ids) {
		s.Fatalf("the new holder dispatched %d of %d jobs", len(res.Dispatched), len(ids))
	}
}

// republished wants exactly these jobs published again under the tokens they have.
func (s *stage) republished(res core.TickResult, want []core.Job) {
	s.Helper()
	tokens, held := map[int64]int64{}, s.tokens(res.Held)
	for _, job := range want {
		tokens[job.ID] = job.LeaseToken
	}
	for _, job := range res.Dispatched {
		if token, ok := tokens[job.ID]; !ok || token != job.LeaseToken {
			s.Errorf("job %d was published under token %d; want %d, %t", job.ID, job.LeaseToken, token, ok)
		}
		if row := s.get(job.ID); row.Status != core.Queued || row.LeaseToken != job.LeaseToken || row.DispatchFence != held[row.Bucket] || row.Attempts != 0 {
			s.Errorf("the row of job %d is not queued under the new fence %d: %+v", job.ID, held[row.Bucket], row)
		}
		delete(tokens, job.ID)
	}
	if len(tokens) != 0 {
		s.Errorf("%d of %d jobs were not published again: %v", len(tokens), len(want), tokens)
	}
}

// publishedOnce fails where jobs that nobody is known to have published before count as published more than once: their
// dispatch leases would grow.
func (s *stage) publishedOnce(jobs []core.Job) {
	s.Helper()
	for _, job := range jobs {
		row := s.get(job.ID)
		if left := row.LeaseUntil.Sub(s.now()); row.Dispatches != 1 || left > dispatchLease {
			s.Errorf("job %d counts as published %d times and is left alone for %s", job.ID, row.Dispatches, left)
		}
	}
}

func leasesRepublish(s *stage) {
	other := s.second()
	s.submitMany(130, "a")
	queued := s.tick(shortTick("a", quota("a", 120))).Dispatched
	started := s.start(refsOf(queued[:20])...).Jobs
	s.advance(shortLease + time.Second) // the dispatch lease of 10 s is still live
	res := other.tick(shortTick("b"))
	if len(queued) != 120 || len(started) != 20 || len(res.Held) != core.Buckets {
		s.Fatalf("%d dispatched, %d started, %d buckets taken over", len(queued), len(started), len(res.Held))
	}
	s.republished(res, queued[20:])
	s.publishedOnce(queued[20:])
	if res = other.tick(shortTick("b")); len(res.Dispatched) != 0 {
		s.Fatalf("the next tick published %d jobs once more", len(res.Dispatched))
	}
	if jobs := s.start(refsOf(queued)...).Jobs; len(jobs) != 100 {
		s.Fatalf("%d of 100 jobs were started by their first messages", len(jobs))
	}
}

func leasesClean(s *stage) {
	other := s.second()
	s.submitMany(50, "a")
	queued := s.tick(shortTick("a", quota("a", 50))).Dispatched
	s.must(s.store.ReleaseLeases(s.ctx, "nobody"))
	if held := other.tick(shortTick("b")).Held; len(held) != 0 {
		s.Fatalf("a stranger's release freed %d buckets", len(held))
	}
	s.must(s.store.ReleaseLeases(s.ctx, "a"))
	res := other.tick(shortTick("b"))
	if len(res.Held) != core.Buckets || len(res.Dispatched) != 0 {
		s.Fatalf("after a clean release the next took %d buckets and published %d jobs again", len(res.Held), len(res.Dispatched))
	}
	s.advance(2 * time.Second)
	if res = other.tick(shortTick("b")); len(res.Dispatched) != 0 {
		s.Fatalf("%d jobs were published again later", len(res.Dispatched))
	}
	s.must(s.store.ReleaseLeases(s.ctx, "a")) // late, and no longer the holder
	if held := s.tick(shortTick("c")).Held; len(held) != 0 {
		s.Fatalf("a former holder's release freed %d buckets", len(held))
	}
	if jobs := s.start(refsOf(queued)...).Jobs; len(jobs) != 50 {
		s.Fatalf("%d of 50 jobs were started", len(jobs))
	}
}

// leasesClaimWaited: the old holder's claim waits behind a takeover whose transaction is open. When the claim goes on, the
// leases belong to the new holder, so it must take nothing. age is how old the old holder's lease is: it renews one that
// has run out, and only reads a fresh one, like a holder that was frozen after reading.
func leasesClaimWaited(s *stage, age time.Duration) {
	s.tick(shortTick("a"))
	ids := s.submitMany(100, "a")
	s.advance(age)
	release := s.hold(Hold{Kind: HoldTakeover, Holder: "b"})
	var res core.TickResult
	ended := make(chan struct{})
	s.together(func() (err error) {
		defer close(ended)
		res, err = s.store.Tick(s.ctx, shortTick("a", quota("a", 1000)))
		return err
	}, func() error {
		s.untilWaiting("the claim waits behind the takeover", ended)
		release(true)
		return nil
	})
	if len(res.Dispatched) != 0 {
		s.Errorf("the claim dispatched %d jobs", len(res.Dispatched))
	}
	if res = s.tick(shortTick("a", quota("a", 1000))); len(res.Dispatched) != 0 || len(res.Held) != 0 {
		s.Errorf("the next claim dispatched %d jobs and held %d buckets", len(res.Dispatched), len(res.Held))
	}
	for _, id := range ids {
		if got := s.get(id); got.Status != core.Scheduled {
			s.Fatalf("job %d is %s", id, got.Status)
		}
	}
}

// untilWaiting returns when a statement waits for a lock or ended is closed, whichever comes first.
func (s *stage) untilWaiting(what string, ended <-chan struct{}) {
	w, ok := s.db.(WaitCounter)
	if !ok {
		return
	}
	s.eventually(what, func() bool {
		select {
		case <-ended:
			return true
		default:
			return w.Waiting(s.T) > 0
		}
	})
}

func leasesTakeoverWaited(s *stage) {
	s.tick(shortTick("a"))
	id := s.submitMany(1, "a")[0]
	token := s.get(id).LeaseToken
	release := s.hold(Hold{Kind: HoldDispatch, ID: id})
	s.advance(shortLease + time.Second)
	other := s.second()
	var published []core.Job
	ended := make(chan struct{})
	s.together(func() error {
		defer close(ended)
		res, err := other.store.Tick(s.ctx, shortTick("b"))
		published = res.Dispatched
		return err
	}, func() error {
		s.untilWaiting("the takeover waits behind the claim", ended)
		release(true)
		return nil
	})
	for range 3 { // a takeover may pass over leases that are locked; then a later tick has them
		if len(published) == 0 {
			published = other.tick(shortTick("b")).Dispatched
		}
	}
	if len(published) != 1 || refOf(published[0]) != (core.Ref{ID: id, Token: token}) {
		s.Fatalf("want job %d published again under token %d, got %+v", id, token, published)
	}
}

// leasesRace lets two holders tick while the clock makes their leases run out again and again.
func leasesRace(s *stage) {
	const jobs = 600
	s.submitMany(jobs, "a")
	var mu sync.Mutex
	dispatched := map[int64]core.Job{}
	tick := func(store core.Store, holder string) func() error {
		return func() error {
			for range 40 {
				res, err := store.Tick(s.ctx, shortTick(holder, quota("a", 10)))
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
	s.together(tick(s.store, "a"), tick(s.second().store, "b"), func() error {
		for range 30 {
			s.advance(3 * time.Second)
			if _, err := s.store.Now(s.ctx); err != nil {
				return err
			}
		}
		return nil
	})
	queued := s.list(core.ListQuery{Type: "a", Statuses: []core.Status{core.Queued}, Limit: 1000})
	if len(queued) != len(dispatched) || len(queued) == 0 {
		s.Errorf("%d rows are queued, %d jobs were dispatched", len(queued), len(dispatched))
	}
	for _, job := range queued {
		if _, ok := dispatched[job.ID]; !ok || job.Attempts != 0 {
			s.Errorf("job %d is queued and nobody dispatched it", job.ID)
		}
	}
}
