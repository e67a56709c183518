package storetest

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func cancelScenarios() []scenario {
	return []scenario{
		{"Cancel/a job cancelled before its start never starts", cancelNeverStarts},
		{"Cancel/a queued job cancelled before its start never starts", cancelQueuedNeverStarts},
		{"Cancel/a wanted cancel decides every end but done", cancelDecides},
		{"Cancel/a cancel at the very time of the end is decided once", cancelAtEnd},
		{"Cancel/a wanted cancel outlives heartbeats and the loss of the worker", cancelLost},
		{"Cancel/an unknown id is not found", cancelUnknown},
		{"Cancel/of many cancels of one waiting job one is answered", cancelRace},
	}
}

// cancelRounds is how often cancels and starts meet in the middle of the same ten jobs.
const cancelRounds = 30

// cancelNeverStarts races cancels against claims. A cancel that found the job waiting has the last word.
func cancelNeverStarts(s *stage) {
	counts := map[core.Status]int{}
	for range cancelRounds {
		ids, started := s.submitMany(10, "a"), map[int64]bool{}
		answers := s.cancelAll(ids, func() error {
			for range ids { // one at a time, the earliest first, as the cancels come from the other end
				res, err := s.store.ClaimDue(s.ctx, s.claimRequest(quota("a", 1)))
				if err != nil {
					return err
				}
				for _, job := range res.Jobs {
					started[job.ID] = true
				}
			}
			return nil
		})
		s.judgeCancels(ids, answers, started, counts)
	}
	s.Logf("cancels answered: %v", counts)
}

