package tick

import (
	"time"

	"github.com/belfry-dev/belfry/core"
)

// maxDueIn bounds Report.DueIn.
const maxDueIn = time.Hour

// dueIn returns the time until the next job or schedule is due.
func dueIn(res core.TickResult) time.Duration {
	next := min(maxDueIn, res.ScheduleIn)
	for _, lane := range res.Waiting {
		next = min(next, lane.DueIn)
	}
	return next
}

// leavesIdle reports whether Run may end after this pass. A pass without buckets means that another scheduler is active.
// While jobs are queued Run continues, because their messages may have to be published again.
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

// DueIn returns the time until the next job or schedule is due, if Run or Pass ended because there was nothing to do, or
// zero if it ended for another reason. Call it after Run or Pass.
func (t *Ticker) DueIn() time.Duration { return t.dueIn }
