package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
	"github.com/belfry-dev/belfry/core/schedule"
)

// CreateSchedule keeps a new schedule; see core.ScheduleStore.
func (s *Store) CreateSchedule(ctx context.Context, sched core.Schedule) (core.Schedule, error) {
	rule, err := json.Marshal(sched.Rule)
	if err != nil {
		return core.Schedule{}, fmt.Errorf("postgres: create schedule: %w", err)
	}
	st := &sched.State
	made := false
	a := s.args(17).Text(sched.Tenant).Text(sched.Name).Text(sched.Rule.Type).Bool(sched.Rule.Paused).Bool(sched.Rule.Exclusive()).JSON(rule).
		Time(st.Anchor).Time(st.Accounted).Time(st.NextDue).Time(st.PausedAt).Text(st.TZData).Time(st.ExpectBy).Time(st.Expected).JSON(sched.Rule.Payload).
		Time(sched.CreatedAt).Text(st.ZoneMark)
	err = s.write(ctx, "create schedule", "schedule "+sched.Tenant+"\x00"+sched.Name, s.guard(glanceWait), s.sql.call("create_schedule", a, func(r wire.Row) error {
		made = true
		sched.ID, sched.Version = r.Int(0), 1
		sched.CreatedAt = r.Time(1)
		sched.UpdatedAt = sched.CreatedAt
		return nil
	}))
	if err == nil && !made {
		err = wrap("create schedule", fmt.Errorf("%w: there is a schedule of that name", core.ErrConflict))
	}
	return sched, err
}

// GetSchedule reads one schedule.
func (s *Store) GetSchedule(ctx context.Context, tenant, name string) (core.Schedule, error) {
	list, err := s.schedules(ctx, 0, "get schedule", s.sql.call, "get_schedule", wire.NewArgs(2).Text(tenant).Text(name))
	if err == nil && len(list) == 0 {
		err = wrap("get schedule", core.ErrNotFound)
	}
	if err != nil {
		return core.Schedule{}, err
	}
	return list[0], nil
}

// ListSchedules reads schedules by tenant and name. Of one that cannot be read no more is known than its names.
func (s *Store) ListSchedules(ctx context.Context, q core.ScheduleQuery) ([]core.Schedule, error) {
	name, a := "list_schedules", wire.NewArgs(6).TextOrNull(q.Tenant).Text(q.Type).BoolOrNull(q.Paused).Text(q.AfterTenant).Text(q.AfterName).Int8(int64(q.Limit))
	if q.TZDataNot != "" {
		name, a = "stale_schedules", wire.NewArgs(2).Text(q.TZDataNot).Int8(int64(q.Limit))
	}
	list, err := s.schedules(ctx, q.Bytes, "list schedules", s.sql.call, name, a)
	if !errors.Is(err, core.ErrRow) {
		return list, err
	}
	list = nil
	err = s.run(ctx, "list schedules", s.guard(s.opts.LockTimeout), s.sql.call(name+idsSuffix, a, func(r wire.Row) error {
		list = append(list, core.Schedule{ID: r.Int(0), Name: r.Text(1), Tenant: r.Text(2)})
		return nil
	}))
	if err != nil {
		return nil, err
	}
	at := make(map[int64]int, len(list))
	ids := make([]int64, len(list))
	for i := range list {
		at[list[i].ID], ids[i] = i, list[i].ID
	}
	err = apart.Halve(ctx, ids, func(part []int64) error {
		read, err := s.schedules(ctx, 0, "list schedules", s.sql.call, "listed_schedules", idArgs(part))
		for _, one := range read {
			list[at[one.ID]] = one
		}
		return err
	}, func(id int64, err error) error {
		return s.SetApart(ctx, []core.RowFault{{Kind: core.ApartSchedule, ID: id, About: list[at[id]].Name, Act: "read", Error: faultText(err)}})
	})
	return list, err
}

func (s *Store) schedules(ctx context.Context, bytes int, act string, call func(string, *wire.Args, func(wire.Row) error) wire.Call, name string, a *wire.Args) (list []core.Schedule, err error) {
	size := 0
	err = s.read(ctx, act, s.guard(glanceWait), call(name, a, func(r wire.Row) error {
		if bytes > 0 && size >= bytes {
			return nil
		}
		one := scheduleOf(r)
		size += one.Size()
		list = append(list, one)
		return nil
	}))
	return list, err
}

// DeleteSchedule removes a schedule and its ledger.
func (s *Store) DeleteSchedule(ctx context.Context, tenant, name string, version int64) error {
	fault := core.ErrNotFound
	a := s.args(3).Text(tenant).Text(name).Int8(version)
	lock := s.sql.call("lock_schedule", wire.NewArgs(2).Text(tenant).Text(name), nil)
	err := s.write(ctx, "delete schedule", "schedule "+tenant+"\x00"+name, s.guard(glanceWait), lock, s.sql.call("delete_schedule", a, func(r wire.Row) error {
		if fault = nil; !r.Bool(1) {
			fault = core.ErrStale
		}
		return nil
	}))
	if err == nil {
		err = wrap("delete schedule", fault)
	}
	return err
}

