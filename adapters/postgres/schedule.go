package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func (s *Store) CreateSchedule(context.Context, core.Schedule) (core.Schedule, error) {
	return core.Schedule{}, errPending
}

func (s *Store) GetSchedule(context.Context, string, string) (core.Schedule, error) {
	return core.Schedule{}, errPending
}

func (s *Store) ListSchedules(context.Context, core.ScheduleQuery) ([]core.Schedule, error) {
	return nil, errPending
}

func (s *Store) DeleteSchedule(context.Context, string, string, int64) error { return errPending }

func (s *Store) AdvanceSchedules(context.Context, []core.Advance, []core.Held) ([]core.Advanced, error) {
	return nil, errPending
}

func (s *Store) ActiveRuns(context.Context, string, string) ([]int64, error) { return nil, errPending }

func (s *Store) Occurrences(context.Context, core.OccurrenceQuery) ([]core.Occurrence, error) {
	return nil, errPending
}

func (s *Store) Succeeded(context.Context, string, string, time.Time) (at, scheduledFor time.Time, err error) {
	return at, scheduledFor, errPending
}

func (s *Store) RaiseAlerts(context.Context, []core.Alert) error { return errPending }

func (s *Store) Alerts(context.Context, core.AlertQuery) ([]core.Alert, error) {
	return nil, errPending
}

func (s *Store) MarkAlerts(context.Context, []core.Alert) error { return errPending }

var errPending = errors.New("not built yet")
