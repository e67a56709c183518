package sqlite

import (
	"context"
	"math"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Get returns one job from whichever table has it; one statement sees all three at once.
func (s *Store) Get(ctx context.Context, id int64) (core.Job, error) {
	var job core.Job
	err := s.readers.read(ctx, func(c *conn) error {
		return c.query(ctx, "get", func(r row) error {
			job = r.job()
			return nil
		}, id)
	})
	if err == nil && job.ID == 0 {
		err = core.ErrNotFound
	}
	return job, wrap("get", err)
}

// List returns the jobs that match, newest id first.
func (s *Store) List(ctx context.Context, q core.ListQuery) (core.Page, error) {
	statuses := int64(0)
	for _, status := range q.Statuses {
		statuses |= 1 << status
	}
	if len(q.Statuses) == 0 {
		statuses = -1
	}
	const inFlight = 1<<core.Queued | 1<<core.Running
	name := "list"
	if statuses&inFlight != 0 && statuses&^inFlight == 0 {
		name = "list_in_flight"
	}
	before, limit := q.Before, q.Limit
	if before == 0 {
		before = math.MaxInt64
	}
	if limit <= 0 {
		limit = 1000
	}
	var jobs []core.Job
	err := s.readers.read(ctx, func(c *conn) error {
		return c.query(ctx, name, func(r row) error {
			jobs = append(jobs, r.job())
			return nil
		}, statuses, q.Type, tenantOrNull(q.Tenant), int64(q.Priority), q.Tag,
			timeOr(q.RunAfter, math.MinInt64), timeOr(q.RunBefore, math.MaxInt64), before, limit)
	})
	return core.PageOf(jobs, limit), wrap("list", err)
}

// Ended returns the status of those ids that have ended.
func (s *Store) Ended(ctx context.Context, list []int64) (map[int64]core.Status, error) {
	ended := make(map[int64]core.Status)
	err := s.readers.read(ctx, func(c *conn) error {
		return c.query(ctx, "ended", func(r row) error {
			ended[r.int(0)] = core.Status(r.int(1))
			return nil
		}, ids(list))
	})
	return ended, wrap("ended", err)
}

func tenantOrNull(tenant *string) any {
	if tenant == nil {
		return nil
	}
	return *tenant
}

func timeOr(t time.Time, otherwise int64) int64 {
	if t.IsZero() {
		return otherwise
	}
	return micros(t)
}
