package tick

import (
	"context"
	"fmt"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
	"github.com/belfry-dev/belfry/core/decide"
)

// reap ends the attempts whose worker's lease has expired, as decide.Lost says. The write applies only while the lease is
// still expired, so a worker that was merely slow and finishes first wins.
//
// After a full page it reads the next one by id, no matter what happened to this page. So rows that cannot be ended now
// (locked or damaged) do not block the rows behind them. After a page that is not full it starts again from the beginning.
func (t *Ticker) reap(ctx context.Context, p *pass) error {
	res, report := p.res, &p.report
	if len(res.Lost) < t.opts.ReapLimit {
		t.reapAfter = 0
	} else {
		t.reapAfter, report.More = res.Lost[len(res.Lost)-1].ID, true
	}
	if len(res.Lost) == 0 {
		return nil
	}
	ends := make([]core.End, len(res.Lost))
	for i := range res.Lost {
		ends[i] = decide.Lost(&res.Lost[i], res.Now, t.opts.Chance())
	}
	answers, err := t.endLost(ctx, res.Lost, ends)
	if err != nil {
		return fmt.Errorf("tick: end lost attempts: %w", err)
	}
	t.rollups.Lost(res.Lost, ends, answers, res.Now)
	unreported := 0
	for i, a := range answers {
		if !a.Stale && !a.Busy {
			report.Lost++
			if res.Lost[i].WorkerID == core.TargetWorkerID {
				unreported++
			}
			t.reportSuspect(&res.Lost[i], &ends[i], a)
		}
	}
	if unreported > 0 {
		t.event(Event{Kind: JobsUnreported, Count: unreported})
	}
	if lost := report.Lost - unreported; lost > 0 {
		t.event(Event{Kind: JobsLost, Count: lost})
	}
	return nil
}

// endLost writes the ends of lost attempts. A row whose end raises an error is set apart and answered as Busy. So are rows
// left over after a quarter of the pass; the next round tries them again.
func (t *Ticker) endLost(ctx context.Context, jobs []core.Job, ends []core.End) ([]core.EndAnswer, error) {
	answers, places := make([]core.EndAnswer, len(ends)), make([]int, len(ends))
	for i := range ends {
		answers[i], places[i] = core.EndAnswer{Busy: true}, i
	}
	bounded, cancel := context.WithTimeout(ctx, t.opts.LeaseLength/4)
	defer cancel()
	err := apart.Halve(bounded, places, func(part []int) error {
		got, err := t.store.Finish(ctx, apart.Pick(ends, part))
		for i := range got {
			answers[part[i]] = got[i]
		}
		return err
	}, func(i int, err error) error {
		return t.store.SetApart(ctx, []core.RowFault{{Kind: core.ApartJob, ID: jobs[i].ID, About: jobs[i].Type, Act: "reap", Error: apart.Text(err)}})
	})
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		err = nil
	}
	return answers, err
}

// reportSuspect reports a job that became a suspect of ending its workers, or failed because of it.
func (t *Ticker) reportSuspect(job *core.Job, end *core.End, answer core.EndAnswer) {
	if answer.Repeat || len(end.Errors) == 0 {
		return
	}
	e := Event{Job: job.ID, Type: job.Type, Count: end.Errors[len(end.Errors)-1].Losses}
	switch {
	case answer.Status == core.Failed && e.Count >= core.MaxLosses:
		e.Kind = JobQuarantined
	case answer.Status == core.Scheduled && e.Count == core.SuspectLosses:
		e.Kind = JobSuspected
	default:
		return
	}
	t.event(e)
}
