package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/belfry-dev/belfry/core"
)

// PutType makes or replaces a definition.
func (s *Store) PutType(ctx context.Context, t core.JobType) (kept core.JobType, made bool, err error) {
	err = s.writer.run(ctx, func(x *tx) error {
		before, err := x.row("get_type", t.Name)
		if err != nil {
			return err
		}
		old := before.jobType()
		if !old.Defined && !old.Delivered {
			if err := x.roomForTypes(1); err != nil {
				return err
			}
		}
		_, err = x.exec("put_type", t.Name, x.now, textOrNull(t.Target), t.Timeout.Microseconds(), int64(t.MaxAttempts), encodeBackoff(t.Backoff), t.ExpectWithin.Microseconds(),
			t.ExpiresAfter.Microseconds())
		if err == nil && old.ExpectWithin.Microseconds() != t.ExpectWithin.Microseconds() {
			_, err = x.exec("clear_alert", core.AlertTypeMissed, "", t.Name, x.now)
		}
		if err != nil {
			return err
		}
		after, err := x.row("get_type", t.Name)
		kept, made = after.jobType(), !old.Defined
		return err
	})
	if err != nil {
		return core.JobType{}, false, wrap("put type", err)
	}
	return kept, made, nil
}

// roomForTypes refuses n more types where they would be more than can be kept.
func (t *tx) roomForTypes(n int) error {
	kept, _, err := t.number("count_types")
	if err == nil && n > 0 && kept+int64(n) > core.MaxTypes {
		err = core.TooManyTypes()
	}
	return err
}

// GetType returns a definition.
func (s *Store) GetType(ctx context.Context, name string) (core.JobType, error) {
	var t core.JobType
	err := s.readers.read(ctx, func(c *conn) error {
		return c.query(ctx, "get_type", func(r row) error {
			t = r.jobType()
			return nil
		}, name)
	})
	if err == nil && !t.Defined {
		t, err = core.JobType{}, core.ErrNotFound
	}
	return t, wrap("get type", err)
}

// ListTypes returns definitions by name.
func (s *Store) ListTypes(ctx context.Context, after string, limit int) ([]core.JobType, error) {
	types, err := s.readTypes(ctx, "list_types", after, int64(limit))
	return types, wrap("list types", err)
}

// Types returns every definition and every mark.
func (s *Store) Types(ctx context.Context) ([]core.JobType, error) {
	types, err := s.readTypes(ctx, "types")
	return types, wrap("types", err)
}

func (s *Store) readTypes(ctx context.Context, name string, args ...any) (types []core.JobType, err error) {
	err = s.readers.read(ctx, func(c *conn) error {
		return c.query(ctx, name, func(r row) error {
			types = append(types, r.jobType())
			return nil
		}, args...)
	})
	return types, err
}

// DeleteType removes a definition.
func (s *Store) DeleteType(ctx context.Context, name string) error {
	return wrap("delete type", s.writer.run(ctx, func(t *tx) error {
		n, err := t.exec("delete_type", name)
		if err == nil && n == 0 {
			err = core.ErrNotFound
		}
		if err == nil {
			_, err = t.exec("clear_alert", core.AlertTypeMissed, "", name, t.now)
		}
		return err
	}))
}

// MarkDelivered notes types of jobs that bring a target of their own: all, or none where they would be too many.
func (s *Store) MarkDelivered(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	list, err := json.Marshal(names)
	if err != nil {
		return fmt.Errorf("sqlite: mark delivered: %w", err)
	}
	return wrap("mark delivered", s.writer.run(ctx, func(t *tx) error {
		fresh := make(map[string]bool)
		for _, name := range names {
			known, err := t.row("get_type", name)
			if err != nil {
				return err
			}
			if k := known.jobType(); !k.Defined && !k.Delivered && !core.Reserved(name) {
				fresh[name] = true
			}
		}
		if err := t.roomForTypes(len(fresh)); err != nil {
			return err
		}
		_, err = t.exec("mark_delivered", string(list))
		return err
	}))
}

// jobType reads a row of get_type; no row reads as nothing known.
func (r row) jobType() core.JobType {
	if r == nil {
		return core.JobType{}
	}
	_, defined := r[2].(int64)
	return core.JobType{
		Name: r.text(0), Delivered: r.int(1) != 0, Defined: defined, CreatedAt: r.time(2), UpdatedAt: r.time(3),
		Target: r.raw(4), Timeout: duration(r.int(5)), MaxAttempts: int(r.int(6)), Backoff: backoffOf(r.raw(7)),
		ExpectWithin: duration(r.int(8)), ExpiresAfter: duration(r.int(9)),
	}
}
