package aws

import (
	"context"
	"time"
)

// BeforeDeadline returns ctx with a deadline earlier by margin, if it has one. Lambda stops a function at its deadline at
// any point, and an answer not sent by then is lost.
func BeforeDeadline(ctx context.Context, margin time.Duration) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, deadline.Add(-margin))
	}
	return context.WithCancel(ctx)
}
