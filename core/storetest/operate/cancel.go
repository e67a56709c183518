package operate

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func cancelScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Cancel/a job cancelled before its start never starts", Run: cancelNeverStarts},
		{Name: "Cancel/a queued job cancelled before its start never starts", Run: cancelQueuedNeverStarts},
		{Name: "Cancel/a wanted cancel decides every end but done", Run: cancelDecides},
		{Name: "Cancel/a cancel at the very time of the end is decided once", Run: cancelAtEnd},
		{Name: "Cancel/a wanted cancel outlives heartbeats and the loss of the worker", Run: cancelLost},
		{Name: "Cancel/an unknown id is not found", Run: cancelUnknown},
		{Name: "Cancel/many cancels of one waiting job cancel it once", Run: cancelRace},
	}
}

// cancelRounds is the number of rounds in which cancels and starts race for the same ten jobs.
const cancelRounds = 30

// cancelNeverStarts races cancels against claims. If a cancel finds the job waiting, the job never starts.
func cancelNeverStarts(s *storetest.Stage) {
	counts := map[core.Status]int{}
	for range cancelRounds {
		ids, started := s.SubmitMany(10, "a"), map[int64]bool{}
		answers := cancelAll(s, ids, func() error {
			for range ids { // one at a time, earliest first; the cancels come from the other end
				res, err := s.Store.ClaimDue(s.Ctx, s.ClaimRequest(storetest.Quota("a", 1)))
				if err != nil {
					return err
				}
				for _, job := range res.Jobs {
					started[job.ID] = true
				}
			}
			return nil
		})
		judgeCancels(s, ids, answers, started, counts)
	}
	s.Logf("cancels answered: %v", counts)
}

func cancelQueuedNeverStarts(s *storetest.Stage) {
	counts := map[core.Status]int{}
	for range cancelRounds {
		queued, started := s.Queue(10, "a"), map[int64]bool{}
		answers := cancelAll(s, storetest.IdsOf(queued), func() error {
			for i := range queued {
				for busy := storetest.RefsOf(queued[i : i+1]); len(busy) > 0; {
					res, err := s.Store.Start(s.Ctx, busy, s.ClaimRequest())
					if err != nil {
						return err
					}
					for _, job := range res.Jobs {
						started[job.ID] = true
					}
					busy = res.Busy
				}
			}
			return nil
		})
		judgeCancels(s, storetest.IdsOf(queued), answers, started, counts)
		if s.Start(storetest.RefsOf(queued)...).Jobs != nil {
			s.Error("a message of a cancelled or running job started it")
		}
	}
	s.Logf("cancels answered: %v", counts)
}

