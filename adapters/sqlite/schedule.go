package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
)

// CreateSchedule keeps a new schedule.
func (s *Store) CreateSchedule(ctx context.Context, sched core.Schedule) (core.Schedule, error) {
	rule, err := json.Marshal(sched.Rule)
	if err != nil {
		return core.Schedule{}, fmt.Errorf("sqlite: create schedule: %w", err)
	}
	st := &sched.State
	err = s.writer.run(ctx, func(t *tx) error {
		n, err := t.exec("create_schedule", sched.Tenant, sched.Name, string(rule), textOrNull(sched.Rule.Payload), sched.Rule.Type, number(sched.Rule.Paused),
			number(sched.Rule.Exclusive()), t.now, timeOrNull(st.Anchor), micros(st.Accounted), timeOrNull(st.NextDue), timeOrNull(st.PausedAt),
			st.TZData, timeOrNull(st.ExpectBy), timeOrNull(st.Expected), timeOrNull(sched.CreatedAt))
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("%w: there is a schedule of that name", core.ErrConflict)
		}
		if st.ZoneMark != "" || st.Unreadable {
			if _, err := t.exec("mark_schedule", sched.Tenant, sched.Name, st.ZoneMark, number(st.Unreadable)); err != nil {
				return err
			}
		}
		kept, err := t.row("get_schedule", sched.Tenant, sched.Name)
		if err == nil {
			sched = kept.schedule()
		}
		return err
	})
	return sched, wrap("create schedule", err)
}

// GetSchedule reads one schedule.
func (s *Store) GetSchedule(ctx context.Context, tenant, name string) (core.Schedule, error) {
	list, err := s.schedules(ctx, 0, "get_schedule", tenant, name)
	if err == nil && len(list) == 0 {
		err = core.ErrNotFound
	}
	if err != nil {
		return core.Schedule{}, wrap("get schedule", err)
	}
	return list[0], nil
}

// ListSchedules reads schedules by tenant and name.
func (s *Store) ListSchedules(ctx context.Context, q core.ScheduleQuery) ([]core.Schedule, error) {
	if q.TZDataNot != "" {
		list, err := s.schedules(ctx, 0, "stale_schedules", q.TZDataNot, int64(q.Limit))
		return list, wrap("list schedules", err)
	}
	var paused any
	if q.Paused != nil {
		paused = number(*q.Paused)
	}
	list, err := s.schedules(ctx, q.Bytes, "list_schedules", tenantOrNull(q.Tenant), q.Type, paused, q.AfterTenant, q.AfterName, int64(q.Limit))
	return list, wrap("list schedules", err)
}

func (s *Store) schedules(ctx context.Context, bytes int, name string, args ...any) (list []core.Schedule, err error) {
	err = s.readers.read(ctx, func(c *conn) error {
		list = nil
		size := 0
		err := c.query(ctx, name, func(r row) error {
			one := r.schedule()
			size += one.Size()
			if list = append(list, one); bytes > 0 && size >= bytes {
				return errEnough
			}
			return nil
		}, args...)
		if errors.Is(err, errEnough) {
			err = nil
		}
		return err
	})
	return list, err
}

