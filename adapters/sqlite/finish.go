package sqlite

import (
	"context"
	"encoding/json"

	"github.com/belfry-dev/belfry/core"
)

// Finish ends attempts, in the order given.
func (s *Store) Finish(ctx context.Context, ends []core.End) ([]core.EndAnswer, error) {
	answers := make([]core.EndAnswer, len(ends))
	err := s.writer.run(ctx, func(t *tx) error {
		refs := make([]core.Ref, len(ends))
		for i := range ends {
			refs[i] = ends[i].Ref
		}
		live, err := t.liveStates(refs)
		if err != nil {
			return err
		}
		f := &finishing{tx: t, live: live}
		for i := range ends {
			if answers[i], err = f.end(&ends[i]); err != nil {
				return err
			}
		}
		if err := f.writeDone(); err != nil {
			return err
		}
		return f.answerEnded(ends, answers)
	})
	if err != nil {
		return nil, wrap("finish", err)
	}
	return answers, nil
}

// finishing is one call of Finish.
type finishing struct {
	*tx
	live    map[int64]*liveState // rows as they stand after the ends so far
	done    []any                // [id, result] of jobs that are done, written together
	doneIDs []int64
	absent  []int64 // ids found in no live row
}

// end decides and writes one end. A job that is not live any more is answered by answerEnded.
func (f *finishing) end(e *core.End) (core.EndAnswer, error) {
	a, ok := f.live[e.ID]
	if !ok || a.status.Ended() {
		if !ok {
			f.absent = append(f.absent, e.ID)
			return core.EndAnswer{Stale: true}, nil
		}
		return repeated(e, a.status, a.ended), nil
	}
	switch {
	case a.status == core.Queued && a.token == e.Token && e.Outcome == core.EndHandBack:
		return core.EndAnswer{Status: core.Queued}, nil // never started: it stays with its message
	case a.status != core.Running || a.token != e.Token:
		return repeated(e, a.status, a.ended), nil
	case e.Lost && a.leaseUntil > f.now && a.leaseUntil <= farAhead(f.now):
		return core.EndAnswer{Stale: true}, nil
	case e.Outcome == core.EndAccepted:
		return core.EndAnswer{Status: core.Running}, f.hand(e, a)
	}
	if a.ended = a.token; e.Lost {
		a.ended = -a.token
	}
	return core.EndAnswer{Status: a.status}, f.apply(e, a)
}

// apply writes an end that counts.
func (f *finishing) apply(e *core.End, a *liveState) error {
	switch e.Outcome {
	case core.EndFail, core.EndRetry, core.EndLoss, core.EndSnooze:
		a.errors = encode(e.Errors)
	}
	switch {
	case e.Outcome == core.EndDone && len(e.Errors) > 0:
		a.status, a.errors = core.Done, encode(e.Errors)
		return f.tx.end(*a, core.Done, "", resultOrNull(e.Result))
	case e.Outcome == core.EndDone:
		a.status = core.Done
		f.done = append(f.done, [2]any{a.id, resultOrNull(e.Result)})
		f.doneIDs = append(f.doneIDs, a.id)
		return nil
	case a.cancelWanted:
		if e.Outcome == core.EndHandBack {
			a.attempts-- // no handler was entered
		}
		a.status = core.Cancelled
		return f.tx.end(*a, core.Cancelled, reasonCancelled, nil)
	case e.Outcome == core.EndFail:
		a.status = core.Failed
		return f.tx.end(*a, core.Failed, "", nil)
	}
	switch e.Outcome {
	case core.EndSnooze:
		a.attempts, a.snoozes = a.attempts-1, increment(a.snoozes)
	case core.EndHandBack, core.EndLoss:
		a.attempts--
	}
	a.status = core.Scheduled
	a.raise()
	return f.putBack(*a, f.now+e.Wait.Microseconds())
}

// hand leaves a job running under its token, in the hands of its target.
func (f *finishing) hand(e *core.End, a *liveState) error {
	a.leaseUntil = f.now + e.Wait.Microseconds()
	_, err := f.exec("hand_over", a.id, a.leaseUntil, core.TargetWorkerID)
	return err
}

// writeDone moves all jobs that are done at once.
func (f *finishing) writeDone() error {
	if len(f.done) == 0 {
		return nil
	}
	list, err := json.Marshal(f.done)
	if err != nil {
		return err
	}
	if _, err := f.exec("finish_done", string(list), f.now); err != nil {
		return err
	}
	_, err = f.exec("delete_jobs", ids(f.doneIDs))
	return err
}

// answerEnded tells ends that were recorded before from those that came too late.
func (f *finishing) answerEnded(ends []core.End, answers []core.EndAnswer) error {
	if len(f.absent) == 0 {
		return nil
	}
	byID := make(map[int64][2]int64)
	err := f.query("ended_tokens", func(r row) error {
		byID[r.int(0)] = [2]int64{r.int(1), r.int(2)}
		return nil
	}, ids(f.absent))
	for i := range ends {
		if ended, ok := byID[ends[i].ID]; ok {
			answers[i] = repeated(&ends[i], core.Status(ended[0]), ended[1])
		}
	}
	return err
}

// repeated answers an end whose attempt is over: it is a repetition if the attempt of that token was ended the
// same way, by its holder or as lost.
func repeated(e *core.End, status core.Status, ended int64) core.EndAnswer {
	token := e.Token
	if e.Lost {
		token = -token
	}
	if ended == 0 || ended != token {
		return core.EndAnswer{Stale: true}
	}
	if status == core.Queued || status == core.Running {
		status = core.Scheduled // what the first answer was: since then it went on
	}
	return core.EndAnswer{Status: status, Repeat: true}
}

func resultOrNull(result []byte) any {
	if len(result) == 0 {
		return nil
	}
	return string(result)
}
