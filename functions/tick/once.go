package tick

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/core/tick"
)

// oncePasses bounds the passes of Once, beside its time.
const oncePasses = 50

// Once does the work that is due now, for hosts that call every second. It makes one pass, and more while the last one
// reports more work, such as jobs of a schedule that are still to be published. No pass begins later than a period after the
// call. It keeps the leases for the next call. The report covers all passes.
func (f *Function) Once(ctx context.Context) (tick.Report, error) {
	began := time.Now()
	sum, err := f.ticker.Tick(ctx)
	for n := 1; err == nil && sum.More && n < oncePasses && time.Since(began) < f.period && ctx.Err() == nil; n++ {
		var next tick.Report
		if next, err = f.ticker.Tick(ctx); err == nil {
			sum = together(sum, next)
		}
	}
	return sum, err
}

// together merges the reports of two passes: what both did, and the state after the second.
func together(a, b tick.Report) tick.Report {
	b.Lost += a.Lost
	b.Expired += a.Expired
	b.Schedules += a.Schedules
	b.Runs += a.Runs
	b.Dispatched += a.Dispatched
	return b
}
