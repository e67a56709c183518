package sqlite

import (
	"context"
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
