package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func retryScenarios() []scenario {
	return []scenario{
		{"Retry/puts a dead letter back with a fresh start", retryFresh},
		{"Retry/a dead letter whose dedupe key is taken is a conflict with the other job", retryTaken},
		{"Retry/a retried job holds its dedupe key again", retryHolds},
		{"Retry/retry and submit of one key at once leave one live job", retryRace},
		{"Retry/of many retries one is answered", retryOnce},
		{"Redrive/retries what matches, lowest id first, and reports every conflict", redrive},
		{"Discard/deletes what matches and no more than the limit", discard},
		{"Reschedule/moves run_at to an instant or a delay from the store's now", reschedule},
	}
}

func retryFresh(s *stage) {
	job := s.claimOne(core.NewJob{Type: "a", MaxAttempts: 2, ExpiresAt: s.now().Add(time.Hour), Tenant: "t", Payload: []byte(`1e5`)})
	s.finishAs(core.Scheduled, core.End{Ref: refOf(job), Outcome: core.EndSnooze})
	job = s.claim("a", 1)[0]
	s.finishAs(core.Failed, core.End{Ref: refOf(job), Outcome: core.EndFail, Errors: oneError(job, "no")})
	s.advance(2 * time.Hour)
	dead := s.get(job.ID)
	got, err := s.store.Retry(s.ctx, job.ID)
	s.must(err)
	if got.Status != core.Scheduled || got.Attempts != 0 || got.Snoozes != 0 || !got.ExpiresAt.IsZero() || got.LeaseToken != dead.LeaseToken+1 || !got.FinishedAt.IsZero() {
		s.Fatalf("want a fresh start under the next token, got %+v", got)
	}
	if now := s.now(); got.RunAt.After(now) || now.Sub(got.RunAt) > patience || !got.CreatedAt.Equal(dead.CreatedAt) || got.Tenant != "t" || string(got.Payload) != `1e5` {
		s.Fatalf("want the same job due now, got %+v", got)
	}
	if n, err := s.store.CountDead(s.ctx, core.DeadQuery{}); err != nil || n != 0 {
		s.Fatalf("%d dead letters are left, %v", n, err)
	}
	if answer := s.finish(core.End{Ref: refOf(job), Outcome: core.EndDone}); !answer.Stale && !answer.Repeat {
		s.Fatalf("an end of the run before the retry was answered %+v", answer)
	}
	if jobs := s.claim("a", 1); len(jobs) != 1 || jobs[0].Attempts != 1 {
		s.Fatalf("want it to run as attempt 1, got %+v", jobs)
	}
}

func retryTaken(s *stage) {
	for _, status := range []core.Status{core.Scheduled, core.Queued, core.Running} {
		key := "k-" + status.String()
		dead := s.put(core.Failed, core.NewJob{DedupeKey: key, Tenant: "t"})
		other := s.put(status, core.NewJob{DedupeKey: key, Tenant: "t"})
		_, err := s.store.Retry(s.ctx, dead.ID)
		var conflict *core.ConflictError
		if !errors.As(err, &conflict) || conflict.Other != other.ID || !errors.Is(err, core.ErrConflict) {
			s.Fatalf("want a conflict with the %s job %d, got %v", status, other.ID, err)
		}
		s.unchanged(dead)
		s.cancel(other.ID)
		if status == core.Running {
			s.finishAs(core.Cancelled, core.End{Ref: refOf(other), Outcome: core.EndRetry})
		}
		if got, err := s.store.Retry(s.ctx, dead.ID); err != nil || got.Status != core.Scheduled {
			s.Fatalf("once the key is free: %v, %v", got.Status, err)
		}
	}
}

func retryHolds(s *stage) {
	dead := s.put(core.Failed, core.NewJob{DedupeKey: "k"})
	_, err := s.store.Retry(s.ctx, dead.ID)
	s.must(err)
	if got := s.existing(core.NewJob{Type: "b", DedupeKey: "k"}); got.ID != dead.ID {
		s.Fatalf("job %d holds the key, want %d", got.ID, dead.ID)
	}
}

func retryRace(s *stage) {
	other := s.second()
	for round := range 25 {
		key := fmt.Sprint("k", round)
		dead := s.put(core.Failed, core.NewJob{DedupeKey: key})
		var retried, written atomic.Int64
		var existing atomic.Int64
		s.together(func() error {
			err := notBusy(s.ctx, func() error { _, err := s.store.Retry(s.ctx, dead.ID); return err })
			if err == nil {
				retried.Add(1)
			} else if !errors.Is(err, core.ErrConflict) {
				return err
			}
			return nil
		}, func() error {
			out, err := other.store.Submit(s.ctx, []core.NewJob{{Type: dead.Type, DedupeKey: key}})
			if err != nil {
				return err
			}
			if existing.Store(out[0].ID); out[0].Existing == nil {
				written.Add(1)
			}
			return nil
		})
		live := s.list(core.ListQuery{Type: dead.Type, Statuses: []core.Status{core.Scheduled, core.Queued, core.Running}, Limit: 10})
		if retried.Load()+written.Load() != 1 || len(live) != 1 || live[0].ID != existing.Load() {
			s.Fatalf("%d retries and %d submits won, live are %v", retried.Load(), written.Load(), idsOf(live))
		}
	}
}

