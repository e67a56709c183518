package operate

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func retryScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Retry/puts a dead letter back with a fresh start", Run: retryFresh},
		{Name: "Retry/a dead letter whose dedupe key is taken is a conflict with the other job", Run: retryTaken},
		{Name: "Retry/a retried job holds its dedupe key again", Run: retryHolds},
		{Name: "Retry/retry and submit of one key at once leave one live job", Run: retryRace},
		{Name: "Retry/one of many retries succeeds", Run: retryOnce},
		{Name: "Redrive/retries what matches, lowest id first, and reports every conflict", Run: redrive},
		{Name: "Discard/deletes what matches and no more than the limit", Run: discard},
		{Name: "Reschedule/moves run_at to an instant or a delay from the store's now", Run: reschedule},
	}
}

func retryFresh(s *storetest.Stage) {
	job := s.ClaimOne(core.NewJob{Type: "a", MaxAttempts: 2, ExpiresAt: s.Now().Add(time.Hour), Tenant: "t", Payload: []byte(`1e5`)})
	s.FinishAs(core.Scheduled, core.End{Ref: storetest.RefOf(job), Outcome: core.EndSnooze})
	job = s.Claim("a", 1)[0]
	s.FinishAs(core.Failed, core.End{Ref: storetest.RefOf(job), Outcome: core.EndFail, Errors: storetest.OneError(job, "no")})
	s.Advance(2 * time.Hour)
	dead := s.Get(job.ID)
	got, err := s.Store.Retry(s.Ctx, job.ID)
	s.Must(err)
	if got.Status != core.Scheduled || got.Attempts != 0 || got.Snoozes != 0 || !got.ExpiresAt.IsZero() || got.LeaseToken != dead.LeaseToken+1 || !got.FinishedAt.IsZero() {
		s.Fatalf("want a fresh start under the next token, got %+v", got)
	}
	if now := s.Now(); got.RunAt.After(now) || now.Sub(got.RunAt) > storetest.Patience || !got.CreatedAt.Equal(dead.CreatedAt) || got.Tenant != "t" || string(got.Payload) != `1e5` {
		s.Fatalf("want the same job due now, got %+v", got)
	}
	if n, err := s.Store.CountDead(s.Ctx, core.DeadQuery{}); err != nil || n != 0 {
		s.Fatalf("%d dead letters are left, %v", n, err)
	}
	if answer := s.Finish(core.End{Ref: storetest.RefOf(job), Outcome: core.EndDone}); !answer.Stale && !answer.Repeat {
		s.Fatalf("an end of the run before the retry was answered %+v", answer)
	}
	if jobs := s.Claim("a", 1); len(jobs) != 1 || jobs[0].Attempts != 1 {
		s.Fatalf("want it to run as attempt 1, got %+v", jobs)
	}
}

func retryTaken(s *storetest.Stage) {
	for _, status := range []core.Status{core.Scheduled, core.Queued, core.Running} {
		key := "k-" + status.String()
		dead := s.Put(core.Failed, core.NewJob{DedupeKey: key, Tenant: "t"})
		other := s.Put(status, core.NewJob{DedupeKey: key, Tenant: "t"})
		_, err := s.Store.Retry(s.Ctx, dead.ID)
		var conflict *core.ConflictError
		if !errors.As(err, &conflict) || conflict.Other != other.ID || !errors.Is(err, core.ErrConflict) {
			s.Fatalf("want a conflict with the %s job %d, got %v", status, other.ID, err)
		}
		s.Unchanged(dead)
		s.Cancel(other.ID)
		if status == core.Running {
			s.FinishAs(core.Cancelled, core.End{Ref: storetest.RefOf(other), Outcome: core.EndRetry})
		}
		if got, err := s.Store.Retry(s.Ctx, dead.ID); err != nil || got.Status != core.Scheduled {
			s.Fatalf("once the key is free: %v, %v", got.Status, err)
		}
	}
}