func cancelQueuedNeverStarts(s *stage) {
	counts := map[core.Status]int{}
	for range cancelRounds {
		queued, started := s.queue(10, "a"), map[int64]bool{}
		answers := s.cancelAll(idsOf(queued), func() error {
			for i := range queued {
				for busy := refsOf(queued[i : i+1]); len(busy) > 0; {
					res, err := s.store.Start(s.ctx, busy, s.claimRequest())
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
		s.judgeCancels(idsOf(queued), answers, started, counts)
		if s.start(refsOf(queued)...).Jobs != nil {
			s.Error("a message of a cancelled or running job started it")
		}
	}
	s.Logf("cancels answered: %v", counts)
}

// cancelAll cancels all ids, the last first, while act runs.
func (s *stage) cancelAll(ids []int64, act func() error) map[int64]core.Job {
	s.Helper()
	answers := map[int64]core.Job{}
	s.together(act, func() error {
		for _, id := range slices.Backward(ids) {
			err := notBusy(s.ctx, func() error {
				job, err := s.store.Cancel(s.ctx, id)
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

func (s *stage) judgeCancels(ids []int64, answers map[int64]core.Job, started map[int64]bool, counts map[core.Status]int) {
	s.Helper()
	for _, id := range ids {
		answer, got := answers[id], s.get(id)
		counts[answer.Status]++
		ok := answer.Status == core.Cancelled && !started[id] && got.Status == core.Cancelled && got.StartedAt.IsZero() && got.Reason == "cancelled" ||
			answer.Status == core.Running && started[id] && got.Status == core.Running && got.CancelWanted
		if !ok {
			s.Errorf("job %d: cancel answered %s, started %t, now %s", id, answer.Status, started[id], got.Status)
		}
	}
}

func cancelDecides(s *stage) {
	for _, outcome := range []core.Outcome{core.EndDone, core.EndFail, core.EndRetry, core.EndSnooze, core.EndHandBack, core.EndLoss} {
		job := s.put(core.Running, core.NewJob{})
		for range 2 {
			if got := s.cancel(job.ID); got.Status != core.Running || !got.CancelWanted || got.LeaseToken != job.LeaseToken {
				s.Errorf("want it running under the same token and cancel wanted, got %+v", got)
			}
		}
		want := core.Cancelled
		if outcome == core.EndDone {
			want = core.Done
		}
		end := core.End{Ref: refOf(job), Outcome: outcome, Errors: oneError(job, "no")}
		s.finishAs(want, end)
		row := s.get(job.ID)
		if row.Status != want || row.FinishedAt.IsZero() || want == core.Cancelled && row.Reason != "cancelled" {
			s.Errorf("outcome %d: %+v", outcome, row)
		}
		if got := s.finish(end); got != (core.EndAnswer{Status: want, Repeat: true}) {
			s.Errorf("outcome %d, repeated: %+v", outcome, got)
		}
		s.unchanged(row)
		if n, err := s.store.CountDead(s.ctx, core.DeadQuery{Type: job.Type}); err != nil || n != 0 {
			s.Errorf("outcome %d: %d dead letters, %v", outcome, n, err)
		}
	}
}

func cancelAtEnd(s *stage) {
	s.submitMany(200, "a")
	jobs := s.claim("a", 200)
	var mu sync.Mutex
	ends := map[int64]core.EndAnswer{}
	cancels := map[int64]error{}
	s.together(func() error {
		for i, job := range jobs {
			var answer core.EndAnswer
			end := core.End{Ref: refOf(job), Outcome: core.Outcome(1 + i%5), Wait: time.Hour}
			if err := notBusyEnd(s.store, s, end, &answer); err != nil {
				return err
			}
			mu.Lock()
			ends[job.ID] = answer
			mu.Unlock()
		}
		return nil
	}, func() error {
		for _, job := range slices.Backward(jobs) { // so that they meet in the middle
			err := notBusy(s.ctx, func() error { _, err := s.store.Cancel(s.ctx, job.ID); return err })
			if err != nil && !errors.Is(err, core.ErrConflict) {
				return err
			}
			cancels[job.ID] = err
		}
		return nil
	})
	for i, job := range jobs {
		got, outcome, accepted := s.get(job.ID), core.Outcome(1+i%5), cancels[job.ID] == nil
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

func cancelLost(s *stage) {
	job := s.put(core.Running, core.NewJob{})
	s.cancel(job.ID)
	if got := s.beat(refOf(job)); !got.CancelWanted || got.Stale {
		s.Errorf("want the heartbeat to tell of the cancel, got %+v", got)
	}
	s.advance(lease + time.Second)
	lost := s.lost()
	if len(lost) != 1 || !lost[0].CancelWanted {
		s.Fatalf("want one lost job with cancel wanted, got %+v", lost)
	}
	s.finishAs(core.Cancelled, reapEnd(lost[0]))
}

func cancelUnknown(s *stage) {
	for _, id := range []int64{0, -1, 1, 1 << 60} {
		if _, err := s.store.Cancel(s.ctx, id); !errors.Is(err, core.ErrNotFound) {
			s.Errorf("Cancel of %d: want ErrNotFound, got %v", id, err)
		}
		if _, err := s.store.Reschedule(s.ctx, id, core.When{}); !errors.Is(err, core.ErrNotFound) {
			s.Errorf("Reschedule of %d: want ErrNotFound, got %v", id, err)
		}
		if _, err := s.store.Retry(s.ctx, id); !errors.Is(err, core.ErrNotFound) {
			s.Errorf("Retry of %d: want ErrNotFound, got %v", id, err)
		}
		if _, err := s.store.Get(s.ctx, id); !errors.Is(err, core.ErrNotFound) {
			s.Errorf("Get of %d: want ErrNotFound, got %v", id, err)
		}
	}
}

func cancelRace(s *stage) {
	other := s.second()
	for range 15 {
		id := s.submitOne(core.NewJob{Type: "a"})
		errs := make([]error, 8)
		s.times(len(errs), func(i int) error {
			errs[i] = notBusy(s.ctx, func() error {
				_, err := []core.Store{s.store, other.store}[i%2].Cancel(s.ctx, id)
				return err
			})
			return nil
		})
		answered := 0
		for _, err := range errs {
			switch {
			case err == nil:
				answered++
			case !isConflict(err, core.Cancelled):
				s.Errorf("want a conflict with a cancelled job, got %v", err)
			}
		}
		if answered != 1 {
			s.Errorf("%d of 8 cancels were answered", answered)
		}
	}
}