// DeleteSchedule removes a schedule and its ledger.
func (s *Store) DeleteSchedule(ctx context.Context, tenant, name string, version int64) error {
	err := s.writer.run(ctx, func(t *tx) error {
		found, err := t.row("get_schedule", tenant, name)
		switch {
		case err != nil:
			return err
		case found == nil:
			return core.ErrNotFound
		}
		kept := found.schedule()
		if version != 0 && version != kept.Version {
			return core.ErrStale
		}
		for _, statement := range []string{"delete_ledger", "delete_schedule"} {
			if _, err := t.exec(statement, kept.ID); err != nil {
				return err
			}
		}
		for _, kind := range []string{core.AlertScheduleMissed, core.AlertScheduleUnreadable} {
			if err := t.raise(&core.Alert{Kind: kind, Tenant: tenant, Subject: name, ClearedAt: instant(t.now)}); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap("delete schedule", err)
}

// ActiveRuns lists the live jobs of a schedule.
func (s *Store) ActiveRuns(ctx context.Context, tenant, name string) (list []int64, err error) {
	err = s.readers.read(ctx, func(c *conn) error {
		list = nil
		return c.query(ctx, "active_runs", func(r row) error {
			list = append(list, r.int(0))
			return nil
		}, tenant, name)
	})
	return list, wrap("active runs", err)
}

// Occurrences reads a ledger, newest first.
func (s *Store) Occurrences(ctx context.Context, q core.OccurrenceQuery) (list []core.Occurrence, err error) {
	err = s.readers.read(ctx, func(c *conn) error {
		list = nil
		return c.query(ctx, "occurrences", func(r row) error {
			list = append(list, core.Occurrence{
				From: r.time(0), To: r.time(1), Count: r.int(2), Outcome: r.text(3), Reason: r.text(4), JobID: r.int(5), At: r.time(6),
			})
			return nil
		}, q.ScheduleID, timeOr(q.From, math.MinInt64), timeOr(q.Before, math.MaxInt64), q.Outcome, int64(q.Limit))
	})
	return list, wrap("occurrences", err)
}

// Succeeded looks for the first success of each schedule and the newest.
func (s *Store) Succeeded(ctx context.Context, asks []core.SuccessQuery) ([]core.Success, error) {
	found := make([]core.Success, len(asks))
	err := s.readers.read(ctx, func(c *conn) error {
		for i, q := range asks {
			err := c.query(ctx, "succeeded", func(r row) error {
				found[i] = core.Success{First: r.time(0), Newest: r.time(1)}
				return nil
			}, q.Tenant, q.Name, micros(q.Since))
			if err != nil {
				return err
			}
		}
		return nil
	})
	return found, wrap("succeeded", err)
}

// number stores a boolean.
func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// The columns of schedules, and what is selected after them.
const (
	schedID = iota
	schedTenant
	schedName
	schedVersion
	schedRule
	schedPayload
	schedType
	schedPaused
	schedExclusive
	schedCreatedAt
	schedUpdatedAt
	schedAnchor
	schedAccounted
	schedNextDue
	schedWaiting
	schedPausedAt
	schedTZData
	schedExpectBy
	schedExpected
	schedAlerted
	schedMoves
	schedZoneMark
	schedUnreadable
	schedActive
)

// schedule reads a row of schedules and whether a run is active. A damaged rule is a Fault.
func (r row) schedule() core.Schedule {
	s := core.Schedule{
		ID: r.int(schedID), Tenant: r.text(schedTenant), Name: r.text(schedName), Version: r.int(schedVersion), Moves: r.int(schedMoves),
		CreatedAt: r.time(schedCreatedAt), UpdatedAt: r.time(schedUpdatedAt), Active: r.int(schedActive) != 0,
		State: core.ScheduleState{
			Anchor: r.time(schedAnchor), Accounted: r.time(schedAccounted), NextDue: r.time(schedNextDue),
			PausedAt: r.time(schedPausedAt), TZData: r.text(schedTZData),
			ExpectBy: r.time(schedExpectBy), Expected: r.time(schedExpected), Alerted: r.int(schedAlerted) != 0,
			ZoneMark: r.text(schedZoneMark), Unreadable: r.int(schedUnreadable) != 0,
		},
	}
	if json.Unmarshal(r.raw(schedRule), &s.Rule) != nil {
		s.Rule, s.Fault = core.ScheduleRule{Type: r.text(schedType), Paused: r.int(schedPaused) != 0}, schedule.DamagedRule
	}
	s.Rule.Payload = r.raw(schedPayload)
	if waiting := decode[core.Run](r.raw(schedWaiting)); !waiting.ScheduledFor.IsZero() {
		s.State.Waiting = &waiting
	}
	return s
}

// run reads what a job knows of its instant: nil where no schedule made it.
func (r row) run() *core.Run {
	if r[colSchedule] == nil {
		return nil
	}
	return core.DecodeCovers(r.text(colSchedule), r.time(colScheduledFor), r.raw(colCovers))
}
