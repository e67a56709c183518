package enginetest

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
)

// values are what somebody may have written into a column, by its type and whether it may be null.
var values = map[string][]string{
	"bigint":                   {"9223372036854775807", "-9223372036854775808", "-1", "0"},
	"timestamp with time zone": {"'infinity'", "'-infinity'", "'20231-01-01'", "'0001-01-01'", "'4713-01-01 BC'"},
	"text":                     {"''", "repeat('é', 3000)", "'Europe/Atlantis'"},
	"json":                     {"'{}'", "'[]'", "'null'", "'1'", `'"x"'`, `'{"schedule":"x","scheduled_for":"0000-00-00"}'`, `'{"every":"0s"}'`, `'{"cron":"* * * * *","time_zone":"Europe/Atlantis"}'`, `'{"every":"-5s","missed":"all","missed_limit":-1}'`},
	"boolean":                  {"true", "false"},
	// SQLite
	"INTEGER": {"9223372036854775807", "-9223372036854775807", "-62135596800000000", "253402300800000000", "-1", "0"},
	"TEXT":    {"''", "'{}'", "'[]'", "'null'", "'1'", "'not json'", `'{"every":"0s"}'`, `'{"cron":"* * * * *","time_zone":"Europe/Atlantis"}'`},
}

type column struct {
	name, typ string
	null      bool
}

// hurt is a database whose schedules can be damaged by hand.
type hurt struct {
	store   core.Store
	columns []column
	exec    func(sql string, args ...any) error
}

// Whatever a column of a schedule holds, the schedules beside it go on, and every pass succeeds. What raises an error is
// named.
func TestADamagedScheduleStopsNoOther(t *testing.T) {
	for name, open := range map[string]func(*testing.T) hurt{"PostgreSQL": hurtPostgres, "SQLite": hurtSQLite} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			var told []core.TickEvent
			ticker := newTicker(t, h.store, core.TickerOptions{OnEvent: func(e core.TickEvent) {
				if e.Kind == core.RowSetApart || e.Kind == core.ScheduleBroken {
					told = append(told, e)
				}
			}})
			pass := func(what string) {
				t.Helper()
				if _, err := ticker.Tick(t.Context()); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			var good []core.Schedule
			for i := range 10 {
				good = append(good, keepSchedule(t, h.store, fmt.Sprintf("good-%d", i)))
			}
			pass("before")
			damages := 0
			for _, c := range h.columns {
				list := values[c.typ]
				if c.null {
					list = append(list[:len(list):len(list)], "NULL")
				}
				for _, value := range list {
					what := c.name + " = " + value
					bad := keepSchedule(t, h.store, fmt.Sprintf("bad-%d", damages))
					if err := h.exec(fmt.Sprintf("UPDATE %s SET %s = %s WHERE id = %d", "schedules", c.name, value, bad.ID)); err != nil {
						continue // the schema does not take it
					}
					damages++
					before := due(t, h.store, good)
					pass(what)
					pass(what)
					if now, err := h.store.GetSchedule(t.Context(), "", bad.Name); c.name == "next_due" && value == "'-infinity'" && (err != nil || now.State.NextDue.IsZero()) {
						t.Errorf("%s: it is not due any more: %v, %v", what, now.State, err)
					}
					for i, now := range due(t, h.store, good) {
						if !now.After(before[i]) {
							t.Errorf("%s: the schedule good-%d stands still at %s", what, i, now)
						}
					}
					if err := h.exec(fmt.Sprintf("DELETE FROM %s WHERE id = %d", "schedules", bad.ID)); err != nil {
						t.Fatal(err)
					}
				}
			}
			t.Logf("%d values were tried, %d times something was named", damages, len(told))
			if damages < 60 || len(told) == 0 {
				t.Errorf("%d values were tried, %d named", damages, len(told))
			}
		})
	}
}

// due makes the schedules due at once and returns their counts of moves as times, so that they can be compared.
func due(t *testing.T, store core.Store, list []core.Schedule) (moves []time.Time) {
	t.Helper()
	for i := range list {
		s, err := store.GetSchedule(t.Context(), "", list[i].Name)
		if err != nil {
			t.Fatal(err)
		}
		moves = append(moves, time.Unix(s.Moves, 0))
		step := core.Advance{ID: s.ID, Version: s.Version, Moves: s.Moves, State: s.State}
		step.State.Accounted = time.Now().Add(-2 * time.Second).UTC().Truncate(time.Microsecond)
		step.State.NextDue = step.State.Accounted.Add(time.Second)
		if answers, err := store.AdvanceSchedules(t.Context(), []core.Advance{step}, nil); err != nil || answers[0].Stale {
			t.Fatal(answers, err)
		}
		moves[i] = moves[i].Add(time.Second)
	}
	return moves
}

// keepSchedule makes a schedule of every second that is due.
func keepSchedule(t *testing.T, store core.Store, name string) core.Schedule {
	t.Helper()
	at := time.Now().Add(-2 * time.Second).UTC().Truncate(time.Microsecond)
	rule := core.ScheduleRule{Every: core.ScheduleLength(time.Second), Type: "echo", Priority: "default", Missed: "once", Overlap: core.OverlapAllow}
	kept, err := store.CreateSchedule(t.Context(), core.Schedule{
		Name: name, Rule: rule, State: core.ScheduleState{Anchor: at, Accounted: at, NextDue: at.Add(time.Second), TZData: core.TZDataVersion()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

func hurtPostgres(t *testing.T) hurt {
	store, url := openPostgres(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	h := hurt{store: store, exec: func(text string, args ...any) error {
		_, err := conn.Exec(t.Context(), strings.Replace(text, "schedules", "belfry.schedules", 1), args...)
		return err
	}}
	rows, err := conn.Query(t.Context(), `SELECT column_name::text, data_type::text, is_nullable = 'YES' FROM information_schema.columns
		WHERE table_schema = 'belfry' AND table_name = 'schedules' AND column_name NOT IN ('id', 'tenant', 'name') ORDER BY ordinal_position`)
	if err != nil {
		t.Fatal(err)
	}
	var c column
	if _, err := pgx.ForEachRow(rows, []any{&c.name, &c.typ, &c.null}, func() error {
		h.columns = append(h.columns, c)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return h
}

func hurtSQLite(t *testing.T) hurt {
	path := filepath.Join(t.TempDir(), "belfry.db")
	store, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	other, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	h := hurt{store: store, exec: func(text string, args ...any) error {
		_, err := other.ExecContext(t.Context(), text, args...)
		return err
	}}
	rows, err := other.QueryContext(t.Context(), `SELECT name, type, "notnull" = 0 FROM pragma_table_info('schedules') WHERE name NOT IN ('id', 'tenant', 'name')`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var c column
		if err := rows.Scan(&c.name, &c.typ, &c.null); err != nil {
			t.Fatal(err)
		}
		h.columns = append(h.columns, c)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return h
}
