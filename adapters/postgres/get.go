package postgres

import (
	"context"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
)

// Get reads one job, in one statement over all tables: a job that is moving is found in one of them. A job
// with an unreadable value comes without its large values, and is set apart; see core.Job.Unreadable.
func (s *Store) Get(ctx context.Context, id int64) (core.Job, error) {
	found, err := s.getEach(ctx, []int64{id})
	if err == nil && len(found) == 0 {
		err = wrap("get", core.ErrNotFound)
	}
	if err != nil {
		return core.Job{}, err
	}
	return found[0], nil
}

// getEach reads jobs; if a value of one cannot be read, the others are complete.
func (s *Store) getEach(ctx context.Context, ids []int64) (jobs []core.Job, err error) {
	err = apart.Halve(ctx, ids, func(part []int64) error {
		found, err := s.getMany(ctx, "", part)
		jobs = append(jobs, found...)
		return err
	}, func(id int64, fault error) error {
		found, err := s.getMany(ctx, unreadSuffix, []int64{id})
		for i := range found {
			found[i].Unreadable = faultText(fault)
			s.nameUnreadable(ctx, &found[i])
		}
		jobs = append(jobs, found...)
		return err
	})
	return jobs, err
}

// getMany reads jobs with the variant of the statement that suffix names.
func (s *Store) getMany(ctx context.Context, suffix string, ids []int64) (jobs []core.Job, err error) {
	err = s.read(ctx, "get", s.guard(glanceWait), s.sql.call("get"+suffix, idArgs(ids), func(r wire.Row) error {
		jobs = append(jobs, job(r))
		return nil
	}))
	if err != nil {
		return nil, err
	}
	return jobs, nil
}

// nameUnreadable sets apart a job with an unreadable value, so that the log and belfry doctor name it. The read succeeds
// even if that fails, because it must also work on a read-only database.
func (s *Store) nameUnreadable(ctx context.Context, j *core.Job) {
	kind := core.ApartJob
	switch {
	case j.Status == core.Failed:
		kind = core.ApartDead
	case !j.Status.Live():
		kind = core.ApartDone
	}
	_ = s.SetApart(ctx, []core.RowFault{{Kind: kind, ID: j.ID, About: j.Type, Act: "read", Error: j.Unreadable}})
}

// Ended returns the status of the jobs that have ended.
func (s *Store) Ended(ctx context.Context, ids []int64) (map[int64]core.Status, error) {
	ended := map[int64]core.Status{}
	if len(ids) == 0 {
		return ended, nil
	}
	err := s.read(ctx, "ended", s.guard(glanceWait), s.sql.call("ended", idArgs(ids), func(r wire.Row) error {
		ended[r.Int(0)] = core.Status(r.Int(1))
		return nil
	}))
	return ended, err
}

func idArgs(ids []int64) *wire.Args {
	return wire.Int8s(wire.NewArgs(1), ids, func(id *int64) int64 { return *id })
}