// ActiveRuns lists the live jobs of a schedule.
func (s *Store) ActiveRuns(ctx context.Context, tenant, name string) (ids []int64, err error) {
	err = s.repeat(ctx, "active runs", s.guard(s.opts.LockTimeout), s.sql.call("active_runs", wire.NewArgs(2).Text(tenant).Text(name), func(r wire.Row) error {
		ids = append(ids, r.Int(0))
		return nil
	}))
	return ids, err
}

// Occurrences reads a ledger, newest first.
func (s *Store) Occurrences(ctx context.Context, q core.OccurrenceQuery) (list []core.Occurrence, err error) {
	a := wire.NewArgs(5).Int8(q.ScheduleID).Time(q.From).Time(q.Before).Text(q.Outcome).Int8(int64(q.Limit))
	err = s.read(ctx, "occurrences", s.guard(glanceWait), s.sql.call("occurrences", a, func(r wire.Row) error {
		list = append(list, core.Occurrence{
			From: r.Time(0), To: r.Time(1), Count: r.Int(2), Outcome: r.Text(3), Reason: r.Text(4), JobID: r.Int(5), At: r.Time(6),
		})
		return nil
	}))
	return list, err
}

// Succeeded looks for the first success of each schedule and the newest.
func (s *Store) Succeeded(ctx context.Context, asks []core.SuccessQuery) ([]core.Success, error) {
	found := make([]core.Success, len(asks))
	a := wire.NewArgs(4)
	wire.Texts(a, asks, func(q *core.SuccessQuery) string { return q.Tenant })
	wire.Texts(a, asks, func(q *core.SuccessQuery) string { return q.Name })
	wire.Times(a, asks, func(q *core.SuccessQuery) time.Time { return q.Since })
	var earliest time.Time
	for i := range asks {
		if since := asks[i].Since; earliest.IsZero() || !since.IsZero() && since.Before(earliest) {
			earliest = since
		}
	}
	a.Time(earliest)
	err := s.repeat(ctx, "succeeded", s.guard(s.opts.LockTimeout), s.sql.call("succeeded", a, func(r wire.Row) error {
		found[r.Int(0)-1] = core.Success{First: r.Time(1), Newest: r.Time(2)}
		return nil
	}))
	return found, err
}

// Places of the columns of {schedule}.
const (
	schedID = iota
	schedTenant
	schedName
	schedVersion
	schedRule
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
	schedPayload
	schedMoves
	schedZoneMark
	schedUnreadable
	schedType
	schedPaused
	schedActive // the first column after {schedule}
)

// scheduleOf reads the columns of {schedule} and whether a run is active. A damaged rule is a Fault.
func scheduleOf(r wire.Row) core.Schedule {
	s := core.Schedule{
		ID: r.Int(schedID), Tenant: r.Text(schedTenant), Name: r.Text(schedName), Version: r.Int(schedVersion), Moves: r.Int(schedMoves),
		CreatedAt: r.Time(schedCreatedAt), UpdatedAt: r.Time(schedUpdatedAt), Active: r.Bool(schedActive),
		State: core.ScheduleState{
			Anchor: r.Time(schedAnchor), Accounted: r.Time(schedAccounted), NextDue: r.Time(schedNextDue),
			PausedAt: r.Time(schedPausedAt), TZData: r.Text(schedTZData),
			ExpectBy: r.Time(schedExpectBy), Expected: r.Time(schedExpected), Alerted: r.Bool(schedAlerted),
			ZoneMark: r.Text(schedZoneMark), Unreadable: r.Bool(schedUnreadable),
		},
	}
	if json.Unmarshal(r[schedRule], &s.Rule) != nil {
		s.Rule, s.Fault = core.ScheduleRule{Type: r.Text(schedType), Paused: r.Bool(schedPaused)}, schedule.DamagedRule
	}
	s.Rule.Payload = r.Bytes(schedPayload)
	if waiting := new(core.Run); !r.Null(schedWaiting) && json.Unmarshal(r[schedWaiting], waiting) == nil {
		s.State.Waiting = waiting
	}
	return s
}

// One that is due since ever, as somebody wrote it, is due: it must not read as one that is never due.
const scheduleColumns = `s.id, s.tenant, s.name, s.version, s.rule, s.created_at, s.updated_at, s.anchor, s.accounted,
    CASE WHEN s.next_due = '-infinity' THEN 'epoch' ELSE s.next_due END, s.waiting,
    s.paused_at, s.tz_data, CASE WHEN s.expect_by = '-infinity' THEN 'epoch' ELSE s.expect_by END, s.expected, s.alerted, s.payload, s.moves,
    s.zone_mark, s.unreadable, s.type, s.paused`
