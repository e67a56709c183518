package core

import (
	"context"
	"fmt"
)

// reap ends the attempts whose worker's lease has passed. Each counts as an attempt, crash or not: the job is
// rescheduled by its back-off or, its attempts used up, becomes a dead letter. The write applies only while
// the lease is still past, so a worker that was merely slow and finishes first wins.
//
// A full page is followed by the next one, by id, whatever became of this one: rows that cannot be ended now
// (locked by someone, damaged) keep nobody behind them waiting. After a short page the round begins anew.
func (t *Ticker) reap(ctx context.Context, res TickResult, report *TickReport) (more bool, err error) {
	if len(res.Lost) < t.opts.ReapLimit {
		t.reapAfter = 0
	} else {
		t.reapAfter, more = res.Lost[len(res.Lost)-1].ID, true
	}
	if len(res.Lost) == 0 {
		return more, nil
	}
	ends := make([]End, len(res.Lost))
	for i := range res.Lost {
		ends[i] = DecideLost(&res.Lost[i], res.Now, t.opts.Chance())
	}
	answers, err := t.store.Finish(ctx, ends)
	if err != nil {
		return more, fmt.Errorf("tick: end lost attempts: %w", err)
	}
	t.rollups.lost(res.Lost, ends, answers, res.Now)
	for _, a := range answers {
		if !a.Stale && !a.Busy {
			report.Lost++
		}
	}
	if report.Lost > 0 {
		t.event(TickEvent{Kind: JobsLost, Count: report.Lost})
	}
	return more, nil
}
