package storetest

import (
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Lost runs a tick and returns the lost jobs.
func (s *Stage) Lost() []core.Job {
	s.Helper()
	req := TickRequest("holder-1")
	req.Dispatch = false
	return s.Tick(req).Lost
}

// ReapEnd returns the reaper's end for a job with attempts left.
func ReapEnd(job core.Job) core.End {
	return core.End{Ref: RefOf(job), Outcome: core.EndRetry, Wait: time.Minute, Errors: OneError(job, "lost"), Lost: true}
}

// Queue submits and dispatches n jobs of one type.
func (s *Stage) Queue(n int, typ string) []core.Job {
	s.Helper()
	s.SubmitMany(n, typ)
	jobs := s.Dispatch(typ, n)
	if len(jobs) != n {
		s.Fatalf("%d of %d jobs were dispatched", len(jobs), n)
	}
	return jobs
}

const Day = 24 * time.Hour

func (s *Stage) Maintain(req core.MaintainRequest) core.MaintainResult {
	s.Helper()
	res, err := s.Store.Maintain(s.Ctx, req)
	s.Must(err)
	return res
}

// NotBusyEnd finishes an attempt, and repeats while the row is busy.
func NotBusyEnd(store core.Store, s *Stage, end core.End, answer *core.EndAnswer) error {
	return NotBusy(s.Ctx, func() error {
		got, err := store.Finish(s.Ctx, []core.End{end})
		if err != nil {
			return err
		}
		if *answer = got[0]; answer.Busy {
			return core.ErrBusy
		}
		return nil
	})
}

// Republished checks that exactly these jobs are published again with their current tokens.
func (s *Stage) Republished(res core.TickResult, want []core.Job) {
	s.Helper()
	tokens, held := map[int64]int64{}, s.Tokens(res.Held)
	for _, job := range want {
		tokens[job.ID] = job.LeaseToken
	}
	for _, job := range res.Dispatched {
		if token, ok := tokens[job.ID]; !ok || token != job.LeaseToken {
			s.Errorf("job %d was published under token %d; want %d, %t", job.ID, job.LeaseToken, token, ok)
		}
		if row := s.Get(job.ID); row.Status != core.Queued || row.LeaseToken != job.LeaseToken || row.DispatchFence != held[row.Bucket] || row.Attempts != 0 {
			s.Errorf("the row of job %d is not queued under the new fence %d: %+v", job.ID, held[row.Bucket], row)
		}
		delete(tokens, job.ID)
	}
	if len(tokens) != 0 {
		s.Errorf("%d of %d jobs were not published again: %v", len(tokens), len(want), tokens)
	}
}

// Tokens returns the tokens of the held buckets, and checks that no bucket is listed twice.
func (s *Stage) Tokens(held []core.Held) map[int]int64 {
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

func (s *Stage) ClaimFair(q core.Quota) ([]core.Job, core.Taken) {
	s.Helper()
	res := s.ClaimDue(q)
	return res.Jobs, res.Taken[0]
}

func (s *Stage) TickFair(q core.Quota) ([]core.Job, core.Taken) {
	s.Helper()
	res := s.Tick(TickRequest("holder-1", q))
	if len(res.Taken) != 1 {
		s.Fatalf("Tick answered %d of 1 quota", len(res.Taken))
	}
	return res.Dispatched, res.Taken[0]
}
