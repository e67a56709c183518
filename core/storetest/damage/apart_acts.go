package damage

import (
	"errors"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
	"github.com/belfry-dev/belfry/core/storetest"
)

func apartClaim(s *storetest.Stage, how storetest.Break) {
	sound, bad, mend := broken(s, how, core.NewJob{}, nil)
	same(s, "claimed", s.ClaimDue(both(100)...).Jobs, sound)
	same(s, "claimed again", s.ClaimDue(both(100)...).Jobs, nil)
	if how == storetest.BreakIgnore && len(setApart(s)) == 0 {
		return // this store only sees that nothing was changed
	}
	named(s, bad, "claim")
	s.Advance(core.ApartFirst + time.Second)
	same(s, "claimed after a while", s.ClaimDue(both(100)...).Jobs, nil)
	if apart := setApart(s); len(apart) != len(bad) || apart[0].Tries != 2 {
		s.Errorf("after a while %+v are apart", apart)
	}
	mend()
	s.Advance(core.ApartLongest)
	same(s, "claimed when they were mended", s.ClaimDue(both(100)...).Jobs, bad)
}

func setApart(s *storetest.Stage) []core.RowFault {
	s.Helper()
	apart, err := s.Store.Apart(s.Ctx, 100)
	s.Must(err)
	return apart
}

func apartClaimTenants(s *storetest.Stage, how storetest.Break) {
	sound, bad, _ := broken(s, how, core.NewJob{Tenant: "acme"}, nil)
	other := s.SubmitOne(core.NewJob{Type: "bad", Tenant: "other"})
	if how == storetest.BreakPayload {
		sound = append(sound, other)
	} else {
		bad = append(bad, other)
	}
	var got []core.Job
	for range 4 {
		quotas := both(100)
		for i := range quotas {
			quotas[i].PerTenant = 50
		}
		got = append(got, s.ClaimDue(quotas...).Jobs...)
	}
	same(s, "claimed", got, sound)
	named(s, bad, "claim")
}

// apartRefused: a claim ends expired jobs that it meets, and one of them cannot be ended.
func apartRefused(s *storetest.Stage, how storetest.Break) {
	sound, bad, mend := broken(s, how, core.NewJob{MaxAttempts: 5}, func(ids []int64) {
		for _, id := range ids {
			if !s.DB.Damage(s.T, storetest.AttemptsAtMax, id) {
				s.Skip("this schema keeps attempts below max_attempts")
			}
		}
	})
	same(s, "claimed", s.ClaimDue(both(100)...).Jobs, nil)
	for _, id := range sound {
		if got := s.Get(id); got.Status != core.Failed {
			s.Errorf("job %d is %s, want failed", id, got.Status)
		}
	}
	named(s, bad, "end")
	mend()
	s.Advance(core.ApartLongest)
	same(s, "claimed later", s.ClaimDue(both(100)...).Jobs, nil)
	for _, id := range bad {
		if got := s.Get(id); got.Status != core.Failed {
			s.Errorf("once it was mended job %d is %s, want failed", id, got.Status)
		}
	}
}

func queueBoth(s *storetest.Stage) func([]int64) {
	return func([]int64) { s.Tick(storetest.TickRequest("holder-1", both(100)...)) }
}

func apartStart(s *storetest.Stage, how storetest.Break) {
	var refs []core.Ref
	sound, bad, mend := broken(s, how, core.NewJob{}, func([]int64) {
		refs = storetest.RefsOf(s.Tick(storetest.TickRequest("holder-1", both(100)...)).Dispatched)
	})
	same(s, "started", s.Start(refs...).Jobs, sound)
	if how == storetest.BreakIgnore && len(setApart(s)) == 0 {
		return
	}
	named(s, bad, "start")
	mend()
	s.Advance(core.ApartLongest)
	again := s.Tick(storetest.TickRequest("holder-1")).Dispatched
	same(s, "published when they were mended", again, bad)
	same(s, "started when they were mended", s.Start(storetest.RefsOf(again)...).Jobs, bad)
}

func apartBeat(s *storetest.Stage, how storetest.Break) {
	var refs []core.Ref
	_, bad, mend := broken(s, how, core.NewJob{}, func([]int64) { refs = storetest.RefsOf(s.ClaimDue(both(100)...).Jobs) })
	s.Advance(storetest.Lease / 2)
	want := s.Now().Add(storetest.Lease)
	for range 2 {
		beats, err := s.Store.Heartbeat(s.Ctx, refs, storetest.Lease)
		s.Must(err)
		for i, beat := range beats {
			busy := slices.Contains(bad, refs[i].ID)
			if beat != (core.Beat{Busy: busy}) || !busy && s.Get(refs[i].ID).LeaseUntil.Before(want) {
				s.Errorf("job %d, bad %t: %+v", refs[i].ID, busy, beat)
			}
		}
	}
	named(s, bad, "heartbeat")
	mend()
	for _, ref := range refs {
		if got := s.Beat(ref); got != (core.Beat{}) {
			s.Errorf("job %d, once it was mended: %+v", ref.ID, got)
		}
	}
}

