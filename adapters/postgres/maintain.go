package postgres

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
	"github.com/belfry-dev/belfry/core/tick"
)

const (
	historyDaysAhead  = 8
	maintainLockWait  = 100 * time.Millisecond // so that nobody queues behind maintenance for long
	detachWait        = 3 * time.Second        // for transactions that read history when a day is detached
	maintainBatch     = 1000
	maintainRounds    = 10
	rollupRetention   = 35 * 24 * time.Hour
	historyNameLayout = "job_history_20060102"
	dayLayout         = "2006-01-02"
)

// Maintain does what is due; see core.TickStore. Each step is a transaction of its own and bounded. A step that finds
// a lock taken is left for the next time, whoever then does it.
func (s *Store) Maintain(ctx context.Context, req core.MaintainRequest) (core.MaintainResult, error) {
	var result core.MaintainResult
	steps := []func(context.Context, core.MaintainRequest, *core.MaintainResult) error{
		s.mend, s.makePartitions, s.keepLedger, s.emptyOverflow, s.dropPartitions, s.dropDead, s.dropAlerts, s.dropKeys, s.dropApart, s.mergeRollups, s.dropWorkers,
	}
	var faults error
	for _, step := range steps {
		if err := step(ctx, req, &result); err != nil && !errors.Is(err, core.ErrBusy) {
			faults = errors.Join(faults, err)
		}
	}
	return result, faults
}

// mend looks at what may have changed under the store since it began: rights, and ids.
func (s *Store) mend(ctx context.Context, _ core.MaintainRequest, _ *core.MaintainResult) error {
	return errors.Join(s.checkMaintainRights(ctx), s.mendSequences(ctx))
}

// historyDay is one history table.
type historyDay struct {
	name              string
	day               time.Time
	attached, pending bool
}

func (s *Store) historyDays(ctx context.Context) (now time.Time, days []historyDay, err error) {
	err = s.run(ctx, "maintain", s.sql.call("history_days", s.args(0), func(r wire.Row) error {
		now = r.Time(0)
		if name := r.Text(1); name != "" {
			if day, err := time.Parse(historyNameLayout, name); err == nil {
				days = append(days, historyDay{name, day, r.Bool(2), r.Bool(3)})
			}
		}
		return nil
	}))
	return now, days, err
}

