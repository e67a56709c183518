package tick

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/core/tick"
)

// oncePasses bounds the passes of Once, beside its time.
const oncePasses = 50

// Once does what there is to do now, for hosts that call every second: one pass, and further ones while the last says that
// there is more, such as jobs that a schedule has just got and that are to be published. None begins later than a period
// after the call. The leases stay, for the next call. The report is of all passes together.
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

// together is the report of two passes: what both did, and how things stand after the second.
func together(a, b tick.Report) tick.Report {
	b.Lost += a.Lost
	b.Expired += a.Expired
	b.Schedules += a.Schedules
	b.Runs += a.Runs
	b.Dispatched += a.Dispatched
	return b
}
