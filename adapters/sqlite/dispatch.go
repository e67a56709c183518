package sqlite

import (
	"context"

	"github.com/belfry-dev/belfry/core"
)

// dispatch publishes again what is overdue and marks due rows queued by the quotas, both in held buckets only.
func (t *tx) dispatch(req core.TickRequest, res *core.TickResult) error {
	buckets, fences := bits(res.Held), make(map[int]int64, len(res.Held))
	for _, h := range res.Held {
		fences[h.Bucket] = h.Token
	}
	overdue, err := t.each("republish", "publish", t.now, buckets, req.RepublishLimit)
	if err != nil {
		return err
	}
	if res.Queued, _, err = t.countInFlight(); err != nil {
		return err
	}
	if req.CountTypes {
		if res.QueuedTypes, err = countQueuedTypes(context.Background(), t.w.conn); err != nil {
			return err
		}
	}
	res.Dispatched = nil
	res.Taken = make([]core.Taken, len(req.Quotas))
	for i, q := range req.Quotas {
		found, taken, err := t.take(q, buckets)
		if err != nil {
			return err
		}
		// Marked before the next quota looks: two quotas of one lane never take one row.
		marked, err := t.queue(found, fences, req)
		if err != nil {
			return err
		}
		res.Dispatched, res.Taken[i] = append(res.Dispatched, marked...), taken
	}
	again, err := t.queue(overdue, fences, req)
	res.Dispatched = append(again, res.Dispatched...)
	return err
}

// queue marks rows queued and returns them as they then are. Waiting rows that may not run are ended instead.
func (t *tx) queue(found []row, fences map[int]int64, req core.TickRequest) ([]core.Job, error) {
	if t.careful {
		return t.queueEach(found, fences, req)
	}
	return t.queueAll(found, fences, req)
}

func (t *tx) queueAll(found []row, fences map[int]int64, req core.TickRequest) ([]core.Job, error) {
	first, longest := req.DispatchLease.Microseconds(), req.DispatchLeaseMax.Microseconds()
	if longest <= 0 {
		longest = first
	}
	jobs, list := make([]core.Job, 0, len(found)), make([]int64, 0, len(found))
	for _, r := range found {
		if core.Status(r.int(colStatus)) == core.Scheduled {
			refused, err := t.refuse(r.liveState())
			if err != nil {
				return nil, err
			}
			if refused {
				continue
			}
		}
		job := r.job()
		job.Payload, job.Status = nil, core.Queued
		job.LeaseUntil = instant(t.now + min(first<<min(max(job.Dispatches, 0), 20), longest))
		job.Dispatches, job.DispatchFence = job.Dispatches+1, fences[job.Bucket]
		jobs, list = append(jobs, job), append(list, job.ID)
	}
	if len(list) == 0 {
		return nil, nil
	}
	return jobs, t.change(len(list), "dispatch", ids(list), t.now, first, longest)
}

// queueEach is queue for each row alone.
func (t *tx) queueEach(found []row, fences map[int]int64, req core.TickRequest) (jobs []core.Job, err error) {
	for _, r := range found {
		var one []core.Job
		done, err := t.alone(jobFault(r.int(colID), r.text(colType), "dispatch"), func() (err error) {
			one, err = t.queueAll([]row{r}, fences, req)
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

// countInFlight counts queued and running rows per priority.
func (t *tx) countInFlight() (queued, running [len(core.Priorities)]int, err error) {
	return countInFlight(context.Background(), t.w.conn)
}

// CountQueued counts the queued rows.
func (s *Store) CountQueued(ctx context.Context, types bool) (queued core.QueuedCount, err error) {
	err = s.readers.read(ctx, func(c *conn) error {
		return c.snapshot(ctx, func() (err error) {
			if queued.Priorities, _, err = countInFlight(ctx, c); err != nil || !types {
				return err
			}
			queued.Types, err = countQueuedTypes(ctx, c)
			return err
		})
	})
	return queued, wrap("count queued", err)
}

// countQueuedTypes counts queued rows per priority and type.
func countQueuedTypes(ctx context.Context, c *conn) (queued []core.QueuedType, err error) {
	err = c.query(ctx, "count_queued_lanes", func(r row) error {
		if p := core.Priority(r.int(0)); p.Valid() {
			queued = append(queued, core.QueuedType{Priority: p, Type: r.text(1), N: int(r.int(2))})
		}
		return nil
	}, 3*core.CountCap)
	return queued, err
}

func countInFlight(ctx context.Context, c *conn) (queued, running [len(core.Priorities)]int, err error) {
	err = c.query(ctx, "count_in_flight", func(r row) error {
		p := core.Priority(r.int(0))
		if !p.Valid() {
			return nil // damaged by hand
		}
		n := min(int(r.int(2)), core.CountCap)
		if core.Status(r.int(1)) == core.Queued {
			queued[p-1] = n
		} else {
			running[p-1] = n
		}
		return nil
	}, 6*core.CountCap)
	return queued, running, err
}

// Undispatch makes the dispatch lease of queued rows pass now.
func (s *Store) Undispatch(ctx context.Context, refs []core.Ref) error {
	return wrap("undispatch", s.writer.run(ctx, func(t *tx) error {
		for _, ref := range refs {
			if _, err := t.exec("undispatch", ref.ID, ref.Token, t.now); err != nil {
				return err
			}
		}
		return nil
	}))
}
