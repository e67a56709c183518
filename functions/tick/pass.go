package tick

import "context"

// Pass does the work that is due now and ends: one invocation in economy mode. It releases the leases and closes the topics.
// Call Run or Pass once per Function.
func (f *Function) Pass(ctx context.Context) error {
	defer f.close(context.WithoutCancel(ctx))
	f.ctx = ctx
	return f.ticker.Pass(ctx)
}
