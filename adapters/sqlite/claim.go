package sqlite

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// ClaimDue makes due rows running. With one writer nobody can come between the choice and the change.
func (s *Store) ClaimDue(ctx context.Context, req core.ClaimRequest) (core.ClaimResult, error) {
	var res core.ClaimResult
	err := s.carefully(ctx, func(t *tx) error {
		res = core.ClaimResult{Now: instant(t.now), Taken: make([]core.Taken, len(req.Quotas))}
		full := false
		for i, q := range req.Quotas {
			found, taken, err := t.take(q, everyBucket)
			if err != nil {
				return err
			}
			jobs, err := t.run(found, req)
			if err != nil {
				return err
			}
			res.Jobs, res.Taken[i] = append(res.Jobs, jobs...), taken
			full = full || taken.N >= q.Limit || q.PerTenant > 0 && !taken.Wrapped
		}
		if full {
			return nil
		}
		var err error
		res.DueIn, err = t.dueIn(req.Quotas)
		return err
	})
	if err != nil {
		return core.ClaimResult{}, wrap("claim due", err)
	}
	return res, nil
}

// Waiting returns the lanes that have scheduled rows.
func (s *Store) Waiting(ctx context.Context) (lanes []core.Lane, err error) {
	now := s.clock.now()
	err = s.readers.read(ctx, func(c *conn) error {
		return c.query(ctx, "lanes", func(r row) error {
			if p := core.Priority(r.int(0)); p.Valid() { // else damaged
				lanes = append(lanes, core.Lane{Priority: p, Type: r.text(1), DueIn: until(now, r.int(2))})
			}
			return nil
		})
	})
	return lanes, wrap("waiting", err)
}

// run makes rows running and returns them as they then are. Rows that may not run are ended instead.
func (t *tx) run(found []row, req core.ClaimRequest) ([]core.Job, error) {
	if t.careful {
		return t.runEach(found, req)
	}
	return t.runAll(found, req)
}

func (t *tx) runAll(found []row, req core.ClaimRequest) ([]core.Job, error) {
	jobs, claimed := make([]core.Job, 0, len(found)), make([]int64, 0, len(found))
	until := t.now + req.Lease.Microseconds()
	for _, r := range found {
		refused, err := t.refuse(r.liveState())
		if err != nil {
			return nil, err
		}
		if refused {
			continue
		}
		job := r.job()
		job.Status, job.Attempts, job.LeaseToken = core.Running, job.Attempts+1, increment(job.LeaseToken)
		job.LeaseUntil, job.StartedAt = instant(until), instant(t.now)
		job.ClaimID, job.WorkerID = req.ClaimID, req.WorkerID
		jobs, claimed = append(jobs, job), append(claimed, job.ID)
	}
	if len(claimed) == 0 {
		return nil, nil
	}
	return jobs, t.change(len(claimed), "claim_due", ids(claimed), until, req.ClaimID, req.WorkerID, t.now)
}

// runEach is run for each row alone.
func (t *tx) runEach(found []row, req core.ClaimRequest) (jobs []core.Job, err error) {
	for _, r := range found {
		var one []core.Job
		done, err := t.alone(jobFault(r.int(colID), r.text(colType), core.ActStart), func() (err error) {
			one, err = t.runAll([]row{r}, req)
			return err
		})
		if err != nil {
			return nil, err
		}
		if done {
			jobs = append(jobs, one...)
		}
	}
	return jobs, nil
}

// change changes so many rows, no fewer.
func (t *tx) change(n int, name string, args ...any) error {
	changed, err := t.exec(name, args...)
	if err == nil && changed < int64(n) {
		err = errKept
	}
	return err
}

// dueIn is how long until the next row of the lanes is due: at least a moment, since what is due now and was
// not taken lies before a mark, and at most an hour.
func (t *tx) dueIn(quotas []core.Quota) (time.Duration, error) {
	next := time.Hour
	for _, q := range quotas {
		at, ok, err := t.number("due_at", int64(q.Priority), q.Type)
		if err != nil {
			return 0, err
		}
		wait := at - t.now
		if q.Targeted && wait <= 0 {
			continue // it has no target, or lies before a mark; the caller asks again by itself
		}
		if ok && wait < next.Microseconds() {
			next = max(duration(wait), time.Millisecond)
		}
	}
	return next, nil
}

// ReadClaim returns the running rows of one claim.
func (s *Store) ReadClaim(ctx context.Context, claimID int64) ([]core.Job, error) {
	var jobs []core.Job
	err := s.readers.read(ctx, func(c *conn) error {
		return c.query(ctx, "read_claim", func(r row) error {
			jobs = append(jobs, r.job())
			return nil
		}, claimID)
	})
	return jobs, wrap("read claim", err)
}
