package tick

import (
	"slices"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func dispatchScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Tick/marks due jobs queued under a dispatch lease", Run: dispatchMarks},
		{Name: "Tick/dispatches the earliest first and no more than each quota", Run: dispatchOrder},
		{Name: "Tick/publishes again once the dispatch lease has expired, each time twice as long", Run: dispatchDoubles},
		{Name: "Tick/a queue paused for ten leases burns no attempt and no message", Run: dispatchPaused},
		{Name: "Tick/publishes no more again than the limit, and all in turn", Run: dispatchLimit},
		{Name: "Tick/without dispatch marks and publishes nothing", Run: dispatchOff},
		{Name: "Tick/dispatch and direct claim never take one job", Run: dispatchRace},
		{Name: "Tick/cancels expired jobs, no more than the limit at a time", Run: tickExpires},
		{Name: "Tick/names every waiting lane and when it is due", Run: tickWaiting},
		{Name: "Tick/counts what is queued before its own quotas", Run: tickQueued},
		{Name: "Tick/counts queued jobs by type on request", Run: tickQueuedTypes},
		{Name: "CountQueued/counts queued rows by priority, and by type if asked, and no others", Run: countQueued},
		{Name: "Tick/skips a row that another transaction locks", Run: tickHeld},
		{Name: "Tick/without a queue, queued jobs return to scheduled once their dispatch lease has expired", Run: tickRecalls},
		{Name: "Undispatch/makes the next tick publish again under the same token", Run: undispatch},
		{Name: "Undispatch/leaves other tokens and other statuses alone", Run: undispatchStale},
	}
}

func dispatchMarks(s *storetest.Stage) {
	before := s.Get(s.SubmitOne(core.NewJob{Type: "a", Tenant: "t", Payload: []byte(`"big"`), Trace: "00-x"}))
	s.SubmitOne(core.NewJob{Type: "a", Delay: time.Hour})
	res := s.Tick(storetest.TickRequest("holder-1", storetest.Quota("a", 10)))
	if len(res.Dispatched) != 1 || res.Dispatched[0].ID != before.ID || res.Taken[0].N != 1 {
		s.Fatalf("want job %d dispatched, got %v, %+v", before.ID, storetest.IdsOf(res.Dispatched), res.Taken)
	}
	fence := s.Tokens(res.Held)[before.Bucket]
	for where, got := range map[string]core.Job{"answer": res.Dispatched[0], "row": s.Get(before.ID)} {
		if got.LeaseToken != before.LeaseToken || got.DispatchFence != fence || got.Type != "a" || got.Tenant != "t" || got.Priority != core.Default || got.Trace != "00-x" {
			s.Errorf("%s: want token %d and fence %d: %+v", where, before.LeaseToken, fence, got)
		}
	}
	row := s.Get(before.ID)
	if row.Status != core.Queued || row.Attempts != 0 || row.Dispatches != 1 || row.LeaseUntil.Sub(res.Now.Add(storetest.DispatchLease)).Abs() > time.Second || !row.RunAt.Equal(before.RunAt) {
		s.Errorf("want it queued until %s: %+v", res.Now.Add(storetest.DispatchLease), row)
	}
	if res.Dispatched[0].Payload != nil {
		s.Error("the payload was read for a message that does not carry it")
	}
}

func dispatchOrder(s *storetest.Stage) {
	base := s.Now().Add(-time.Hour).Truncate(time.Microsecond)
	var jobs []core.NewJob
	for i := range 60 {
		jobs = append(jobs, core.NewJob{Type: "a", Priority: core.Priorities[i%3], RunAt: base.Add(time.Duration(i*37%60) * time.Second)})
	}
	s.Submit(jobs...)
	for range 4 {
		res := s.Tick(storetest.TickRequest("holder-1", core.Quota{Priority: core.Critical, Type: "a", Limit: 5}, core.Quota{Priority: core.Bulk, Type: "a", Limit: 2}))
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
			if waiting := s.List(core.ListQuery{Priority: p, Statuses: []core.Status{core.Scheduled}, RunBefore: at, Limit: 100}); len(waiting) != 0 {
				s.Errorf("%s: %d jobs were due before the last one dispatched and still wait", p, len(waiting))
			}
		}
	}
}