func retryHolds(s *storetest.Stage) {
	dead := s.Put(core.Failed, core.NewJob{DedupeKey: "k"})
	_, err := s.Store.Retry(s.Ctx, dead.ID)
	s.Must(err)
	if got := s.Existing(core.NewJob{Type: "b", DedupeKey: "k"}); got.ID != dead.ID {
		s.Fatalf("job %d holds the key, want %d", got.ID, dead.ID)
	}
}

func retryRace(s *storetest.Stage) {
	other := s.Second()
	for round := range 25 {
		key := fmt.Sprint("k", round)
		dead := s.Put(core.Failed, core.NewJob{DedupeKey: key})
		var retried, written atomic.Int64
		var existing atomic.Int64
		s.Together(func() error {
			err := storetest.NotBusy(s.Ctx, func() error { _, err := s.Store.Retry(s.Ctx, dead.ID); return err })
			if err == nil {
				retried.Add(1)
			} else if !errors.Is(err, core.ErrConflict) {
				return err
			}
			return nil
		}, func() error {
			out, err := other.Store.Submit(s.Ctx, []core.NewJob{{Type: dead.Type, DedupeKey: key}})
			if err != nil {
				return err
			}
			if existing.Store(out[0].ID); out[0].Existing == nil {
				written.Add(1)
			}
			return nil
		})
		live := s.List(core.ListQuery{Type: dead.Type, Statuses: []core.Status{core.Scheduled, core.Queued, core.Running}, Limit: 10})
		if retried.Load()+written.Load() != 1 || len(live) != 1 || live[0].ID != existing.Load() {
			s.Fatalf("%d retries and %d submits won, live are %v", retried.Load(), written.Load(), storetest.IdsOf(live))
		}
	}
}

func retryOnce(s *storetest.Stage) {
	other := s.Second()
	for range 12 {
		dead := s.Put(core.Failed, core.NewJob{})
		var won atomic.Int64
		s.Times(8, func(i int) error {
			err := storetest.NotBusy(s.Ctx, func() error {
				_, err := []core.Store{s.Store, other.Store}[i%2].Retry(s.Ctx, dead.ID)
				return err
			})
			if err == nil {
				won.Add(1)
			} else if !storetest.IsConflict(err, core.Scheduled) {
				return err
			}
			return nil
		})
		if got := s.Get(dead.ID); won.Load() != 1 || got.LeaseToken != dead.LeaseToken+1 {
			s.Fatalf("%d of 8 retries were answered, now %+v", won.Load(), got)
		}
	}
}

// failMany creates n dead letters of one type, a second apart.
func failMany(s *storetest.Stage, n int, job core.NewJob) []int64 {
	s.Helper()
	var ids []int64
	for range n {
		ids = append(ids, s.Put(core.Failed, job).ID)
		s.Advance(time.Second)
	}
	return ids
}

func redrive(s *storetest.Stage) {
	tenant := "t"
	ids := failMany(s, 6, core.NewJob{Type: "a", Tenant: tenant})
	others := failMany(s, 2, core.NewJob{Type: "b", Tenant: tenant})
	taken := s.Put(core.Failed, core.NewJob{Type: "a", Tenant: tenant, DedupeKey: "k"})
	holder := s.SubmitOne(core.NewJob{Type: "c", Tenant: tenant, DedupeKey: "k"})
	count := func(q core.DeadQuery, want int) {
		s.Helper()
		if n, err := s.Store.CountDead(s.Ctx, q); err != nil || n != want {
			s.Errorf("%d dead letters match %+v, %v; want %d", n, q, err, want)
		}
	}
	count(core.DeadQuery{Type: "a", Tenant: &tenant}, 7)
	count(core.DeadQuery{Before: s.Get(ids[2]).FinishedAt}, 2)
	count(core.DeadQuery{IDs: []int64{ids[0], others[0], holder, 1 << 60}}, 2)
	got, err := s.Store.Redrive(s.Ctx, core.DeadQuery{Type: "a"}, 4, core.Pace{})
	s.Must(err)
	if redriven := redrivenIDs(got); !slices.Equal(redriven, ids[:4]) {
		s.Fatalf("want the four oldest %v, got %v", ids[:4], redriven)
	}
	got, err = s.Store.Redrive(s.Ctx, core.DeadQuery{Type: "a"}, 100, core.Pace{})
	s.Must(err)
	if len(got) != 3 || got[2].ID != taken.ID {
		s.Fatalf("want the other two and the one whose key is taken, got %+v", got)
	}
	var conflict *core.ConflictError
	if got[0].Err != nil || got[1].Err != nil || !errors.As(got[2].Err, &conflict) || conflict.Other != holder {
		s.Fatalf("want a conflict with job %d for the last alone, got %+v", holder, got)
	}
	for _, id := range ids {
		if job := s.Get(id); job.Status != core.Scheduled || job.Attempts != 0 {
			s.Errorf("want job %d scheduled afresh, got %+v", id, job)
		}
	}
	s.Unchanged(taken)
	count(core.DeadQuery{}, 3)
}