func retryOnce(s *stage) {
	other := s.second()
	for range 12 {
		dead := s.put(core.Failed, core.NewJob{})
		var won atomic.Int64
		s.times(8, func(i int) error {
			err := notBusy(s.ctx, func() error {
				_, err := []core.Store{s.store, other.store}[i%2].Retry(s.ctx, dead.ID)
				return err
			})
			if err == nil {
				won.Add(1)
			} else if !isConflict(err, core.Scheduled) {
				return err
			}
			return nil
		})
		if got := s.get(dead.ID); won.Load() != 1 || got.LeaseToken != dead.LeaseToken+1 {
			s.Fatalf("%d of 8 retries were answered, now %+v", won.Load(), got)
		}
	}
}

// failMany makes n dead letters of one type, a second apart.
func (s *stage) failMany(n int, job core.NewJob) []int64 {
	s.Helper()
	var ids []int64
	for range n {
		ids = append(ids, s.put(core.Failed, job).ID)
		s.advance(time.Second)
	}
	return ids
}

func redrive(s *stage) {
	tenant := "t"
	ids := s.failMany(6, core.NewJob{Type: "a", Tenant: tenant})
	others := s.failMany(2, core.NewJob{Type: "b", Tenant: tenant})
	taken := s.put(core.Failed, core.NewJob{Type: "a", Tenant: tenant, DedupeKey: "k"})
	holder := s.submitOne(core.NewJob{Type: "c", Tenant: tenant, DedupeKey: "k"})
	count := func(q core.DeadQuery, want int) {
		s.Helper()
		if n, err := s.store.CountDead(s.ctx, q); err != nil || n != want {
			s.Errorf("%d dead letters match %+v, %v; want %d", n, q, err, want)
		}
	}
	count(core.DeadQuery{Type: "a", Tenant: &tenant}, 7)
	count(core.DeadQuery{Before: s.get(ids[2]).FinishedAt}, 2)
	count(core.DeadQuery{IDs: []int64{ids[0], others[0], holder, 1 << 60}}, 2)
	got, err := s.store.Redrive(s.ctx, core.DeadQuery{Type: "a"}, 4, core.Pace{})
	s.must(err)
	if redriven := redrivenIDs(got); !slices.Equal(redriven, ids[:4]) {
		s.Fatalf("want the four oldest %v, got %v", ids[:4], redriven)
	}
	got, err = s.store.Redrive(s.ctx, core.DeadQuery{Type: "a"}, 100, core.Pace{})
	s.must(err)
	if len(got) != 3 || got[2].ID != taken.ID {
		s.Fatalf("want the other two and the one whose key is taken, got %+v", got)
	}
	var conflict *core.ConflictError
	if got[0].Err != nil || got[1].Err != nil || !errors.As(got[2].Err, &conflict) || conflict.Other != holder {
		s.Fatalf("want a conflict with job %d for the last alone, got %+v", holder, got)
	}
	for _, id := range ids {
		if job := s.get(id); job.Status != core.Scheduled || job.Attempts != 0 {
			s.Errorf("want job %d scheduled afresh, got %+v", id, job)
		}
	}
	s.unchanged(taken)
	count(core.DeadQuery{}, 3)
}

func redrivenIDs(all []core.Redriven) []int64 {
	ids := make([]int64, len(all))
	for i, one := range all {
		ids[i] = one.ID
	}
	return ids
}

func discard(s *stage) {
	ids := s.failMany(5, core.NewJob{Type: "a"})
	other := s.put(core.Failed, core.NewJob{Type: "b"})
	n, err := s.store.Discard(s.ctx, core.DeadQuery{Type: "a"}, 3)
	if s.must(err); n != 3 {
		s.Fatalf("discarded %d, want 3", n)
	}
	n, err = s.store.Discard(s.ctx, core.DeadQuery{Type: "a"}, 100)
	if s.must(err); n != 2 {
		s.Fatalf("discarded %d, want the other 2", n)
	}
	for _, id := range ids {
		if _, err := s.store.Get(s.ctx, id); !errors.Is(err, core.ErrNotFound) {
			s.Errorf("a discarded job: want ErrNotFound, got %v", err)
		}
	}
	s.unchanged(other)
	live := s.put(core.Running, core.NewJob{Type: "a"})
	if n, err = s.store.Discard(s.ctx, core.DeadQuery{IDs: []int64{live.ID}}, 10); err != nil || n != 0 {
		s.Errorf("a running job was discarded as a dead letter: %d, %v", n, err)
	}
}

func reschedule(s *stage) {
	job := s.put(core.Scheduled, core.NewJob{})
	at := s.now().Add(time.Hour).Truncate(time.Microsecond)
	if got, err := s.store.Reschedule(s.ctx, job.ID, core.When{At: at}); err != nil || !got.RunAt.Equal(at) || got.LeaseToken != job.LeaseToken {
		s.Fatalf("want run_at %s, got %+v, %v", at, got, err)
	}
	if got := s.claim(job.Type, 1); len(got) != 0 {
		s.Fatal("claimed before its new time")
	}
	queued := s.put(core.Queued, core.NewJob{})
	before := s.now()
	got, err := s.store.Reschedule(s.ctx, queued.ID, core.When{Delay: time.Minute})
	s.must(err)
	if wait := got.RunAt.Sub(before); wait < time.Minute-time.Millisecond || wait > time.Minute+patience || got.Status != core.Scheduled {
		s.Fatalf("want it scheduled in a minute, got %+v", got)
	}
	if res := s.start(refOf(queued)); len(res.Jobs) != 0 {
		s.Fatal("the message sent before the reschedule started the job")
	}
	s.advance(2 * time.Hour)
	for _, id := range []int64{job.ID, queued.ID} {
		if claimed := s.claim(s.get(id).Type, 1); len(claimed) != 1 || claimed[0].ID != id {
			s.Errorf("job %d was not claimed at its new time", id)
		}
	}
}