func dispatchDoubles(s *storetest.Stage) {
	job := s.Queue(1, "a")[0]
	for i, seconds := range []int{10, 20, 40, 80, 160, 300, 300, 300} {
		want := time.Duration(seconds) * time.Second
		row, now := s.Get(job.ID), s.Now()
		if left := row.LeaseUntil.Sub(now); left > want || left < want-storetest.DispatchLease/2 {
			s.Fatalf("publishing %d: the dispatch lease is %s, want %s", i+1, left, want)
		}
		if row.Dispatches != i+1 || row.LeaseToken != job.LeaseToken || row.Status != core.Queued || row.Attempts != 0 {
			s.Fatalf("publishing %d: %+v", i+1, row)
		}
		if res := s.Tick(storetest.TickRequest("holder-1")); len(res.Dispatched) != 0 {
			s.Fatalf("published again while its dispatch lease is live")
		}
		s.Advance(want + time.Second)
		if res := s.Tick(storetest.TickRequest("holder-1")); len(res.Dispatched) != 1 || storetest.RefOf(res.Dispatched[0]) != storetest.RefOf(job) {
			s.Fatalf("want job %d published again under token %d, got %+v", job.ID, job.LeaseToken, res.Dispatched)
		}
	}
}

func dispatchPaused(s *storetest.Stage) {
	first := s.Queue(40, "a")
	for range 10 {
		s.Advance(storetest.DispatchLeaseMax + time.Second)
		if again := s.Dispatch("a", 100); len(again) != 40 {
			s.Fatalf("%d of 40 jobs were published again", len(again))
		}
	}
	started := s.Start(storetest.RefsOf(first)...).Jobs
	if len(started) != 40 {
		s.Fatalf("%d of 40 jobs were started by their first messages", len(started))
	}
	for _, job := range started {
		if job.Attempts != 1 {
			s.Fatalf("job %d was charged %d attempts", job.ID, job.Attempts)
		}
	}
	if again := s.Start(storetest.RefsOf(first)...).Jobs; len(again) != 0 {
		s.Fatalf("%d repeated messages started something", len(again))
	}
}

