package gcp

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// LimitedStore is a store whose jobs may take no longer than their host can wait: an attempt that needs more ends as
// timed out, counted and recorded, instead of beginning again and again.
type LimitedStore struct {
	core.WorkStore
	Most    time.Duration // of an attempt
	Timeout time.Duration // of an attempt whose job names none
}

// Start starts rows, and shortens what their attempts may take.
func (s LimitedStore) Start(ctx context.Context, refs []core.Ref, req core.ClaimRequest) (core.StartResult, error) {
	res, err := s.WorkStore.Start(ctx, refs, req)
	s.limit(res.Jobs)
	return res, err
}

// ReadClaim reads what a start whose answer was lost has started.
func (s LimitedStore) ReadClaim(ctx context.Context, claimID int64) ([]core.Job, error) {
	jobs, err := s.WorkStore.ReadClaim(ctx, claimID)
	s.limit(jobs)
	return jobs, err
}

func (s LimitedStore) limit(jobs []core.Job) {
	for i := range jobs {
		if jobs[i].Timeout <= 0 {
			jobs[i].Timeout = s.Timeout
		}
		jobs[i].Timeout = min(jobs[i].Timeout, s.Most)
	}
}
