package tick

import "context"

// Pass does what there is to do now and ends: one invocation in economy mode. It gives the leases up and closes the
// topics. A function makes one Run or Pass.
func (f *Function) Pass(ctx context.Context) error {
	defer f.close(context.WithoutCancel(ctx))
	f.ctx = ctx
	return f.ticker.Pass(ctx)
}
