package access

import (
	"context"
	"fmt"
	"net/http"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// ownJobs is the store as the caller of each ctx sees it: what belongs to another tenant is not there. It has every
// method of the port for itself, so that none that is added to the port goes around it.
type ownJobs struct{ store core.JobStore }

// OwnJobs is the store as the caller of each ctx sees it: what belongs to another tenant is not there.
func OwnJobs(store core.JobStore) core.JobStore { return ownJobs{store} }

func (o ownJobs) Get(ctx context.Context, id int64) (core.Job, error) {
	job, err := o.store.Get(ctx, id)
	if err == nil && !CallerOf(ctx).sees(job.Tenant) {
		return core.Job{}, core.ErrNotFound
	}
	return job, err
}

// own refuses the job of another tenant as if there were none, and a job of Belfry itself, such as one that delivers an
// alert, to all but admins. A job's tenant and type never change, so that what is done to it after this is done to the
// same.
func (o ownJobs) own(ctx context.Context, id int64) error {
	c := CallerOf(ctx)
	if c.Tenant == "" && c.Role.Allows(core.RoleAdmin) {
		return nil
	}
	job, err := o.Get(ctx, id)
	if err == nil && core.Reserved(job.Type) && !c.Role.Allows(core.RoleAdmin) {
		return problem.New(http.StatusForbidden, "this job is Belfry's own: to change it needs a token of the role admin")
	}
	return err
}

func (o ownJobs) List(ctx context.Context, q core.ListQuery) (core.Page, error) {
	var err error
	if q.Tenant, err = CallerOf(ctx).Narrow(q.Tenant); err != nil {
		return core.Page{}, err
	}
	page, err := o.store.List(ctx, q)
	for i := range page.Jobs {
		if !CallerOf(ctx).sees(page.Jobs[i].Tenant) {
			return core.Page{}, fmt.Errorf("list: job %d is of another tenant", page.Jobs[i].ID)
		}
	}
	return page, err
}

// Ended is asked by the waiter for all requests at once; each of them has seen its job before.
func (o ownJobs) Ended(ctx context.Context, ids []int64) (map[int64]core.Status, error) {
	return o.store.Ended(ctx, ids)
}

func (o ownJobs) Cancel(ctx context.Context, id int64) (core.Job, error) {
	if err := o.own(ctx, id); err != nil {
		return core.Job{}, err
	}
	return o.store.Cancel(ctx, id)
}

func (o ownJobs) Reschedule(ctx context.Context, id int64, when core.When) (core.Job, error) {
	if err := o.own(ctx, id); err != nil {
		return core.Job{}, err
	}
	return o.store.Reschedule(ctx, id, when)
}

func (o ownJobs) Retry(ctx context.Context, id int64) (core.Job, error) {
	if err := o.own(ctx, id); err != nil {
		return core.Job{}, err
	}
	return o.store.Retry(ctx, id)
}

func (o ownJobs) Redrive(ctx context.Context, q core.DeadQuery, limit int, pace core.Pace) ([]core.Redriven, error) {
	var err error
	if q.Tenant, err = CallerOf(ctx).Narrow(q.Tenant); err != nil {
		return nil, err
	}
	return o.store.Redrive(ctx, q, limit, pace)
}

func (o ownJobs) Discard(ctx context.Context, q core.DeadQuery, limit int) (core.Discarded, error) {
	var err error
	if q.Tenant, err = CallerOf(ctx).Narrow(q.Tenant); err != nil {
		return core.Discarded{}, err
	}
	return o.store.Discard(ctx, q, limit)
}

func (o ownJobs) CountDead(ctx context.Context, q core.DeadQuery) (int, error) {
	var err error
	if q.Tenant, err = CallerOf(ctx).Narrow(q.Tenant); err != nil {
		return 0, err
	}
	return o.store.CountDead(ctx, q)
}

func (o ownJobs) DeadGroups(ctx context.Context, q core.DeadQuery, limit int) ([]core.DeadGroup, error) {
	var err error
	if q.Tenant, err = CallerOf(ctx).Narrow(q.Tenant); err != nil {
		return nil, err
	}
	return o.store.DeadGroups(ctx, q, limit)
}