// cancelAll cancels all ids, last first, while act runs.
func cancelAll(s *storetest.Stage, ids []int64, act func() error) map[int64]core.Job {
	s.Helper()
	answers := map[int64]core.Job{}
	s.Together(act, func() error {
		for _, id := range slices.Backward(ids) {
			err := storetest.NotBusy(s.Ctx, func() error {
				job, err := s.Store.Cancel(s.Ctx, id)
				answers[id] = job
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return answers
}

func judgeCancels(s *storetest.Stage, ids []int64, answers map[int64]core.Job, started map[int64]bool, counts map[core.Status]int) {
	s.Helper()
	for _, id := range ids {
		answer, got := answers[id], s.Get(id)
		counts[answer.Status]++
		ok := answer.Status == core.Cancelled && !started[id] && got.Status == core.Cancelled && got.StartedAt.IsZero() && got.Reason == "cancelled" ||
			answer.Status == core.Running && started[id] && got.Status == core.Running && got.CancelWanted
		if !ok {
			s.Errorf("job %d: cancel answered %s, started %t, now %s", id, answer.Status, started[id], got.Status)
		}
	}
}

func cancelDecides(s *storetest.Stage) {
	for _, outcome := range []core.Outcome{core.EndDone, core.EndFail, core.EndRetry, core.EndSnooze, core.EndHandBack, core.EndLoss} {
		job := s.Put(core.Running, core.NewJob{})
		for range 2 {
			if got := s.Cancel(job.ID); got.Status != core.Running || !got.CancelWanted || got.LeaseToken != job.LeaseToken {
				s.Errorf("want it running under the same token and cancel wanted, got %+v", got)
			}
		}
		want := core.Cancelled
		if outcome == core.EndDone {
			want = core.Done
		}
		end := core.End{Ref: storetest.RefOf(job), Outcome: outcome, Errors: storetest.OneError(job, "no")}
		s.FinishAs(want, end)
		row := s.Get(job.ID)
		if row.Status != want || row.FinishedAt.IsZero() || want == core.Cancelled && row.Reason != "cancelled" {
			s.Errorf("outcome %d: %+v", outcome, row)
		}
		if got := s.Finish(end); got != (core.EndAnswer{Status: want, Repeat: true}) {
			s.Errorf("outcome %d, repeated: %+v", outcome, got)
		}
		s.Unchanged(row)
		if n, err := s.Store.CountDead(s.Ctx, core.DeadQuery{Type: job.Type}); err != nil || n != 0 {
			s.Errorf("outcome %d: %d dead letters, %v", outcome, n, err)
		}
	}
}

func cancelAtEnd(s *storetest.Stage) {
	s.SubmitMany(200, "a")
	jobs := s.Claim("a", 200)
	var mu sync.Mutex
	ends := map[int64]core.EndAnswer{}
	cancels := map[int64]error{}
	s.Together(func() error {
		for i, job := range jobs {
			var answer core.EndAnswer
			end := core.End{Ref: storetest.RefOf(job), Outcome: core.Outcome(1 + i%5), Wait: time.Hour}
			if err := storetest.NotBusyEnd(s.Store, s, end, &answer); err != nil {
				return err
			}
			mu.Lock()
			ends[job.ID] = answer
			mu.Unlock()
		}
		return nil
	}, func() error {
		for _, job := range slices.Backward(jobs) { // so that they meet in the middle
			err := storetest.NotBusy(s.Ctx, func() error { _, err := s.Store.Cancel(s.Ctx, job.ID); return err })
			if err != nil && !errors.Is(err, core.ErrConflict) {
				return err
			}
			cancels[job.ID] = err
		}
		return nil
	})
	for i, job := range jobs {
		got, outcome, accepted := s.Get(job.ID), core.Outcome(1+i%5), cancels[job.ID] == nil
		want := core.Cancelled
		switch {
		case outcome == core.EndDone:
			want = core.Done
		case outcome == core.EndFail && !accepted:
			want = core.Failed
		}
		if got.Status != want || !accepted && outcome > core.EndFail {
			s.Errorf("job %d, outcome %d, cancel %v, end %+v: now %s, want %s", job.ID, outcome, cancels[job.ID], ends[job.ID], got.Status, want)
		}
	}
}

func cancelLost(s *storetest.Stage) {
	job := s.Put(core.Running, core.NewJob{})
	s.Cancel(job.ID)
	if got := s.Beat(storetest.RefOf(job)); !got.CancelWanted || got.Stale {
		s.Errorf("want the heartbeat to tell of the cancel, got %+v", got)
	}
	s.Advance(storetest.Lease + time.Second)
	lost := s.Lost()
	if len(lost) != 1 || !lost[0].CancelWanted {
		s.Fatalf("want one lost job with cancel wanted, got %+v", lost)
	}
	s.FinishAs(core.Cancelled, storetest.ReapEnd(lost[0]))
}

func cancelUnknown(s *storetest.Stage) {
	for _, id := range []int64{0, -1, 1, 1 << 60} {
		if _, err := s.Store.Cancel(s.Ctx, id); !errors.Is(err, core.ErrNotFound) {
			s.Errorf("Cancel of %d: want ErrNotFound, got %v", id, err)
		}
		if _, err := s.Store.Reschedule(s.Ctx, id, core.When{}); !errors.Is(err, core.ErrNotFound) {
			s.Errorf("Reschedule of %d: want ErrNotFound, got %v", id, err)
		}
		if _, err := s.Store.Retry(s.Ctx, id); !errors.Is(err, core.ErrNotFound) {
			s.Errorf("Retry of %d: want ErrNotFound, got %v", id, err)
		}
		if _, err := s.Store.Get(s.Ctx, id); !errors.Is(err, core.ErrNotFound) {
			s.Errorf("Get of %d: want ErrNotFound, got %v", id, err)
		}
	}
}

func cancelRace(s *storetest.Stage) {
	other := s.Second()
	for range 15 {
		id := s.SubmitOne(core.NewJob{Type: "a"})
		errs := make([]error, 8)
		s.Times(len(errs), func(i int) error {
			errs[i] = storetest.NotBusy(s.Ctx, func() error {
				_, err := []core.Store{s.Store, other.Store}[i%2].Cancel(s.Ctx, id)
				return err
			})
			return nil
		})
		answered := 0
		for _, err := range errs {
			switch {
			case err == nil:
				answered++
			case !storetest.IsConflict(err, core.Cancelled):
				s.Errorf("want a conflict with a cancelled job, got %v", err)
			}
		}
		if answered != 1 {
			s.Errorf("%d of 8 cancels were answered", answered)
		}
	}
}
