package storetest

import (
	"slices"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func dispatchScenarios() []scenario {
	return []scenario{
		{"Tick/marks due jobs queued under a dispatch lease", dispatchMarks},
		{"Tick/dispatches the earliest first and no more than each quota", dispatchOrder},
		{"Tick/publishes again once the dispatch lease has passed, each time twice as long", dispatchDoubles},
		{"Tick/a queue paused for ten leases burns no attempt and no message", dispatchPaused},
		{"Tick/publishes no more again than the limit, and all in turn", dispatchLimit},
		{"Tick/without dispatch marks and publishes nothing", dispatchOff},
		{"Tick/dispatch and direct claim never take one job", dispatchRace},
		{"Tick/cancels expired jobs, no more than the limit at a time", tickExpires},
		{"Tick/names every waiting lane and when it is due", tickWaiting},
		{"Tick/counts what is queued before its own quotas", tickQueued},
		{"Tick/counts what is queued by type, too, where that is asked for", tickQueuedTypes},
		{"Tick/passes over a row that a stranger's transaction holds", tickHeld},
		{"Tick/without a queue returns what one was given to scheduled once the dispatch lease has passed", tickRecalls},
		{"Undispatch/makes the next tick publish again under the same token", undispatch},
		{"Undispatch/leaves other tokens and other statuses alone", undispatchStale},
	}
}

func dispatchMarks(s *stage) {
	before := s.get(s.submitOne(core.NewJob{Type: "a", Tenant: "t", Payload: []byte(`"big"`), Trace: "00-x"}))
	s.submitOne(core.NewJob{Type: "a", Delay: time.Hour})
	res := s.tick(tickRequest("holder-1", quota("a", 10)))
	if len(res.Dispatched) != 1 || res.Dispatched[0].ID != before.ID || res.Taken[0].N != 1 {
		s.Fatalf("want job %d dispatched, got %v, %+v", before.ID, idsOf(res.Dispatched), res.Taken)
	}
	fence := s.tokens(res.Held)[before.Bucket]
	for where, got := range map[string]core.Job{"answer": res.Dispatched[0], "row": s.get(before.ID)} {
		if got.LeaseToken != before.LeaseToken || got.DispatchFence != fence || got.Type != "a" || got.Tenant != "t" || got.Priority != core.Default || got.Trace != "00-x" {
			s.Errorf("%s: want token %d and fence %d: %+v", where, before.LeaseToken, fence, got)
		}
	}
	row := s.get(before.ID)
	if row.Status != core.Queued || row.Attempts != 0 || row.Dispatches != 1 || row.LeaseUntil.Sub(res.Now.Add(dispatchLease)).Abs() > time.Second || !row.RunAt.Equal(before.RunAt) {
		s.Errorf("want it queued until %s: %+v", res.Now.Add(dispatchLease), row)
	}
	if res.Dispatched[0].Payload != nil {
		s.Error("the payload was read for a message that does not carry it")
	}
}

func dispatchOrder(s *stage) {
	base := s.now().Add(-time.Hour).Truncate(time.Microsecond)
	var jobs []core.NewJob
	for i := range 60 {
		jobs = append(jobs, core.NewJob{Type: "a", Priority: core.Priorities[i%3], RunAt: base.Add(time.Duration(i*37%60) * time.Second)})
	}
	s.submit(jobs...)
	for range 4 {
		res := s.tick(tickRequest("holder-1", core.Quota{Priority: core.Critical, Type: "a", Limit: 5}, core.Quota{Priority: core.Bulk, Type: "a", Limit: 2}))
		last := map[core.Priority]time.Time{}
		n := map[core.Priority]int{}
		for _, job := range res.Dispatched {
			if job.RunAt.Before(last[job.Priority]) {
				s.Errorf("%s: run_at %s after %s", job.Priority, job.RunAt, last[job.Priority])
			}
			last[job.Priority] = job.RunAt
			n[job.Priority]++
		}
		if n[core.Critical] != 5 || n[core.Bulk] != 2 || n[core.Default] != 0 || res.Taken[0].N != 5 || res.Taken[1].N != 2 {
			s.Fatalf("dispatched %v, answered %+v", n, res.Taken)
		}
		for p, at := range last {
			if waiting := s.list(core.ListQuery{Priority: p, Statuses: []core.Status{core.Scheduled}, RunBefore: at, Limit: 100}); len(waiting) != 0 {
				s.Errorf("%s: %d jobs were due before the last one dispatched and still wait", p, len(waiting))
			}
		}
	}
}

func dispatchDoubles(s *stage) {
	job := s.queue(1, "a")[0]
	for i, seconds := range []int{10, 20, 40, 80, 160, 300, 300, 300} {
		want := time.Duration(seconds) * time.Second
		row, now := s.get(job.ID), s.now()
		if left := row.LeaseUntil.Sub(now); left > want || left < want-dispatchLease/2 {
			s.Fatalf("publishing %d: the dispatch lease is %s, want %s", i+1, left, want)
		}
		if row.Dispatches != i+1 || row.LeaseToken != job.LeaseToken || row.Status != core.Queued || row.Attempts != 0 {
			s.Fatalf("publishing %d: %+v", i+1, row)
		}
		if res := s.tick(tickRequest("holder-1")); len(res.Dispatched) != 0 {
			s.Fatalf("published again while its dispatch lease is live")
		}
		s.advance(want + time.Second)
		if res := s.tick(tickRequest("holder-1")); len(res.Dispatched) != 1 || refOf(res.Dispatched[0]) != refOf(job) {
			s.Fatalf("want job %d published again under token %d, got %+v", job.ID, job.LeaseToken, res.Dispatched)
		}
	}
}

func dispatchPaused(s *stage) {
	first := s.queue(40, "a")
	for range 10 {
		s.advance(dispatchLeaseMax + time.Second)
		if again := s.dispatch("a", 100); len(again) != 40 {
			s.Fatalf("%d of 40 jobs were published again", len(again))
		}
	}
	started := s.start(refsOf(first)...).Jobs
	if len(started) != 40 {
		s.Fatalf("%d of 40 jobs were started by their first messages", len(started))
	}
	for _, job := range started {
		if job.Attempts != 1 {
			s.Fatalf("job %d was charged %d attempts", job.ID, job.Attempts)
		}
	}
	if again := s.start(refsOf(first)...).Jobs; len(again) != 0 {
		s.Fatalf("%d repeated messages started something", len(again))
	}
}

func dispatchLimit(s *stage) {
	s.queue(20, "a")
	s.advance(dispatchLease + time.Second)
	req, seen := tickRequest("holder-1"), map[int64]bool{}
	req.RepublishLimit = 6
	for _, want := range []int{6, 6, 6, 2, 0} {
		jobs := s.tick(req).Dispatched
		if len(jobs) != want {
			s.Fatalf("%d jobs were published again, want %d", len(jobs), want)
		}
		for _, job := range jobs {
			if seen[job.ID] {
				s.Fatalf("job %d was published twice before others", job.ID)
			}
			seen[job.ID] = true
		}
	}
}

func dispatchOff(s *stage) {
	s.queue(5, "a")
	s.submitMany(5, "a")
	s.advance(dispatchLease + time.Second)
	req := tickRequest("holder-1", quota("a", 10))
	req.Dispatch = false
	if res := s.tick(req); len(res.Dispatched) != 0 || len(res.Held) != core.Buckets {
		s.Fatalf("%d jobs were dispatched, %d buckets are held", len(res.Dispatched), len(res.Held))
	}
	if n := len(s.list(core.ListQuery{Statuses: []core.Status{core.Scheduled}, Limit: 100})); n != 5 {
		s.Fatalf("%d of 5 jobs are still scheduled", n)
	}
}

func dispatchRace(s *stage) {
	const jobs = 600
	s.submitMany(jobs, "a")
	var mu sync.Mutex
	taken := map[int64]string{}
	take := func(by string, act func() ([]core.Job, error)) func() error {
		return func() error {
			for range 40 {
				got, err := act()
				if err != nil {
					return err
				}
				mu.Lock()
				for _, job := range got {
					if taken[job.ID] != "" {
						s.Errorf("job %d was taken by %s and by %s", job.ID, taken[job.ID], by)
					}
					taken[job.ID] = by
				}
				mu.Unlock()
			}
			return nil
		}
	}
	s.together(take("claim", func() ([]core.Job, error) {
		res, err := s.store.ClaimDue(s.ctx, s.claimRequest(quota("a", 9)))
		return res.Jobs, err
	}), take("tick", func() ([]core.Job, error) {
		res, err := s.store.Tick(s.ctx, tickRequest("holder-1", quota("a", 9)))
		return res.Dispatched, err
	}))
	for id, by := range taken {
		if got := s.get(id); got.Status != map[string]core.Status{"claim": core.Running, "tick": core.Queued}[by] {
			s.Errorf("job %d was taken by a %s and is %s", id, by, got.Status)
		}
	}
}

func tickExpires(s *stage) {
	now := s.now()
	var jobs []core.NewJob
	for i := range 20 {
		jobs = append(jobs, core.NewJob{Type: "a", Delay: time.Duration(i%2) * 48 * time.Hour, ExpiresAt: now.Add(time.Hour)})
	}
	out := s.submit(append(jobs, core.NewJob{Type: "a", ExpiresAt: now.Add(24 * time.Hour)}, core.NewJob{Type: "a"})...)
	if n := s.tick(tickRequest("holder-1")).Expired; n != 0 {
		s.Fatalf("%d jobs expired too early", n)
	}
	s.advance(2 * time.Hour)
	req := tickRequest("holder-1")
	req.ExpireLimit = 8
	for _, want := range []int{8, 8, 4, 0} {
		if n := s.tick(req).Expired; n != want {
			s.Fatalf("%d jobs expired, want %d", n, want)
		}
	}
	for i, one := range out {
		got := s.get(one.ID)
		if i < 20 && (got.Status != core.Cancelled || got.Reason != "expired" || got.FinishedAt.IsZero()) || i >= 20 && got.Status != core.Scheduled {
			s.Errorf("job %d: %+v", i, got)
		}
	}
}

func tickWaiting(s *stage) {
	s.submit(core.NewJob{Type: "a"}, core.NewJob{Type: "a", Delay: time.Hour}, core.NewJob{Type: "b", Delay: 20 * time.Minute}, core.NewJob{Type: "b", Delay: 30 * time.Minute},
		core.NewJob{Type: "b", Priority: core.Critical, Delay: 10 * time.Minute}, core.NewJob{Type: "c", Priority: core.Bulk, Tenant: "t"})
	s.put(core.Running, core.NewJob{Type: "d"})
	s.put(core.Queued, core.NewJob{Type: "e"})
	want := map[core.Lane]bool{{Priority: core.Default, Type: "a"}: true, {Priority: core.Default, Type: "b", DueIn: 20 * time.Minute}: true,
		{Priority: core.Critical, Type: "b", DueIn: 10 * time.Minute}: true, {Priority: core.Bulk, Type: "c"}: true}
	for _, lane := range s.tick(tickRequest("holder-1")).Waiting {
		found := false
		for w := range want {
			if w.Priority == lane.Priority && w.Type == lane.Type && (lane.DueIn <= 0) == (w.DueIn == 0) && lane.DueIn <= w.DueIn && w.DueIn-lane.DueIn < patience {
				delete(want, w)
				found = true
			}
		}
		if !found {
			s.Errorf("an unexpected lane: %+v", lane)
		}
	}
	if len(want) != 0 {
		s.Errorf("lanes not named: %+v", want)
	}
}

func tickQueuedTypes(s *stage) {
	for i := range 5 {
		s.put(core.Queued, core.NewJob{Type: []string{"a", "b"}[i%2]})
	}
	s.submitOne(core.NewJob{Type: "a", Priority: core.Bulk})
	s.submitOne(core.NewJob{Type: "a"})
	if res := s.tick(tickRequest("holder-1", core.Quota{Priority: core.Bulk, Type: "a", Limit: 1})); res.QueuedTypes != nil {
		s.Errorf("not asked for, and counted: %+v", res.QueuedTypes)
	}
	req := tickRequest("holder-1", quota("a", 4))
	req.CountTypes = true
	res := s.tick(req)
	want := []core.QueuedType{{Priority: core.Default, Type: "a", N: 3}, {Priority: core.Default, Type: "b", N: 2}, {Priority: core.Bulk, Type: "a", N: 1}}
	for _, t := range want {
		if !slices.Contains(res.QueuedTypes, t) {
			s.Errorf("no %+v among %+v", t, res.QueuedTypes)
		}
	}
	if len(res.QueuedTypes) != len(want) || res.Queued != [3]int{0, 5, 1} {
		s.Errorf("%d counts by type, and %v by priority", len(res.QueuedTypes), res.Queued)
	}
}

func tickQueued(s *stage) {
	s.queue(7, "a")
	s.submitMany(4, "a")
	s.put(core.Queued, core.NewJob{Type: "b", Priority: core.Default})
	s.submitOne(core.NewJob{Type: "c", Priority: core.Bulk})
	s.tick(tickRequest("holder-1", core.Quota{Priority: core.Bulk, Type: "c", Limit: 1}))
	if got := s.tick(tickRequest("holder-1", quota("a", 4))).Queued; got != [3]int{0, 8, 1} {
		s.Errorf("want 0, 8 and 1 queued before the quotas, got %v", got)
	}
	if got := s.tick(tickRequest("holder-1")).Queued; got != [3]int{0, 12, 1} {
		s.Errorf("want 0, 12 and 1 queued after, got %v", got)
	}
}

func tickHeld(s *stage) {
	ids := s.submitMany(10, "a")
	release := s.hold(Hold{Kind: HoldRow, ID: ids[0]})
	if got := idsOf(s.dispatch("a", 100)); !slices.Equal(got, ids[1:]) {
		s.Errorf("want %v, got %v", ids[1:], got)
	}
	release(false)
	held := s.queue(1, "b")[0]
	release = s.hold(Hold{Kind: HoldRow, ID: held.ID})
	s.advance(dispatchLease + time.Second)
	if got := idsOf(s.dispatch("a", 100)); len(got) != 10 {
		s.Errorf("%d of 10 jobs were published beside a row that is held", len(got))
	}
	release(false)
	if got := s.dispatch("b", 1); len(got) != 1 || refOf(got[0]) != refOf(held) {
		s.Errorf("after the release: %+v", got)
	}
}

func tickRecalls(s *stage) {
	queued := s.queue(10, "a")
	direct := tickRequest("holder-1")
	direct.Dispatch, direct.Recall = false, true
	first := s.get(queued[0].ID)
	s.tick(direct)
	s.unchanged(first)
	s.advance(dispatchLease + time.Second)
	stranger := direct
	stranger.Holder = "holder-2"
	s.tick(direct)
	s.tick(stranger)
	for _, before := range queued {
		j := s.get(before.ID)
		if j.Status != core.Scheduled || j.LeaseToken != before.LeaseToken+1 || j.Attempts != 0 || !j.RunAt.Equal(before.RunAt) {
			s.Errorf("want job %d scheduled under token %d, got %+v", j.ID, before.LeaseToken+1, j)
		}
	}
	if jobs := s.start(refsOf(queued)...).Jobs; len(jobs) != 0 {
		s.Errorf("%d of their messages still start", len(jobs))
	}
	if got := idsOf(s.claim("a", 100)); !slices.Equal(got, idsOf(queued)) {
		s.Errorf("claimed %v, want %v", got, idsOf(queued))
	}
}

func undispatch(s *stage) {
	queued := s.queue(10, "a")
	s.must(s.store.Undispatch(s.ctx, refsOf(queued[:4])))
	s.republished(s.tick(tickRequest("holder-1")), queued[:4])
	s.publishedOnce(queued)
	s.must(s.store.Undispatch(s.ctx, nil))
	if jobs := s.start(refsOf(queued)...).Jobs; len(jobs) != 10 {
		s.Fatalf("%d of 10 jobs were started", len(jobs))
	}
}

func undispatchStale(s *stage) {
	queued := s.put(core.Queued, core.NewJob{})
	refs := []core.Ref{{ID: queued.ID, Token: queued.LeaseToken + 1}, {ID: 1 << 60}}
	before := []core.Job{queued}
	for _, status := range []core.Status{core.Scheduled, core.Running, core.Done, core.Failed, core.Cancelled} {
		job := s.put(status, core.NewJob{})
		before, refs = append(before, job), append(refs, refOf(job))
	}
	s.must(s.store.Undispatch(s.ctx, refs))
	for _, job := range before {
		s.unchanged(job)
	}
}
