package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
)

// PutType makes or replaces a definition; see core.TypeStore. Definitions and marks are written one after the other,
// so that no more than core.MaxTypes are kept.
func (s *Store) PutType(ctx context.Context, t core.JobType) (kept core.JobType, made bool, err error) {
	a := s.args(9).Text(t.Name).Text(string(t.Target)).Int8(t.Timeout.Microseconds()).Int8(int64(t.MaxAttempts))
	wire.Int8s(a, t.Backoff, func(d *time.Duration) int64 { return d.Microseconds() }).Int8(core.MaxTypes).Int8(t.ExpectWithin.Microseconds()).
		Int8(t.ExpiresAfter.Microseconds())
	err = s.write(ctx, "put type", "type "+t.Name, s.guard(glanceWait), s.sql.call("lock_types", nil, nil),
		s.sql.call("put_type", a, func(r wire.Row) error {
			kept, made = jobType(r), r.Bool(typeWidth)
			return nil
		}), s.clearTypeAlert(t.Name))
	if err == nil && kept.Name == "" {
		err = fmt.Errorf("postgres: put type: %w", core.TooManyTypes())
	}
	return kept, made, err
}

// GetType returns a definition.
func (s *Store) GetType(ctx context.Context, name string) (t core.JobType, err error) {
	err = s.read(ctx, "get type", s.guard(glanceWait), s.sql.call("get_type", wire.NewArgs(1).Text(name), func(r wire.Row) error {
		t = jobType(r)
		return nil
	}))
	if err == nil && !t.Defined {
		err = wrap("get type", core.ErrNotFound)
	}
	return t, err
}

// ListTypes returns definitions by name.
func (s *Store) ListTypes(ctx context.Context, after string, limit int) ([]core.JobType, error) {
	return s.types(ctx, "list types", s.sql.call("list_types", wire.NewArgs(2).Text(after).Int8(int64(limit)), nil))
}

// Types returns every definition and every mark.
func (s *Store) Types(ctx context.Context) ([]core.JobType, error) {
	return s.types(ctx, "types", s.sql.call("types", nil, nil))
}

func (s *Store) types(ctx context.Context, act string, call wire.Call) (types []core.JobType, err error) {
	call.Each = func(r wire.Row) error {
		types = append(types, jobType(r))
		return nil
	}
	err = s.repeat(ctx, act, s.guard(s.opts.LockTimeout), call)
	return types, err
}

// DeleteType removes a definition.
func (s *Store) DeleteType(ctx context.Context, name string) error {
	found := false
	err := s.write(ctx, "delete type", "type "+name, s.guard(glanceWait), s.sql.call("delete_type", wire.NewArgs(1).Text(name), func(wire.Row) error {
		found = true
		return nil
	}), s.clearTypeAlert(name))
	if err == nil && !found {
		err = wrap("delete type", core.ErrNotFound)
	}
	return err
}

// MarkDelivered notes types of jobs that bring a target of their own: all, or none where they would be too many.
func (s *Store) MarkDelivered(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	a := wire.Texts(wire.NewArgs(2), names, func(name *string) string { return *name }).Int8(core.TypesBound(names))
	enough := false
	subject := ""
	if len(names) == 1 {
		subject = "type " + names[0]
	}
	err := s.write(ctx, "mark delivered", subject, s.guard(glanceWait), s.sql.call("lock_types", nil, nil),
		s.sql.call("mark_delivered", a, func(r wire.Row) error {
			enough = r.Bool(0)
			return nil
		}))
	if err == nil && !enough {
		err = fmt.Errorf("postgres: mark delivered: %w", core.TooManyTypes())
	}
	return err
}

// clearTypeAlert is a statement of its own in the transaction that changed a definition: it sees an alert that a watch,
// which holds the type's row, raised just before.
func (s *Store) clearTypeAlert(name string) wire.Call {
	return s.sql.call("clear_type_alert", s.args(2).Text(core.AlertTypeMissed).Text(name), nil)
}

// WatchTypes looks for types without a success for too long; see core.ScheduleStore. A type that raises an error is named and
// left.
func (s *Store) WatchTypes(ctx context.Context) error {
	err := s.watchTypes(ctx, true, nil)
	if !errors.Is(err, core.ErrRow) {
		return err
	}
	var types []string
	err = s.read(ctx, "watch types", s.sql.call("expecting_types", nil, func(r wire.Row) error {
		types = append(types, r.Text(0))
		return nil
	}))
	if err != nil {
		return err
	}
	return apart.Halve(ctx, types, func(part []string) error { return s.watchTypes(ctx, false, part) }, func(typ string, err error) error {
		return s.SetApart(ctx, []core.RowFault{{Kind: core.ApartType, Name: typ, Act: "watch", Error: faultText(err)}})
	})
}

func (s *Store) watchTypes(ctx context.Context, all bool, types []string) error {
	a := wire.Texts(s.args(3).Text(core.AlertTypeMissed).Bool(all), types, func(t *string) string { return *t })
	return s.repeat(ctx, "watch types", s.guard(s.opts.LockTimeout), s.sql.call("watch_types", a, nil))
}

// The columns of {definition}.
const (
	typeColumns = `type, delivered, defined_at, updated_at, target, timeout, max_attempts, backoff, expect_within, expires_after`
	typeWidth   = 10 // the first column after them
)

// jobType reads the columns of {definition}.
func jobType(r wire.Row) core.JobType {
	t := core.JobType{
		Name: r.Text(0), Delivered: r.Bool(1), Defined: !r.Null(2), CreatedAt: r.Time(2), UpdatedAt: r.Time(3),
		Target: r.Bytes(4), Timeout: duration(r.Int(5)), MaxAttempts: int(r.Int(6)), ExpectWithin: duration(r.Int(8)),
		ExpiresAfter: duration(r.Int(9)),
	}
	if !r.Null(7) {
		for _, us := range r.Ints(7) {
			t.Backoff = append(t.Backoff, duration(us))
		}
	}
	return t
}
