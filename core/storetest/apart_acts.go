package storetest

import (
	"errors"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func apartClaim(s *stage, how Break) {
	sound, bad, mend := s.broken(how, core.NewJob{}, nil)
	s.same("claimed", s.claimDue(both(100)...).Jobs, sound)
	s.same("claimed again", s.claimDue(both(100)...).Jobs, nil)
	if how == BreakIgnore && len(s.apart()) == 0 {
		return // this store sees that nothing was changed, and no more
	}
	s.named(bad, "claim")
	s.advance(core.ApartFirst + time.Second)
	s.same("claimed after a while", s.claimDue(both(100)...).Jobs, nil)
	if apart := s.apart(); len(apart) != len(bad) || apart[0].Tries != 2 {
		s.Errorf("after a while %+v are apart", apart)
	}
	mend()
	s.advance(core.ApartLongest)
	s.same("claimed when they were mended", s.claimDue(both(100)...).Jobs, bad)
}

func (s *stage) apart() []core.RowFault {
	s.Helper()
	apart, err := s.store.Apart(s.ctx, 100)
	s.must(err)
	return apart
}

func apartClaimTenants(s *stage, how Break) {
	sound, bad, _ := s.broken(how, core.NewJob{Tenant: "acme"}, nil)
	other := s.submitOne(core.NewJob{Type: "bad", Tenant: "other"})
	if how == BreakPayload {
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
		got = append(got, s.claimDue(quotas...).Jobs...)
	}
	s.same("claimed", got, sound)
	s.named(bad, "claim")
}

// apartRefused: jobs that have expired are ended by the claim that meets them, one of them cannot be.
func apartRefused(s *stage, how Break) {
	sound, bad, mend := s.broken(how, core.NewJob{MaxAttempts: 5}, func(ids []int64) {
		for _, id := range ids {
			if !s.db.Damage(s.T, AttemptsAtMax, id) {
				s.Skip("this schema keeps attempts below max_attempts")
			}
		}
	})
	s.same("claimed", s.claimDue(both(100)...).Jobs, nil)
	for _, id := range sound {
		if got := s.get(id); got.Status != core.Failed {
			s.Errorf("job %d is %s, want failed", id, got.Status)
		}
	}
	s.named(bad, "end")
	mend()
	s.advance(core.ApartLongest)
	s.same("claimed later", s.claimDue(both(100)...).Jobs, nil)
	for _, id := range bad {
		if got := s.get(id); got.Status != core.Failed {
			s.Errorf("once it was mended job %d is %s, want failed", id, got.Status)
		}
	}
}

func (s *stage) queueBoth() func([]int64) {
	return func([]int64) { s.tick(tickRequest("holder-1", both(100)...)) }
}

func apartStart(s *stage, how Break) {
	var refs []core.Ref
	sound, bad, mend := s.broken(how, core.NewJob{}, func([]int64) {
		refs = refsOf(s.tick(tickRequest("holder-1", both(100)...)).Dispatched)
	})
	s.same("started", s.start(refs...).Jobs, sound)
	if how == BreakIgnore && len(s.apart()) == 0 {
		return
	}
	s.named(bad, "start")
	mend()
	s.advance(core.ApartLongest)
	again := s.tick(tickRequest("holder-1")).Dispatched
	s.same("published when they were mended", again, bad)
	s.same("started when they were mended", s.start(refsOf(again)...).Jobs, bad)
}

func apartBeat(s *stage, how Break) {
	var refs []core.Ref
	_, bad, mend := s.broken(how, core.NewJob{}, func([]int64) { refs = refsOf(s.claimDue(both(100)...).Jobs) })
	s.advance(lease / 2)
	want := s.now().Add(lease)
	for range 2 {
		beats, err := s.store.Heartbeat(s.ctx, refs, lease)
		s.must(err)
		for i, beat := range beats {
			busy := slices.Contains(bad, refs[i].ID)
			if beat != (core.Beat{Busy: busy}) || !busy && s.get(refs[i].ID).LeaseUntil.Before(want) {
				s.Errorf("job %d, bad %t: %+v", refs[i].ID, busy, beat)
			}
		}
	}
	s.named(bad, "heartbeat")
	mend()
	for _, ref := range refs {
		if got := s.beat(ref); got != (core.Beat{}) {
			s.Errorf("job %d, once it was mended: %+v", ref.ID, got)
		}
	}
}

func apartDispatch(s *stage, how Break) {
	sound, bad, mend := s.broken(how, core.NewJob{}, nil)
	got := s.tick(tickRequest("holder-1", both(100)...))
	if how == BreakPayload && len(got.Dispatched) == len(sound)+len(bad) {
		return // this store dispatches without reading payloads
	}
	s.same("dispatched", got.Dispatched, sound)
	if how == BreakIgnore && len(s.apart()) == 0 {
		return
	}
	if next := s.tick(withSchedules("holder-1")); !next.Untold || len(next.Held) != core.Buckets {
		s.Errorf("the tick does not know that rows were set apart: %+v", next)
	}
	s.named(bad, "dispatch")
	mend()
	s.advance(core.ApartLongest)
	s.tick(tickRequest("holder-1")) // publishes the others again
	s.same("dispatched when they were mended", s.tick(tickRequest("holder-1", both(100)...)).Dispatched, bad)
}

func withSchedules(holder string) core.TickRequest {
	req := tickRequest(holder)
	req.ScheduleLimit = 100
	return req
}

func apartRepublish(s *stage, how Break) {
	sound, bad, mend := s.broken(how, core.NewJob{}, s.queueBoth())
	s.advance(dispatchLease + time.Second)
	got := s.tick(tickRequest("holder-1")).Dispatched
	if how == BreakPayload && len(got) == len(sound)+len(bad) {
		return
	}
	s.same("published again", got, sound)
	s.named(bad, "publish")
	mend()
	s.advance(core.ApartLongest)
	got = s.tick(tickRequest("holder-1")).Dispatched
	s.same("published when they were mended", slices.DeleteFunc(got, func(j core.Job) bool { return slices.Contains(sound, j.ID) }), bad)
}

func apartRecall(s *stage, how Break) {
	sound, bad, _ := s.broken(how, core.NewJob{}, s.queueBoth())
	s.advance(dispatchLease + time.Second)
	req := tickRequest("holder-1")
	req.Dispatch, req.Recall = false, true
	s.tick(req)
	for _, id := range sound {
		if got := s.get(id); got.Status != core.Scheduled {
			s.Errorf("job %d is %s, want scheduled", id, got.Status)
		}
	}
	if how == BreakPayload && len(s.apart()) == 0 {
		return
	}
	s.named(bad, "publish")
}

func apartExpire(s *stage, how Break) {
	sound, bad, mend := s.broken(how, core.NewJob{Delay: time.Hour, ExpiresAt: s.now().Add(2 * time.Hour)}, nil)
	s.advance(3 * time.Hour)
	if got := s.tick(tickRequest("holder-1")).Expired; got != len(sound) {
		s.Errorf("%d jobs expired, want %d", got, len(sound))
	}
	for _, id := range sound {
		if got := s.get(id); got.Status != core.Cancelled || got.Reason != "expired" {
			s.Errorf("job %d is %s", id, got.Status)
		}
	}
	s.named(bad, "expire")
	mend()
	s.advance(core.ApartLongest)
	if got := s.tick(tickRequest("holder-1")).Expired; got != len(bad) {
		s.Errorf("%d jobs expired once they were mended, want %d", got, len(bad))
	}
}

func apartLost(s *stage, how Break) {
	sound, bad, _ := s.broken(how, core.NewJob{}, func([]int64) { s.claimDue(both(100)...) })
	s.advance(lease + time.Second)
	lost := s.lost()
	if len(lost) == len(sound)+len(bad) {
		return // to list them raises no error
	}
	s.same("lost", lost, sound)
	s.named(bad, "reap")
}

// apartFinish: who ends many at once finds the row by halves.
func apartFinish(s *stage, how Break) {
	var jobs []core.Job
	sound, bad, mend := s.broken(how, core.NewJob{}, func([]int64) { jobs = s.claimDue(both(100)...).Jobs })
	outcome := map[Break]core.Outcome{BreakPayload: core.EndDone, BreakChange: core.EndRetry, BreakRemove: core.EndDone, BreakTwin: core.EndFail, BreakDone: core.EndDone}[how]
	ends := make([]core.End, len(jobs))
	for i, job := range jobs {
		ends[i] = core.End{Ref: refOf(job), Outcome: outcome, Errors: oneError(job, "no")}
	}
	_, err := s.store.Finish(s.ctx, ends)
	if !errors.Is(err, core.ErrRow) {
		s.Fatalf("the ends of all: %v, want that a row raises an error", err)
	}
	for _, job := range jobs {
		if !slices.Contains(bad, job.ID) {
			s.unchanged(s.get(job.ID))
			if got := s.get(job.ID); got.Status != core.Running {
				s.Errorf("job %d is %s although the call failed", job.ID, got.Status)
			}
		}
	}
	var alone []int64
	s.must(core.Halve(s.ctx, ends, func(part []core.End) error {
		_, err := s.store.Finish(s.ctx, part)
		return err
	}, func(end core.End, _ error) error {
		alone = append(alone, end.ID)
		return nil
	}))
	if slices.Sort(alone); !slices.Equal(alone, bad) {
		s.Errorf("%v raise an error alone, want %v", alone, bad)
	}
	for _, id := range sound {
		if got := s.get(id); got.Status == core.Running {
			s.Errorf("job %d still runs", id)
		}
	}
	mend()
	for _, end := range ends {
		if slices.Contains(bad, end.ID) {
			if got := s.finish(end); got.Stale || got.Busy {
				s.Errorf("job %d, once it was mended: %+v", end.ID, got)
			}
		}
	}
}
