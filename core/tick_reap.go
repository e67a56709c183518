package core

import (
	"context"
	"fmt"
)

// reap ends the attempts whose worker's lease has passed, as DecideLost says. The write applies only while the lease is
// still past, so a worker that was merely slow and finishes first wins.
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
	answers, err := t.endLost(ctx, res.Lost, ends)
	if err != nil {
		return more, fmt.Errorf("tick: end lost attempts: %w", err)
	}
	t.rollups.lost(res.Lost, ends, answers, res.Now)
	for i, a := range answers {
		if !a.Stale && !a.Busy {
			report.Lost++
			t.nameSuspect(&res.Lost[i], &ends[i], a)
		}
	}
	if report.Lost > 0 {
		t.event(TickEvent{Kind: JobsLost, Count: report.Lost})
	}
	return more, nil
}

// endLost writes the ends of lost attempts. A row whose end raises an error is set apart and answered as Busy; so are those
// that a quarter of the pass was too short for, which the next round meets again.
func (t *Ticker) endLost(ctx context.Context, jobs []Job, ends []End) ([]EndAnswer, error) {
	answers, places := make([]EndAnswer, len(ends)), make([]int, len(ends))
	for i := range ends {
		answers[i], places[i] = EndAnswer{Busy: true}, i
	}
	bounded, cancel := context.WithTimeout(ctx, t.opts.LeaseLength/4)
	defer cancel()
	err := Halve(bounded, places, func(part []int) error {
		got, err := t.store.Finish(ctx, pick(ends, part))
		for i := range got {
			answers[part[i]] = got[i]
		}
		return err
	}, func(i int, err error) error {
		return t.store.SetApart(ctx, []RowFault{{Kind: ApartJob, ID: jobs[i].ID, About: jobs[i].Type, Act: "reap", Error: rowText(err)}})
	})
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		err = nil
	}
	return answers, err
}

// nameSuspect tells of a job that is suspected of ending its workers from now on, or that failed for it.
func (t *Ticker) nameSuspect(job *Job, end *End, answer EndAnswer) {
	if answer.Repeat || len(end.Errors) == 0 {
		return
	}
	e := TickEvent{Job: job.ID, Type: job.Type, Count: end.Errors[len(end.Errors)-1].Losses}
	switch {
	case answer.Status == Failed && e.Count >= MaxLosses:
		e.Kind = JobQuarantined
	case answer.Status == Scheduled && e.Count == SuspectLosses:
		e.Kind = JobSuspected
	default:
		return
	}
	t.event(e)
}
