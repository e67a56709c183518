package host

import (
	"context"
	"net"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-dev/belfry/functions/boot"
)

// Health is where and what a process answers to whoever asks whether it makes progress.
type Health struct {
	Listener net.Listener // nil means that nobody asks. Run closes it
	Answer   boot.HealthAnswer
}

// Run runs the roles of a process that runs all the time, until ctx ends or one of them fails, which stops the others. It
// keeps Types fresh, wakes the tick and serves the health meanwhile.
func (h *Host) Run(ctx context.Context, health Health, roles ...func(ctx context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, role := range roles {
		group.Go(func() error { return role(ctx) })
	}
	group.Go(func() error { h.Types.Run(ctx); return nil })
	group.Go(func() error { h.Waker.Run(ctx); return nil })
	if health.Listener != nil {
		group.Go(func() error { return boot.ServeHealth(ctx, health.Listener, health.Answer, h.Log) })
	}
	return group.Wait()
}
