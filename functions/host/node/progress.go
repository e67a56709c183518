package node

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// pulse is when something last showed that it makes progress.
type pulse struct{ last atomic.Pointer[time.Time] }

func newPulse() *pulse {
	p := &pulse{}
	p.beat()
	return p
}

func (p *pulse) beat() {
	now := time.Now()
	p.last.Store(&now)
}

// silent is how long ago that was; at first, how long ago the pulse was made.
func (p *pulse) silent() time.Duration { return time.Since(*p.last.Load()) }

// watchedStore notes when a direct worker's claims are answered.
type watchedStore struct {
	core.WorkStore
	answered *pulse
}

func (s watchedStore) ClaimDue(ctx context.Context, req core.ClaimRequest) (core.ClaimResult, error) {
	res, err := s.WorkStore.ClaimDue(ctx, req)
	if err == nil {
		s.answered.beat()
	}
	return res, err
}

func (s watchedStore) Waiting(ctx context.Context) ([]core.Lane, error) {
	lanes, err := s.WorkStore.Waiting(ctx)
	if err == nil {
		s.answered.beat()
	}
	return lanes, err
}