func dispatchLimit(s *storetest.Stage) {
	s.Queue(20, "a")
	s.Advance(storetest.DispatchLease + time.Second)
	req, seen := storetest.TickRequest("holder-1"), map[int64]bool{}
	req.RepublishLimit = 6
	for _, want := range []int{6, 6, 6, 2, 0} {
		jobs := s.Tick(req).Dispatched
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

func dispatchOff(s *storetest.Stage) {
	s.Queue(5, "a")
	s.SubmitMany(5, "a")
	s.Advance(storetest.DispatchLease + time.Second)
	req := storetest.TickRequest("holder-1", storetest.Quota("a", 10))
	req.Dispatch = false
	if res := s.Tick(req); len(res.Dispatched) != 0 || len(res.Held) != core.Buckets {
		s.Fatalf("%d jobs were dispatched, %d buckets are held", len(res.Dispatched), len(res.Held))
	}
	if n := len(s.List(core.ListQuery{Statuses: []core.Status{core.Scheduled}, Limit: 100})); n != 5 {
		s.Fatalf("%d of 5 jobs are still scheduled", n)
	}
}

func dispatchRace(s *storetest.Stage) {
	const jobs = 600
	s.SubmitMany(jobs, "a")
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
	s.Together(take("claim", func() ([]core.Job, error) {
		res, err := s.Store.ClaimDue(s.Ctx, s.ClaimRequest(storetest.Quota("a", 9)))
		return res.Jobs, err
	}), take("tick", func() ([]core.Job, error) {
		res, err := s.Store.Tick(s.Ctx, storetest.TickRequest("holder-1", storetest.Quota("a", 9)))
		return res.Dispatched, err
	}))
	for id, by := range taken {
		if got := s.Get(id); got.Status != map[string]core.Status{"claim": core.Running, "tick": core.Queued}[by] {
			s.Errorf("job %d was taken by a %s and is %s", id, by, got.Status)
		}
	}
}

func tickExpires(s *storetest.Stage) {
	now := s.Now()
	var jobs []core.NewJob
	for i := range 20 {
		jobs = append(jobs, core.NewJob{Type: "a", Delay: time.Duration(i%2) * 48 * time.Hour, ExpiresAt: now.Add(time.Hour)})
	}
	out := s.Submit(append(jobs, core.NewJob{Type: "a", ExpiresAt: now.Add(24 * time.Hour)}, core.NewJob{Type: "a"})...)
	if n := s.Tick(storetest.TickRequest("holder-1")).Expired; n != 0 {
		s.Fatalf("%d jobs expired too early", n)
	}
	s.Advance(2 * time.Hour)
	req := storetest.TickRequest("holder-1")
	req.ExpireLimit = 8
	for _, want := range []int{8, 8, 4, 0} {
		if n := s.Tick(req).Expired; n != want {
			s.Fatalf("%d jobs expired, want %d", n, want)
		}
	}
	for i, one := range out {
		got := s.Get(one.ID)
		if i < 20 && (got.Status != core.Cancelled || got.Reason != "expired" || got.FinishedAt.IsZero()) || i >= 20 && got.Status != core.Scheduled {
			s.Errorf("job %d: %+v", i, got)
		}
	}
}

func tickWaiting(s *storetest.Stage) {
	s.Submit(core.NewJob{Type: "a"}, core.NewJob{Type: "a", Delay: time.Hour}, core.NewJob{Type: "b", Delay: 20 * time.Minute}, core.NewJob{Type: "b", Delay: 30 * time.Minute},
		core.NewJob{Type: "b", Priority: core.Critical, Delay: 10 * time.Minute}, core.NewJob{Type: "c", Priority: core.Bulk, Tenant: "t"})
	s.Put(core.Running, core.NewJob{Type: "d"})
	s.Put(core.Queued, core.NewJob{Type: "e"})
	want := map[core.Lane]bool{{Priority: core.Default, Type: "a"}: true, {Priority: core.Default, Type: "b", DueIn: 20 * time.Minute}: true,
		{Priority: core.Critical, Type: "b", DueIn: 10 * time.Minute}: true, {Priority: core.Bulk, Type: "c"}: true}
	for _, lane := range s.Tick(storetest.TickRequest("holder-1")).Waiting {
		found := false
		for w := range want {
			if w.Priority == lane.Priority && w.Type == lane.Type && (lane.DueIn <= 0) == (w.DueIn == 0) && lane.DueIn <= w.DueIn && w.DueIn-lane.DueIn < storetest.Patience {
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

func tickQueuedTypes(s *storetest.Stage) {
	for i := range 5 {
		s.Put(core.Queued, core.NewJob{Type: []string{"a", "b"}[i%2]})
	}
	s.SubmitOne(core.NewJob{Type: "a", Priority: core.Bulk})
	s.SubmitOne(core.NewJob{Type: "a"})
	if res := s.Tick(storetest.TickRequest("holder-1", core.Quota{Priority: core.Bulk, Type: "a", Limit: 1})); res.QueuedTypes != nil {
		s.Errorf("not asked for, and counted: %+v", res.QueuedTypes)
	}
	req := storetest.TickRequest("holder-1", storetest.Quota("a", 4))
	req.CountTypes = true
	res := s.Tick(req)
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

func countQueued(s *storetest.Stage) {
	count := func(types bool) core.QueuedCount {
		queued, err := s.Store.CountQueued(s.Context(), types)
		s.Must(err)
		return queued
	}
	if none := count(true); none.Priorities != [3]int{} || len(none.Types) != 0 {
		s.Errorf("of nothing: %+v", none)
	}
	for i := range 5 {
		s.Put(core.Queued, core.NewJob{Type: []string{"a", "b"}[i%2]})
	}
	for _, other := range []core.Status{core.Running, core.Done, core.Failed, core.Cancelled, core.Scheduled} {
		s.Put(other, core.NewJob{Type: "c"})
	}
	s.SubmitOne(core.NewJob{Type: "a", Priority: core.Bulk})
	s.Tick(storetest.TickRequest("holder-1", core.Quota{Priority: core.Bulk, Type: "a", Limit: 1}))
	if plain := count(false); plain.Priorities != [3]int{0, 5, 1} || plain.Types != nil {
		s.Errorf("by priority: %+v", plain)
	}
	byType := count(true)
	want := []core.QueuedType{{Priority: core.Default, Type: "a", N: 3}, {Priority: core.Default, Type: "b", N: 2}, {Priority: core.Bulk, Type: "a", N: 1}}
	for _, t := range want {
		if !slices.Contains(byType.Types, t) {
			s.Errorf("no %+v among %+v", t, byType.Types)
		}
	}
	if len(byType.Types) != len(want) || byType.Priorities != [3]int{0, 5, 1} {
		s.Errorf("by type: %+v", byType)
	}
}

func tickQueued(s *storetest.Stage) {
	s.Queue(7, "a")
	s.SubmitMany(4, "a")
	s.Put(core.Queued, core.NewJob{Type: "b", Priority: core.Default})
	s.SubmitOne(core.NewJob{Type: "c", Priority: core.Bulk})
	s.Tick(storetest.TickRequest("holder-1", core.Quota{Priority: core.Bulk, Type: "c", Limit: 1}))
	if got := s.Tick(storetest.TickRequest("holder-1", storetest.Quota("a", 4))).Queued; got != [3]int{0, 8, 1} {
		s.Errorf("want 0, 8 and 1 queued before the quotas, got %v", got)
	}
	if got := s.Tick(storetest.TickRequest("holder-1")).Queued; got != [3]int{0, 12, 1} {
		s.Errorf("want 0, 12 and 1 queued after, got %v", got)
	}
}

func tickHeld(s *storetest.Stage) {
	ids := s.SubmitMany(10, "a")
	release := s.Hold(storetest.Hold{Kind: storetest.HoldRow, ID: ids[0]})
	if got := storetest.IdsOf(s.Dispatch("a", 100)); !slices.Equal(got, ids[1:]) {
		s.Errorf("want %v, got %v", ids[1:], got)
	}
	release(false)
	held := s.Queue(1, "b")[0]
	release = s.Hold(storetest.Hold{Kind: storetest.HoldRow, ID: held.ID})
	s.Advance(storetest.DispatchLease + time.Second)
	if got := storetest.IdsOf(s.Dispatch("a", 100)); len(got) != 10 {
		s.Errorf("%d of 10 jobs were published while another row was locked", len(got))
	}
	release(false)
	if got := s.Dispatch("b", 1); len(got) != 1 || storetest.RefOf(got[0]) != storetest.RefOf(held) {
		s.Errorf("after the release: %+v", got)
	}
}

func tickRecalls(s *storetest.Stage) {
	queued := s.Queue(10, "a")
	direct := storetest.TickRequest("holder-1")
	direct.Dispatch, direct.Recall = false, true
	first := s.Get(queued[0].ID)
	s.Tick(direct)
	s.Unchanged(first)
	s.Advance(storetest.DispatchLease + time.Second)
	stranger := direct
	stranger.Holder = "holder-2"
	s.Tick(direct)
	s.Tick(stranger)
	for _, before := range queued {
		j := s.Get(before.ID)
		if j.Status != core.Scheduled || j.LeaseToken != before.LeaseToken+1 || j.Attempts != 0 || !j.RunAt.Equal(before.RunAt) {
			s.Errorf("want job %d scheduled under token %d, got %+v", j.ID, before.LeaseToken+1, j)
		}
	}
	if jobs := s.Start(storetest.RefsOf(queued)...).Jobs; len(jobs) != 0 {
		s.Errorf("%d of their messages still start", len(jobs))
	}
	if got := storetest.IdsOf(s.Claim("a", 100)); !slices.Equal(got, storetest.IdsOf(queued)) {
		s.Errorf("claimed %v, want %v", got, storetest.IdsOf(queued))
	}
}

func undispatch(s *storetest.Stage) {
	queued := s.Queue(10, "a")
	s.Must(s.Store.Undispatch(s.Ctx, storetest.RefsOf(queued[:4])))
	s.Republished(s.Tick(storetest.TickRequest("holder-1")), queued[:4])
	publishedOnce(s, queued)
	s.Must(s.Store.Undispatch(s.Ctx, nil))
	if jobs := s.Start(storetest.RefsOf(queued)...).Jobs; len(jobs) != 10 {
		s.Fatalf("%d of 10 jobs were started", len(jobs))
	}
}

func undispatchStale(s *storetest.Stage) {
	queued := s.Put(core.Queued, core.NewJob{})
	refs := []core.Ref{{ID: queued.ID, Token: queued.LeaseToken + 1}, {ID: 1 << 60}}
	before := []core.Job{queued}
	for _, status := range []core.Status{core.Running, core.Done, core.Failed, core.Cancelled, core.Scheduled} {
		job := s.Put(status, core.NewJob{})
		before, refs = append(before, job), append(refs, storetest.RefOf(job))
	}
	s.Must(s.Store.Undispatch(s.Ctx, refs))
	for _, job := range before {
		s.Unchanged(job)
	}
}
