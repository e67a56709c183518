package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
)

// heldKey is the dedupe key that a transaction of a stranger holds.
const heldKey = "held"

// goodSchedules run every second beside the damaged ones.
const goodSchedules = 10

// trouble is what a run has besides faults of processes and servers: a poison job, a damaged row in each table that the tick
// or a worker reads, and a transaction that holds a dedupe key. Only what is at fault may suffer.
type trouble struct {
	dsn  string
	load *load

	strange  map[int64]bool    // jobs that were damaged: only that they end is looked at
	places   map[string]int64  // the same by their places in damages
	ids      *strings.Replacer // puts them in
	apart    []string          // rows that were set apart, by kind and id, kind and name
	rows     int               // how many these are
	late     []string          // good schedules that fell behind
	good     int               // good schedules that were there
	poison   atomic.Int64
	begun    time.Time
	refusals atomic.Int64 // of the callers of the held key
}

// prepare makes the schedules, of a run without trouble too.
func (t *trouble) prepare(ctx context.Context, store core.ScheduleStore, damaged bool) error {
	t.begun = time.Now().UTC().Truncate(time.Second)
	names := []string{}
	for i := range goodSchedules {
		names = append(names, fmt.Sprintf("good-%d", i))
	}
	if damaged {
		for name := range damagedSchedules {
			names = append(names, name)
		}
	}
	for _, name := range names {
		rule := core.ScheduleRule{Every: core.ScheduleLength(time.Second), Type: "work", Priority: "default", Missed: "all", Overlap: core.OverlapAllow}
		_, err := store.CreateSchedule(ctx, core.Schedule{Name: name, Rule: rule, State: core.ScheduleState{
			Anchor: t.begun, Accounted: t.begun, NextDue: t.begun.Add(time.Second), TZData: schedule.TZDataVersion(),
		}})
		if err != nil {
			return err
		}
	}
	if !damaged {
		return nil
	}
	return t.patiently(ctx, makeTriggers)
}

// inflict damages rows, submits the poison job and holds the key, until ctx ends.
func (t *trouble) inflict(ctx context.Context) error {
	if err := t.patiently(ctx, t.damage); err != nil {
		return err
	}
	var beside sync.WaitGroup
	beside.Go(func() { t.submitPoison(ctx) })
	beside.Go(func() {
		for ctx.Err() == nil {
			_ = t.hold(ctx) // the database goes away now and then
			wait(ctx, 100*time.Millisecond)
		}
	})
	for range 2 {
		beside.Go(func() {
			for ctx.Err() == nil {
				doc := fmt.Sprintf(`"type":"work","payload":{"ms":0,"times":0},"dedupe_key":%q`, heldKey)
				if _, ok := t.load.submit(ctx, `{"ms":0,"times":0}`, doc, heldKey); !ok {
					t.refusals.Add(1)
				}
				wait(ctx, 200*time.Millisecond)
			}
		})
	}
	beside.Wait()
	return nil
}

func (t *trouble) submitPoison(ctx context.Context) {
	for ctx.Err() == nil {
		if id, _ := t.load.submit(ctx, `{}`, `"type":"poison","payload":{},"max_attempts":5,"backoff":["200ms","1s"]`, ""); id != 0 {
			t.poison.Store(id)
			return
		}
		wait(ctx, 100*time.Millisecond)
	}
}

// hold submits under the held key in a transaction that stays open until ctx or the connection ends.
func (t *trouble) hold(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, t.dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	var duplicate bool
	if err := tx.QueryRow(ctx, "SELECT duplicate FROM belfry.submit_job('work', dedupe_key => $1)", heldKey).Scan(&duplicate); err != nil || duplicate {
		return err
	}
	for ctx.Err() == nil {
		wait(ctx, 500*time.Millisecond)
		if _, err := tx.Exec(ctx, "SELECT 1"); err != nil {
			return err
		}
	}
	return nil
}

// patiently does something to the database, again while that is down.
func (t *trouble) patiently(ctx context.Context, do func(context.Context, *pgx.Conn) error) error {
	var last error
	for ctx.Err() == nil {
		last = func() error {
			conn, err := pgx.Connect(ctx, t.dsn)
			if err != nil {
				return err
			}
			defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
			return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return do(ctx, tx.Conn()) })
		}()
		var fault *pgconn.PgError
		if last == nil || errors.As(last, &fault) && !strings.HasPrefix(fault.Code, "57") && !strings.HasPrefix(fault.Code, "40") {
			return last
		}
		wait(ctx, 200*time.Millisecond)
	}
	return errors.Join(ctx.Err(), last)
}

// end looks at what was set apart, and then takes the damage back.
func (t *trouble) end(ctx context.Context) error {
	wait(ctx, settleTime) // what was frozen or restarted last goes on
	if err := t.patiently(ctx, t.look); err != nil {
		return err
	}
	return t.patiently(ctx, t.mend)
}

// live counts the jobs that have not ended.
func (t *trouble) live(ctx context.Context) (n int, err error) {
	err = t.patiently(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT count(*) FROM belfry.jobs").Scan(&n)
	})
	return n, err
}

// settleTime is how long after the last fault the schedules may need to be up to date again.
const settleTime = 8 * time.Second

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
