package sqlite

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	modernc "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/belfry-dev/belfry/core"
)

const (
	untoldApart   = 100         // rows told at once
	apartKept     = time.Minute // rows that were mended are forgotten so long after
	inFlightTried = 5_000       // rows in flight that are tried one by one where one of them raises an error
	undoneTried   = 100         // rows of one call that may undo its transaction, one after the other
)

// errKept is the error of rows that a trigger keeps as they are.
var errKept = errors.New("a trigger keeps the row as it is")

// isRowFault reports whether an error is of what is in a row, or of what somebody's trigger or constraint says of it, so
// that the same without that row may succeed.
func isRowFault(err error) bool {
	var fault *modernc.Error
	if !errors.As(err, &fault) || errors.As(err, new(*prepareError)) {
		return errors.Is(err, errKept)
	}
	switch fault.Code() & 0xff {
	case lib.SQLITE_CONSTRAINT, lib.SQLITE_CORRUPT, lib.SQLITE_MISMATCH, lib.SQLITE_TOOBIG:
		return true
	case lib.SQLITE_ERROR:
		return strings.Contains(fault.Error(), "integer overflow") || strings.Contains(fault.Error(), "malformed JSON")
	}
	return false
}

// undoes reports whether an error leaves the transaction in which it came fit for nothing but to be undone: after damage
// SQLite lets nothing more be written in it.
func undoes(err error) bool {
	var fault *modernc.Error
	return errors.As(err, &fault) && fault.Code()&0xff == lib.SQLITE_CORRUPT
}

// carefully has do executed in a transaction of the writer. Where a row raises an error do is executed again, and does to
// each row alone what it does; those that raise one are set apart. do begins anew each time.
func (s *Store) carefully(ctx context.Context, do func(*tx) error) error {
	err := s.writer.run(ctx, do)
	passed := map[apartKey]bool{}
	for try := 0; isRowFault(err) && try < undoneTried; try++ {
		var guilty *core.RowFault
		err = s.writer.run(ctx, func(t *tx) error {
			t.careful, t.passed = true, passed
			err := do(t)
			guilty = t.guilty
			return err
		})
		if guilty == nil {
			break
		}
		// The row did not only fail: it undid the whole transaction. It is known now, so the next try passes over it.
		passed[apartKey{guilty.Kind, guilty.ID, guilty.Name}] = true
		if failed := s.SetApart(ctx, []core.RowFault{*guilty}); failed != nil {
			return failed
		}
	}
	return err
}

// apartKey is a row that is set apart.
type apartKey struct {
	kind string
	id   int64
	name string
}

// alone does something to one row and reports whether it was done. Where a careful operation meets an error of the row, what
// was done is undone and the row set apart.
func (t *tx) alone(of core.RowFault, do func() error) (done bool, err error) {
	if t.passed[apartKey{of.Kind, of.ID, of.Name}] {
		return false, nil
	}
	done, fault, err := t.try(do)
	if fault == nil || err != nil {
		if of.Error = errorText(fault); fault != nil {
			t.guilty = &of
		}
		return done, err
	}
	of.Error = errorText(fault)
	return false, t.setApart(&of)
}

// try does something to one row. fault is the row's error, after which the row is as it was; where the transaction as a
// whole was undone it is err too.
func (t *tx) try(do func() error) (done bool, fault, err error) {
	if !t.careful {
		err = do()
		return err == nil, nil, err
	}
	if err := t.w.exec("SAVEPOINT row"); err != nil {
		return false, nil, err
	}
	noted := maps.Clone(t.failures)
	switch err = do(); {
	case err != nil && !isRowFault(err):
		return false, nil, err
	case err != nil:
		t.failures = noted
		if undone := t.w.exec("ROLLBACK TO row"); undone != nil || undoes(err) {
			return false, err, err
		}
	}
	if released := t.w.exec("RELEASE row"); released != nil {
		return false, nil, released
	}
	return err == nil, err, nil
}

// errorText is what is told of an error: the database's own words.
func errorText(err error) string {
	var fault *modernc.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &fault):
		return fault.Error()
	}
	return err.Error()
}

// each reads rows as rows does. A careful operation reads their ids first and then each alone.
func (t *tx) each(name, act string, args ...any) ([]row, error) {
	if !t.careful {
		return t.rows(name, args...)
	}
	var found []row
	list, err := t.rows(name+idsSuffix, args...)
	for _, r := range list {
		if err != nil {
			break
		}
		_, err = t.alone(jobFault(r.int(0), r.text(1), act), func() error {
			one, err := t.rows("get_many", ids([]int64{r.int(0)}))
			found = append(found, one...)
			return err
		})
	}
	return found, err
}

