package tick

import (
	"time"

	"github.com/belfry-dev/belfry/core"
)

// maxDueIn bounds Report.DueIn.
const maxDueIn = time.Hour

// dueIn is the time until the next job or schedule is due.
func dueIn(res core.TickResult) time.Duration {
	next := min(maxDueIn, res.ScheduleIn)
	for _, lane := range res.Waiting {
		next = min(next, lane.DueIn)
	}
	return next
}

// leavesIdle reports whether Run may end after this pass. One that holds no bucket has found another scheduler at work.
// While jobs are queued Run goes on: their messages may have to be published again.
func (t *Ticker) leavesIdle(report *Report, ran time.Duration) bool {
	if t.opts.LeaveIdle == 0 || ran < t.opts.LeaveAfter {
		return false
	}
	if report.Held == 0 {
		return true
	}
	if !report.idle() || report.Queued > 0 || report.DueIn <= t.opts.LeaveIdle {
		return false
	}
	t.dueIn = report.DueIn
	return true
}

// DueIn is the time until the next job or schedule was due when Run or Pass left because nothing was to do; zero where it
// left for another reason. Call it after Run or Pass.
func (t *Ticker) DueIn() time.Duration { return t.dueIn }
