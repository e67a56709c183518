package aws

import (
	"context"
	"time"
)

// BeforeDeadline is ctx, ending a margin before its deadline, if it has one: Lambda stops a function at its deadline
// wherever it is, and what was not said by then is lost.
func BeforeDeadline(ctx context.Context, margin time.Duration) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, deadline.Add(-margin))
	}
	return context.WithCancel(ctx)
}