func jobFault(id int64, typ, act string) core.RowFault {
	return core.RowFault{Kind: core.ApartJob, ID: id, About: typ, Act: act}
}

// bulk changes rows in flight by one statement. A careful operation that meets an error first sets those apart that raise
// one when they alone are changed; what even then fails is left, and named.
func (t *tx) bulk(name string, args ...any) error {
	change := func() error {
		_, err := t.exec(name, args...)
		return err
	}
	if done, _, err := t.try(change); done || err != nil {
		return err
	}
	list, err := t.rows("in_flight_ids", t.now, inFlightTried)
	if err != nil {
		return err
	}
	for _, r := range list {
		_, err := t.alone(jobFault(r.int(0), r.text(1), "publish"), func() error {
			_, err := t.exec("touch", r.int(0))
			return err
		})
		if err != nil {
			return err
		}
	}
	done, fault, err := t.try(change)
	if done || err != nil {
		return err
	}
	return t.setApart(&core.RowFault{Kind: core.ApartType, Name: "in flight", Act: name, Error: errorText(fault)})
}

// setApart sets one row apart within an operation.
func (t *tx) setApart(f *core.RowFault) error {
	apart, counted := t.apart[f.Kind]
	if !counted {
		var err error
		if apart, _, err = t.number("count_apart_of", f.Kind, core.ApartMax); err != nil {
			return err
		}
		if t.apart == nil {
			t.apart = map[string]int64{}
		}
	}
	_, err := t.exec("set_apart", f.Kind, f.ID, f.Name, f.About, f.Act, core.CleanText(f.Error, core.MaxErrorBytes), t.now,
		core.ApartFirst.Microseconds(), core.ApartLongest.Microseconds(), apart < core.ApartMax)
	t.apart[f.Kind] = apart + 1
	return err
}

// SetApart sets rows apart; see core.SetsApart.
func (s *Store) SetApart(ctx context.Context, faults []core.RowFault) error {
	return wrap("set apart", s.writer.run(ctx, func(t *tx) error {
		for i := range faults {
			if err := t.setApart(&faults[i]); err != nil {
				return err
			}
		}
		return nil
	}))
}

// TellApart returns rows that were set apart since the last call; see core.TickStore.
func (s *Store) TellApart(ctx context.Context) (faults []core.RowFault, err error) {
	err = s.writer.run(ctx, func(t *tx) error {
		list, err := t.rows("untold_apart", untoldApart)
		if err != nil {
			return err
		}
		faults = nil
		for _, r := range list {
			f := r.rowFault()
			if _, err := t.exec("told_apart", f.Kind, f.ID, f.Name); err != nil {
				return err
			}
			faults = append(faults, f)
		}
		return nil
	})
	slices.SortFunc(faults, func(a, b core.RowFault) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return faults, wrap("tell apart", err)
}

// Apart lists rows that are set apart; see core.StatsStore.
func (s *Store) Apart(ctx context.Context, limit int) (faults []core.RowFault, err error) {
	now := s.clock.now()
	err = s.readers.read(ctx, func(c *conn) error {
		return c.query(ctx, "list_apart", func(r row) error {
			faults = append(faults, r.rowFault())
			return nil
		}, now, limit)
	})
	return faults, wrap("list apart", err)
}

// NameDamaged names rows that nothing is ever done with; see core.TickStore.
func (s *Store) NameDamaged(ctx context.Context) error {
	var faults []core.RowFault
	err := s.readers.read(ctx, func(c *conn) error {
		faults = nil
		return c.query(ctx, "name_damaged", func(r row) error {
			faults = append(faults, core.RowFault{Kind: core.ApartDamaged, Name: r.text(0), About: r.text(1), Act: r.text(2), Error: r.text(3)})
			return nil
		}, core.MaxDamagedNamed)
	})
	if err != nil || len(faults) == 0 {
		return wrap("name damaged", err)
	}
	return s.SetApart(ctx, faults)
}

func (r row) rowFault() core.RowFault {
	return core.RowFault{
		Kind: r.text(0), ID: r.int(1), Name: r.text(2), About: r.text(3), Act: r.text(4), Error: r.text(5),
		Tries: int(r.int(6)), Since: r.time(7), RetryAt: r.time(8),
	}
}
