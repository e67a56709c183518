package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

const (
	faultWindow = 256             // rows of a lane that are tried one by one, in a round
	faultRounds = 4               // of these in one call; what is left comes with the next
	laneClosed  = 2 * time.Second // for so long nothing is claimed of a lane in which they were not enough
	untoldApart = 100             // rows told at once
	apartKept   = time.Minute     // rows that were mended are forgotten so long after
)

// apartOver is how long after retry_at a row still counts as set apart, by its act; see core.ApartOver. apartAgain is the same for one
// that has just been met again: its job is there.
var (
	apartOver  = apartOverIf(" AND EXISTS (SELECT FROM belfry.jobs j WHERE j.id = row_id)", " AND EXISTS (SELECT FROM belfry.jobs j WHERE j.id = row_id AND j.status = 2)", "act")
	apartAgain = apartOverIf("", "", "excluded.act")
)

func apartOverIf(lives, queued, act string) string {
	return fmt.Sprintf(`CASE WHEN %[1]s = '%[2]s' THEN interval '%[3]d s'
    WHEN %[1]s = '%[4]s'%[5]s OR %[1]s IN ('%[6]s', '%[7]s')%[8]s THEN interval '%[9]d s'
    ELSE interval '%[10]d s' END`,
		act, core.ActDrop, core.ApartOverDrop/time.Second, core.ActFinish, lives, core.ActStart, core.ActGiveBack, queued,
		core.ApartOverJob/time.Second, core.ApartOver/time.Second)
}

// SetApart sets rows apart; see core.SetsApart.
func (s *Store) SetApart(ctx context.Context, faults []core.RowFault) error {
	if len(faults) == 0 {
		return nil
	}
	a := s.args(9)
	wire.Texts(a, faults, func(f *core.RowFault) string { return f.Kind })
	wire.Int8s(a, faults, func(f *core.RowFault) int64 { return f.ID })
	wire.Texts(a, faults, func(f *core.RowFault) string { return f.Name })
	wire.Texts(a, faults, func(f *core.RowFault) string { return f.About })
	wire.Texts(a, faults, func(f *core.RowFault) string { return f.Act })
	wire.Texts(a, faults, func(f *core.RowFault) string { return core.CleanText(f.Error, core.MaxErrorBytes) })
	a.Interval(core.ApartFirst).Interval(core.ApartLongest).Int8(core.ApartMax)
	return s.run(ctx, "set apart", s.guard(s.opts.LockTimeout), s.sql.call("set_apart", a, nil))
}

// TellApart returns rows that were set apart since the last call; see core.TickStore.
func (s *Store) TellApart(ctx context.Context) (faults []core.RowFault, err error) {
	err = s.run(ctx, "tell apart", s.guard(s.opts.LockTimeout), s.sql.call("tell_apart", wire.NewArgs(1).Int8(untoldApart), func(r wire.Row) error {
		faults = append(faults, rowFault(r))
		return nil
	}))
	slices.SortFunc(faults, func(a, b core.RowFault) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return faults, err
}

// Apart lists rows that are set apart; see core.StatsStore.
func (s *Store) Apart(ctx context.Context, limit int) (faults []core.RowFault, err error) {
	a := s.args(1).Int8(int64(limit))
	err = s.read(ctx, "list apart", s.guard(glanceWait), s.sql.call("list_apart", a, func(r wire.Row) error {
		faults = append(faults, rowFault(r))
		return nil
	}))
	return faults, err
}

// NameDamaged names rows that nothing is ever done with; see core.TickStore.
func (s *Store) NameDamaged(ctx context.Context) error {
	var faults []core.RowFault
	err := s.run(ctx, "name damaged", s.guard(s.opts.LockTimeout), s.sql.call("name_damaged", wire.NewArgs(1).Int8(core.MaxDamagedNamed), func(r wire.Row) error {
		faults = append(faults, core.RowFault{Kind: core.ApartDamaged, Name: r.Text(0), About: r.Text(1), Act: r.Text(2), Error: r.Text(3)})
		return nil
	}))
	if err != nil {
		return err
	}
	return s.SetApart(ctx, faults)
}

func rowFault(r wire.Row) core.RowFault {
	return core.RowFault{
		Kind: r.Text(0), ID: r.Int(1), Name: r.Text(2), About: r.Text(3), Act: r.Text(4), Error: r.Text(5), Tries: int(r.Int(6)), Since: r.Time(7), RetryAt: r.Time(8),
	}
}

// faultsOf tries jobs one by one, without leaving a trace, and returns those that raise an error. name says what of the
// three things that row_faults knows is tried, act what is being done.
func (s *Store) faultsOf(ctx context.Context, ids []int64, name, act string) (faults []core.RowFault, err error) {
	for part := range slices.Chunk(ids, faultWindow) {
		a := wire.NewArgs(2)
		wire.Int8s(a, part, func(id *int64) int64 { return *id })
		err := s.run(ctx, act, s.guard(s.opts.LockTimeout), s.sql.call("row_faults", a.Text(name), func(r wire.Row) error {
			if rowFaultCode(r.Text(2), true) {
				faults = append(faults, core.RowFault{Kind: core.ApartJob, ID: r.Int(0), About: r.Text(1), Act: act, Error: r.Text(3) + " (SQLSTATE " + r.Text(2) + ")"})
			}
			return nil
		}))
		if err != nil {
			return nil, err
		}
	}
	return faults, nil
}

// setApartJob sets one job apart for an error that was raised when it was alone.
func (s *Store) setApartJob(ctx context.Context, id int64, about, act string, err error) error {
	return s.SetApart(ctx, []core.RowFault{{Kind: core.ApartJob, ID: id, About: about, Act: act, Error: faultText(err)}})
}

// faultText is what the server said, without what was being done.
func faultText(err error) string {
	var fault *rowError
	if errors.As(err, &fault) {
		return fault.text
	}
	return err.Error()
}