func apartDispatch(s *storetest.Stage, how storetest.Break) {
	sound, bad, mend := broken(s, how, core.NewJob{}, nil)
	got := s.Tick(storetest.TickRequest("holder-1", both(100)...))
	if how == storetest.BreakPayload && len(got.Dispatched) == len(sound)+len(bad) {
		return // this store dispatches without reading payloads
	}
	same(s, "dispatched", got.Dispatched, sound)
	if how == storetest.BreakIgnore && len(setApart(s)) == 0 {
		return
	}
	if next := s.Tick(withSchedules("holder-1")); !next.Untold || len(next.Held) != core.Buckets {
		s.Errorf("the tick does not know that rows were set apart: %+v", next)
	}
	named(s, bad, "dispatch")
	mend()
	s.Advance(core.ApartLongest)
	s.Tick(storetest.TickRequest("holder-1")) // publishes the other jobs again
	same(s, "dispatched when they were mended", s.Tick(storetest.TickRequest("holder-1", both(100)...)).Dispatched, bad)
}

func withSchedules(holder string) core.TickRequest {
	req := storetest.TickRequest(holder)
	req.ScheduleLimit = 100
	return req
}

func apartRepublish(s *storetest.Stage, how storetest.Break) {
	sound, bad, mend := broken(s, how, core.NewJob{}, queueBoth(s))
	s.Advance(storetest.DispatchLease + time.Second)
	got := s.Tick(storetest.TickRequest("holder-1")).Dispatched
	if how == storetest.BreakPayload && len(got) == len(sound)+len(bad) {
		return
	}
	same(s, "published again", got, sound)
	named(s, bad, "publish")
	mend()
	s.Advance(core.ApartLongest)
	got = s.Tick(storetest.TickRequest("holder-1")).Dispatched
	same(s, "published when they were mended", slices.DeleteFunc(got, func(j core.Job) bool { return slices.Contains(sound, j.ID) }), bad)
}

func apartRecall(s *storetest.Stage, how storetest.Break) {
	sound, bad, _ := broken(s, how, core.NewJob{}, queueBoth(s))
	s.Advance(storetest.DispatchLease + time.Second)
	req := storetest.TickRequest("holder-1")
	req.Dispatch, req.Recall = false, true
	s.Tick(req)
	for _, id := range sound {
		if got := s.Get(id); got.Status != core.Scheduled {
			s.Errorf("job %d is %s, want scheduled", id, got.Status)
		}
	}
	if how == storetest.BreakPayload && len(setApart(s)) == 0 {
		return
	}
	named(s, bad, "publish")
}

func apartExpire(s *storetest.Stage, how storetest.Break) {
	sound, bad, mend := broken(s, how, core.NewJob{Delay: time.Hour, ExpiresAt: s.Now().Add(2 * time.Hour)}, nil)
	s.Advance(3 * time.Hour)
	if got := s.Tick(storetest.TickRequest("holder-1")).Expired; got != len(sound) {
		s.Errorf("%d jobs expired, want %d", got, len(sound))
	}
	for _, id := range sound {
		if got := s.Get(id); got.Status != core.Cancelled || got.Reason != "expired" {
			s.Errorf("job %d is %s", id, got.Status)
		}
	}
	named(s, bad, "expire")
	mend()
	s.Advance(core.ApartLongest)
	if got := s.Tick(storetest.TickRequest("holder-1")).Expired; got != len(bad) {
		s.Errorf("%d jobs expired once they were mended, want %d", got, len(bad))
	}
}

func apartLost(s *storetest.Stage, how storetest.Break) {
	sound, bad, _ := broken(s, how, core.NewJob{}, func([]int64) { s.ClaimDue(both(100)...) })
	s.Advance(storetest.Lease + time.Second)
	lost := s.Lost()
	if len(lost) == len(sound)+len(bad) {
		return // listing them raises no error
	}
	same(s, "lost", lost, sound)
	named(s, bad, "reap")
}

// apartFinish: a caller that ends many jobs at once finds the row by halving the batch.
func apartFinish(s *storetest.Stage, how storetest.Break) {
	var jobs []core.Job
	sound, bad, mend := broken(s, how, core.NewJob{}, func([]int64) { jobs = s.ClaimDue(both(100)...).Jobs })
	outcome := map[storetest.Break]core.Outcome{storetest.BreakPayload: core.EndDone, storetest.BreakChange: core.EndRetry, storetest.BreakRemove: core.EndDone, storetest.BreakTwin: core.EndFail, storetest.BreakDone: core.EndDone}[how]
	ends := make([]core.End, len(jobs))
	for i, job := range jobs {
		ends[i] = core.End{Ref: storetest.RefOf(job), Outcome: outcome, Errors: storetest.OneError(job, "no")}
	}
	_, err := s.Store.Finish(s.Ctx, ends)
	if !errors.Is(err, core.ErrRow) {
		s.Fatalf("the ends of all: %v, want that a row raises an error", err)
	}
	for _, job := range jobs {
		if !slices.Contains(bad, job.ID) {
			s.Unchanged(s.Get(job.ID))
			if got := s.Get(job.ID); got.Status != core.Running {
				s.Errorf("job %d is %s although the call failed", job.ID, got.Status)
			}
		}
	}
	var alone []int64
	s.Must(apart.Halve(s.Ctx, ends, func(part []core.End) error {
		_, err := s.Store.Finish(s.Ctx, part)
		return err
	}, func(end core.End, _ error) error {
		alone = append(alone, end.ID)
		return nil
	}))
	if slices.Sort(alone); !slices.Equal(alone, bad) {
		s.Errorf("%v raise an error alone, want %v", alone, bad)
	}
	for _, id := range sound {
		if got := s.Get(id); got.Status == core.Running {
			s.Errorf("job %d still runs", id)
		}
	}
	mend()
	for _, end := range ends {
		if slices.Contains(bad, end.ID) {
			if got := s.Finish(end); got.Stale || got.Busy {
				s.Errorf("job %d, once it was mended: %+v", end.ID, got)
			}
		}
	}
}
