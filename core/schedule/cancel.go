package schedule

import (
	"context"
	"errors"
	"slices"

	"github.com/belfry-dev/belfry/core"
)

// RunCanceller holds the store methods that CancelRuns needs.
type RunCanceller interface {
	GetSchedule(ctx context.Context, tenant, name string) (core.Schedule, error)
	ActiveRuns(ctx context.Context, tenant, name string) ([]int64, error)
	CancelRuns(ctx context.Context, ids []int64) ([]int64, error)
	Cancel(ctx context.Context, id int64) (core.Job, error)
}

// CancelRuns cancels the waiting runs of a schedule, and asks its running ones to stop. If the schedule has changed since s
// was read, it cancels nothing: the newest run may be one that another step made to replace them.
func CancelRuns(ctx context.Context, store RunCanceller, s *core.Schedule) error {
	ids, err := store.ActiveRuns(ctx, s.Tenant, s.Name)
	if err != nil || len(ids) == 0 {
		return err
	}
	now, err := store.GetSchedule(ctx, s.Tenant, s.Name)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return nil
	case err != nil:
		return err
	case now.ID != s.ID || now.Version != s.Version || now.Moves != s.Moves:
		return nil // the plan is stale
	}
	done, err := store.CancelRuns(ctx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if slices.Contains(done, id) {
			continue
		}
		if _, err := store.Cancel(ctx, id); err != nil && !errors.Is(err, core.ErrConflict) && !errors.Is(err, core.ErrNotFound) {
			return err
		}
	}
	return nil
}