func (s *Store) makePartitions(ctx context.Context, req core.MaintainRequest, result *core.MaintainResult) error {
	now, days, err := s.historyDays(ctx)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, d := range days {
		there[d.day.Format(dayLayout)] = true
	}
	for ahead := range cmp.Or(req.DaysAhead, historyDaysAhead) + 1 {
		if day := now.AddDate(0, 0, ahead).Format(dayLayout); !there[day] {
			if err := s.makeDay(ctx, day, result); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) makeDay(ctx context.Context, day string, result *core.MaintainResult) error {
	return s.run(ctx, "maintain", s.guard(maintainLockWait), s.sql.call("make_history_day", wire.NewArgs(1).Text(day), func(r wire.Row) error {
		if r.Bool(0) {
			result.PartitionsMade++
		}
		return nil
	}))
}

// ledgerMonthsAhead is how many months of the ledger are kept ready beyond the present one.
const ledgerMonthsAhead = 2

// keepLedger makes the ledger's months ahead and drops those past retention.
func (s *Store) keepLedger(ctx context.Context, req core.MaintainRequest, _ *core.MaintainResult) error {
	calls := []wire.Call{s.guard(maintainLockWait), s.sql.call("make_ledger_months", s.args(1).Int8(ledgerMonthsAhead), nil)}
	if req.LedgerRetention > 0 {
		calls = append(calls, s.sql.call("drop_ledger_months", s.args(1).Interval(req.LedgerRetention), nil))
	}
	return s.run(ctx, "maintain", calls...)
}

// emptyOverflow moves rows that found no partition into one made for their day, unless they are past retention.
func (s *Store) emptyOverflow(ctx context.Context, req core.MaintainRequest, result *core.MaintainResult) error {
	if req.HistoryRetention > 0 {
		if _, err := s.batches(ctx, "drop_overflow", req.HistoryRetention); err != nil {
			return err
		}
	}
	for range maintainRounds {
		var left int
		var text string
		err := s.run(ctx, "maintain", s.sql.call("count_overflow", wire.NewArgs(1).Int8(core.CountCap), func(r wire.Row) error {
			left, text = int(r.Int(0)), r.Text(1)
			return nil
		}))
		if result.Overflow = left; err != nil || left == 0 {
			return err
		}
		if err := s.moveDay(ctx, text, result); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) moveDay(ctx context.Context, text string, result *core.MaintainResult) error {
	day, bad := time.Parse(dayLayout, text)
	if bad != nil {
		return nil //nolint:nilerr // an instant beyond the calendar: damaged by hand, left where it is
	}
	if err := s.makeDay(ctx, text, result); err != nil {
		return err
	}
	a := wire.NewArgs(3).Time(day).Time(day.AddDate(0, 0, 1)).Int8(maintainBatch * maintainRounds)
	return s.run(ctx, "maintain", s.guard(maintainLockWait), s.sql.call("move_overflow", a, nil))
}

// dropPartitions drops the days that lie wholly before the retention.
func (s *Store) dropPartitions(ctx context.Context, req core.MaintainRequest, result *core.MaintainResult) error {
	if req.HistoryRetention <= 0 {
		return nil
	}
	now, days, err := s.historyDays(ctx)
	if err != nil {
		return err
	}
	var faults error
	for _, d := range days {
		if d.day.AddDate(0, 0, 1).After(now.Add(-req.HistoryRetention)) {
			continue
		}
		err := s.dropDay(ctx, d)
		if err == nil {
			result.PartitionsDropped++
		} else if !leaveToOthers(err) {
			faults = errors.Join(faults, wrap("maintain", err))
		}
	}
	return faults
}

// dropDay detaches a day and drops it. Detaching waits for transactions that use the history and blocks none; when
// they take too long it stays half done, and the next time it is completed.
func (s *Store) dropDay(ctx context.Context, d historyDay) error {
	detach := "ALTER TABLE belfry.job_history DETACH PARTITION belfry." + d.name
	switch {
	case d.pending:
		if err := s.send(ctx, s.guard(maintainLockWait), wire.Call{SQL: detach + " FINALIZE"}); err != nil {
			return err
		}
	case d.attached:
		if err := s.detach(ctx, detach+" CONCURRENTLY"); err != nil {
			return err
		}
	}
	return s.send(ctx, s.guard(maintainLockWait), wire.Call{SQL: "DROP TABLE belfry." + d.name})
}

// detach runs the statement, which stands in no transaction, with more patience than a session of the store's has.
func (s *Store) detach(ctx context.Context, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*detachWait)
	defer cancel()
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	pg := conn.Conn().PgConn()
	if !wire.IsSession(pg) {
		return wire.Run(ctx, pg, wire.Call{SQL: statement})
	}
	if err := pg.Exec(ctx, "SET lock_timeout = '"+milliseconds(detachWait)+"'").Close(); err != nil {
		return err
	}
	err = wire.Run(ctx, pg, wire.Call{SQL: statement})
	return errors.Join(err, pg.Exec(ctx, "SET lock_timeout = '"+milliseconds(sessionLockWait)+"'").Close())
}

// leaveToOthers reports whether dropping a day failed because it is in use, or because another process drops it too.
func leaveToOthers(err error) bool {
	for _, code := range []string{codeLockNotAvailable, codeDeadlock, codeQueryCanceled, codeUndefinedTable, codeWrongObject, codeNotInState} {
		if hasCode(err, code) {
			return true
		}
	}
	return errors.Is(err, context.DeadlineExceeded)
}

func (s *Store) dropDead(ctx context.Context, req core.MaintainRequest, result *core.MaintainResult) (err error) {
	if req.DeadRetention > 0 {
		result.DeadDropped, err = s.batches(ctx, "drop_dead", req.DeadRetention)
	}
	return err
}

func (s *Store) dropAlerts(ctx context.Context, _ core.MaintainRequest, _ *core.MaintainResult) error {
	_, err := s.batches(ctx, "drop_alerts", tick.AlertRetention)
	return err
}

// batches sends a statement that deletes what is past a retention until it finds no full batch, a few times at most. A row
// that cannot be deleted stays, and is named.
func (s *Store) batches(ctx context.Context, name string, retention time.Duration) (total int, err error) {
	return apart.Skim(maintainBatch, maintainRounds, func(n, skip int) (done int, err error) {
		a := s.args(3).Interval(retention).Int8(int64(n)).Int8(int64(skip))
		err = s.run(ctx, "maintain", s.guard(maintainLockWait), s.sql.call(name, a, func(wire.Row) error {
			done++
			return nil
		}))
		return done, err
	}, func(skip int, err error) error {
		fault := core.RowFault{Kind: keptKinds[name], Act: core.ActDrop, Error: faultText(err)}
		a := s.args(3).Interval(retention).Int8(1).Int8(int64(skip))
		err = s.run(ctx, "maintain", s.guard(maintainLockWait), s.sql.call(name+idsSuffix, a, func(r wire.Row) error {
			if fault.ID, err = strconv.ParseInt(r.Text(0), 10, 64); err != nil {
				fault.Name = r.Text(0) // where it is, of what has no id
			}
			return nil
		}))
		if err != nil {
			return err
		}
		return s.SetApart(ctx, []core.RowFault{fault})
	})
}

// keptKinds are the kinds of rows that statements of batches delete.
var keptKinds = map[string]string{
	"drop_dead": core.ApartDead, "drop_overflow": core.ApartDone, "drop_alerts": core.ApartAlert,
	"drop_keys": "idempotency_key", "drop_rollups": "rollup", "drop_apart": "set_apart",
}

// dropApart forgets rows that were set apart and are mended.
func (s *Store) dropApart(ctx context.Context, _ core.MaintainRequest, _ *core.MaintainResult) error {
	_, err := s.batches(ctx, "drop_apart", apartKept)
	return err
}

func (s *Store) mergeRollups(ctx context.Context, _ core.MaintainRequest, result *core.MaintainResult) error {
	for range maintainRounds {
		n := 0
		err := s.run(ctx, "maintain", s.guard(maintainLockWait), s.sql.call("merge_rollups", s.args(1).Int8(maintainBatch), func(r wire.Row) error {
			n = int(r.Int(0))
			return nil
		}))
		if result.RollupsMerged += n; err != nil {
			return err
		}
		if n < maintainBatch {
			break
		}
	}
	a := s.args(2).Interval(core.TypeIdle).Int8(maintainBatch)
	if err := s.run(ctx, "maintain", s.guard(maintainLockWait), s.sql.call("fold_totals", a, nil)); err != nil {
		return err
	}
	_, err := s.batches(ctx, "drop_rollups", rollupRetention)
	return err
}

// dropWorkers forgets workers that are long gone.
func (s *Store) dropWorkers(ctx context.Context, _ core.MaintainRequest, _ *core.MaintainResult) error {
	return s.run(ctx, "maintain", s.guard(maintainLockWait), s.sql.call("drop_workers", s.args(2).Interval(core.FunctionKeep).Interval(core.GoneKeep), nil))
}