func redrivenIDs(all []core.Redriven) []int64 {
	ids := make([]int64, len(all))
	for i, one := range all {
		ids[i] = one.ID
	}
	return ids
}

func discard(s *storetest.Stage) {
	ids := failMany(s, 5, core.NewJob{Type: "a"})
	other := s.Put(core.Failed, core.NewJob{Type: "b"})
	gone, err := s.Store.Discard(s.Ctx, core.DeadQuery{Type: "a"}, 3)
	if s.Must(err); gone.N != 3 || gone.After != ids[2] || len(gone.Left) != 0 {
		s.Fatalf("discarded %+v, want the first 3", gone)
	}
	gone, err = s.Store.Discard(s.Ctx, core.DeadQuery{Type: "a"}, 100)
	if s.Must(err); gone.N != 2 || gone.After != ids[4] {
		s.Fatalf("discarded %+v, want the other 2", gone)
	}
	for _, id := range ids {
		if _, err := s.Store.Get(s.Ctx, id); !errors.Is(err, core.ErrNotFound) {
			s.Errorf("a discarded job: want ErrNotFound, got %v", err)
		}
	}
	s.Unchanged(other)
	live := s.Put(core.Running, core.NewJob{Type: "a"})
	if gone, err = s.Store.Discard(s.Ctx, core.DeadQuery{IDs: []int64{live.ID}}, 10); err != nil || gone.N != 0 {
		s.Errorf("a running job was discarded as a dead letter: %+v, %v", gone, err)
	}
}

func reschedule(s *storetest.Stage) {
	job := s.Put(core.Scheduled, core.NewJob{})
	at := s.Now().Add(time.Hour).Truncate(time.Microsecond)
	if got, err := s.Store.Reschedule(s.Ctx, job.ID, core.When{At: at}); err != nil || !got.RunAt.Equal(at) || got.LeaseToken != job.LeaseToken {
		s.Fatalf("want run_at %s, got %+v, %v", at, got, err)
	}
	if got := s.Claim(job.Type, 1); len(got) != 0 {
		s.Fatal("claimed before its new time")
	}
	queued := s.Put(core.Queued, core.NewJob{})
	before := s.Now()
	got, err := s.Store.Reschedule(s.Ctx, queued.ID, core.When{Delay: time.Minute})
	s.Must(err)
	if wait := got.RunAt.Sub(before); wait < time.Minute-time.Millisecond || wait > time.Minute+storetest.Patience || got.Status != core.Scheduled {
		s.Fatalf("want it scheduled in a minute, got %+v", got)
	}
	if res := s.Start(storetest.RefOf(queued)); len(res.Jobs) != 0 {
		s.Fatal("the message sent before the reschedule started the job")
	}
	s.Advance(2 * time.Hour)
	for _, id := range []int64{job.ID, queued.ID} {
		if claimed := s.Claim(s.Get(id).Type, 1); len(claimed) != 1 || claimed[0].ID != id {
			s.Errorf("job %d was not claimed at its new time", id)
		}
	}
}
