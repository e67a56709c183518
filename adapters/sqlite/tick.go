package sqlite

import (
	"context"
	"math"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// reapFarthest is how long the reaper may put off looking at a running row, even if its lease is longer.
const reapFarthest = time.Hour

// recallLimit is how many rows return to scheduled in one tick.
const recallLimit = 1000

// Tick is one pass of the scheduler, in one transaction.
func (s *Store) Tick(ctx context.Context, req core.TickRequest) (core.TickResult, error) {
	var res core.TickResult
	err := s.carefully(ctx, func(t *tx) (err error) {
		res = core.TickResult{Now: instant(t.now)}
		if res.Held, err = t.renew(req.Holder, req.LeaseLength); err != nil {
			return err
		}
		if res.Lost, err = t.lost(req.ReapAfter, req.ReapLimit); err != nil {
			return err
		}
		if res.Expired, err = t.expire(req.ExpireLimit); err != nil {
			return err
		}
		if req.Dispatch {
			if err := t.dispatch(req, &res); err != nil {
				return err
			}
		}
		if req.ScheduleLimit > 0 {
			if err := t.dueSchedules(&req, &res); err != nil {
				return err
			}
		}
		if req.Recall {
			if err := t.recall(res.Held); err != nil {
				return err
			}
		}
		res.Waiting, res.Unserved, err = t.waiting(req)
		return err
	})
	if err != nil {
		return core.TickResult{}, wrap("tick", err)
	}
	res.Released = s.leases.note(req.Holder, bits(res.Held))
	return res, nil
}

// recall returns queued rows of held buckets whose dispatch lease has passed to scheduled.
func (t *tx) recall(held []core.Held) error {
	overdue, err := t.each("republish", "publish", t.now, bits(held), recallLimit)
	if err != nil {
		return err
	}
	for _, r := range overdue {
		if err := t.unqueue(r); err != nil {
			return err
		}
	}
	return nil
}

// lost lists running jobs whose lease has passed.
func (t *tx) lost(after int64, limit int) ([]core.Job, error) {
	if err := t.bulk("adopt", t.now); err != nil {
		return nil, err
	}
	if err := t.bulk("adopt_far", t.now, farAhead(t.now)); err != nil {
		return nil, err
	}
	if err := t.bulk("defer_reap", t.now, farAhead(t.now), t.now+reapFarthest.Microseconds()); err != nil {
		return nil, err
	}
	found, err := t.each("lost", "reap", t.now, after, limit, farAhead(t.now))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	jobs := make([]core.Job, len(found))
	for i, r := range found {
		jobs[i] = r.job()
	}
	return jobs, nil
}

// farAhead is later than any lease that this program writes ends.
func farAhead(now int64) int64 { return now + core.MaxLease.Microseconds() }

// expire cancels waiting jobs whose expires_at has passed.
func (t *tx) expire(limit int) (int, error) {
	if t.careful {
		return t.expireEach(limit)
	}
	found, err := t.rows("expire", t.now, limit)
	if err != nil {
		return 0, err
	}
	for _, r := range found {
		if err := t.end(r.liveStateOnly(), core.Cancelled, reasonExpired, nil); err != nil {
			return 0, err
		}
	}
	return len(found), nil
}

// expireEach is expire for each row alone.
func (t *tx) expireEach(limit int) (n int, err error) {
	found, err := t.rows("expire"+idsSuffix, t.now, limit)
	if err != nil {
		return 0, err
	}
	for _, r := range found {
		done, err := t.alone(jobFault(r.int(0), r.text(1), "expire"), func() error {
			live, err := t.liveStates([]core.Ref{{ID: r.int(0)}})
			if err != nil {
				return err
			}
			return t.end(*live[r.int(0)], core.Cancelled, reasonExpired, nil)
		})
		if err != nil {
			return n, err
		}
		if done {
			n++
		}
	}
	return n, nil
}

// waiting lists the lanes with waiting rows, those apart that no queue serves; see core.TickResult for those left out.
func (t *tx) waiting(req core.TickRequest) (lanes, unserved []core.Lane, err error) {
	fleet, err := t.w.conn.fleet(context.Background(), t.now)
	if err != nil {
		return nil, nil, err
	}
	err = t.query("lanes", func(r row) error {
		if fleet.published(r.text(1), r.mark(3), !req.Dispatch || req.Unannounced) {
			p := core.Priority(min(max(r.int(0), math.MinInt16), math.MaxInt16))
			lane := core.Lane{Priority: p, Type: r.text(1), DueIn: until(t.now, r.int(2))}
			if p.Valid() {
				lanes = append(lanes, lane)
			} else {
				unserved = append(unserved, lane)
			}
		}
		return nil
	})
	return lanes, unserved, err
}

// DueIn says how long a tick that makes no pass misses nothing; see core.TickStore.
func (s *Store) DueIn(ctx context.Context, req core.DueRequest) (in time.Duration, err error) {
	now := s.clock.now()
	news := int64(math.MaxInt64)
	if req.News > 0 {
		news = now - req.News.Microseconds()
	}
	err = s.readers.read(ctx, func(c *conn) error {
		return c.snapshot(ctx, func() error {
			in = maxScheduleIn
			err := c.query(ctx, "due_in", func(r row) error {
				if in = min(in, until(now, r.int(1))); r.int(0) != 0 {
					in = 0
				}
				return nil
			}, now, core.AlertJobFailed, number(req.Alerts), news)
			if err != nil {
				return err
			}
			return c.query(ctx, "lanes", func(r row) error {
				in = min(in, until(now, r.int(2)))
				return nil
			})
		})
	})
	return in, wrap("due in", err)
}

// until is the time from now to at, within what a duration can hold.
func until(now, at int64) time.Duration {
	const far = int64(100 * 365 * 24 * time.Hour / time.Microsecond)
	return duration(max(min(at, now+far), now-far) - now)
}
