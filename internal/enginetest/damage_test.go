package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/core/typecache"
)

// Whatever any column of any table holds, passes of the tick with watch and upkeep succeed, all buckets are held, and jobs
// beside go from submit to their end.
func TestADamagedValueStopsNoNeighbour(t *testing.T) {
	all := os.Getenv("BELFRY_TEST_LARGE") != "" // else a third of the values of each column
	for name, open := range map[string]func(*testing.T) hurt{"PostgreSQL": hurtPostgres, "SQLite": hurtSQLite} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			populate(t, h)
			columns, err := h.tables()
			if err != nil {
				t.Fatal(err)
			}
			tried := 0
			for table := range columns {
				if err := h.keep(table); err != nil {
					t.Fatal(err)
				}
			}
			for table, list := range columns {
				if err := h.restore(table); err != nil {
					t.Fatal(err)
				}
				for _, c := range list {
					if table == "scheduler_leases" && (c.name == "bucket" || c.name == "holder") {
						continue // another bucket or holder is no damage: it is as if another process held it
					}
					for i, value := range valuesOf(t, c) {
						if !all && (i+len(c.name))%3 != 0 {
							continue
						}
						if table == "alerts" && c.name == "id" && c.typ == "INTEGER" && value == values[c.typ][0] {
							continue // SQLite then has no number for another alert, and calls that a full disk
						}
						rows := 1
						if table == "jobs" {
							rows = 3 // one in each live status but queued
						}
						for row := range rows {
							if done, err := h.damage(table, c.name, value, row); err != nil || !done {
								continue // the schema does not take it, or there is no such row
							}
							tried++
							goOn(t, h, fmt.Sprintf("%s.%s = %s in row %d", table, c.name, value, row), expected{held: core.Buckets, counts: true})
							if err := h.restore(table); err != nil {
								t.Fatal(err)
							}
						}
					}
				}
			}
			t.Logf("%d values in %d tables", tried, len(columns))
			if least := map[bool]int{true: 500, false: 200}[all]; tried < least || len(columns) < 14 {
				t.Errorf("only %d values in %d tables were tried", tried, len(columns))
			}
		})
	}
}

func valuesOf(t *testing.T, c column) []string {
	t.Helper()
	list, known := values[c.typ]
	if !known {
		t.Fatalf("no damaged values for columns of type %q", c.typ)
	}
	if c.null {
		list = append(list[:len(list):len(list)], "NULL")
	}
	return list
}

// refusals are the rows that a trigger lets nobody change or delete, by their tables.
var refusals = map[string]string{
	"jobs": "type = 'victim'", "job_history": "type = 'victim'", "job_history_overflow": "type = 'victim'", "dead_letters": "type = 'victim'",
	"dead_letter_groups": "error_group <> ''", "job_types": "type = 'victim'", "scheduler_leases": "bucket = 5", "rollups": "type = 'victim'", "rollup_totals": "type = 'victim'",
	"schedules": "name = 'victim'", "occurrences": "count > 0", "alerts": "subject = 'victim'", "failure_notes": "type = 'victim'", "set_apart": "about = ''",
	"workers": "id = 'v'", "idempotency_keys": "key = 'victim'",
}

// A row that a trigger lets nobody change or delete stops no neighbour either, whatever its table.
func TestARefusedRowStopsNoNeighbour(t *testing.T) {
	for name, open := range map[string]func(*testing.T) hurt{"PostgreSQL": hurtPostgres, "SQLite": hurtSQLite} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			populate(t, h)
			columns, err := h.tables()
			if err != nil {
				t.Fatal(err)
			}
			for table := range columns {
				if err := h.keep(table); err != nil {
					t.Fatal(err)
				}
			}
			for table := range columns {
				which, known := refusals[table]
				if !known {
					continue // neither a tick nor a worker changes it
				}
				if err := h.refuse(table, which); err != nil {
					t.Fatal(table, err)
				}
				want := expected{held: core.Buckets, counts: !strings.HasPrefix(table, "rollup"), upkeep: strings.HasPrefix(table, "rollup") || table == "workers"}
				if table == "scheduler_leases" {
					want.held--
				}
				goOn(t, h, "a row of "+table+" is refused", want)
				if err := h.allow(table); err != nil {
					t.Fatal(table, err)
				}
				for table := range columns {
					if err := h.restore(table); err != nil {
						t.Fatal(table, err)
					}
				}
			}
		})
	}
}

// expected is what may suffer: what belongs to the row itself.
type expected struct {
	held   int  // buckets
	counts bool // that of its type can be added to
	upkeep bool // upkeep may say that it failed, after it did the rest
}

// goOn runs what must go on.
func goOn(t *testing.T, h hurt, what string, want expected) {
	t.Helper()
	ctx := t.Context()
	types := typecache.New(h.store, typecache.Options{})
	if err := types.Refresh(ctx); err != nil {
		t.Errorf("%s: types: %v", what, err)
		return
	}
	ticker := newTicker(t, h.store, tick.Options{
		Holder: "b", Schedules: schedule.Options{Types: types},
		Maintain: core.MaintainRequest{HistoryRetention: time.Hour, DeadRetention: time.Hour, LedgerRetention: time.Hour},
		OnEvent: func(e tick.Event) {
			if e.Kind == tick.MaintainFailed && !want.upkeep || e.Kind == tick.AlertsUnsent {
				t.Errorf("%s: %v", what, e.Err)
			}
		},
		OnAlerts: func(context.Context, []core.Alert) error { return nil },
	})
	answers, err := h.store.Submit(ctx, []core.NewJob{neighbour("done"), neighbour("failed")})
	if err != nil {
		t.Errorf("%s: submit: %v", what, err)
		return
	}
	for range 2 {
		report, err := ticker.Tick(ctx)
		if err != nil {
			t.Errorf("%s: tick: %v", what, err)
		} else if report.Held != want.held {
			t.Errorf("%s: %d buckets are held", what, report.Held)
		}
	}
	for i, typ := range []string{"done", "failed"} {
		res, err := h.store.ClaimDue(ctx, core.ClaimRequest{
			WorkerID: "w", ClaimID: claimID.Add(1), Lease: time.Minute, Quotas: []core.Quota{{Priority: core.Default, Type: typ, Limit: 10}},
		})
		if err != nil || len(res.Jobs) == 0 {
			t.Errorf("%s: claimed %d jobs, %v", what, len(res.Jobs), err)
			continue
		}
		for _, job := range res.Jobs {
			end := core.End{Ref: core.Ref{ID: job.ID, Token: job.LeaseToken}, Outcome: core.EndDone}
			if typ == "failed" {
				end.Outcome, end.Errors = core.EndFail, []core.AttemptError{{Attempt: 1, At: res.Now, Error: "no", Kind: core.KindError}}
			}
			ends, err := h.store.Finish(ctx, []core.End{end})
			if job.ID == answers[i].ID && (err != nil || !ends[0].Status.Ended()) {
				t.Errorf("%s: finish: %+v, %v", what, ends, err)
			}
		}
	}
	if err := h.store.AddRollups(ctx, 1, []core.Rollup{{Minute: h.minute, Priority: core.Default, Type: "victim", Done: 1, Lag: [core.LagBuckets]int64{1}}}); err != nil && want.counts {
		t.Errorf("%s: counts: %v", what, err)
	}
	if err := h.store.Announce(ctx, core.Presence{ID: "w", Types: []string{"victim"}}); err != nil {
		t.Errorf("%s: announce: %v", what, err)
	}
	if _, err := h.store.Fleet(ctx); err != nil {
		t.Errorf("%s: fleet: %v", what, err)
	}
	if _, err := h.store.Stats(ctx, time.Hour); err != nil {
		t.Errorf("%s: statistics: %v", what, err)
	}
	if report, err := ticker.Tick(ctx); err != nil {
		t.Errorf("%s: tick: %v", what, err)
	} else if report.Held != want.held {
		t.Errorf("%s: %d buckets are held", what, report.Held)
	}
}

func neighbour(typ string) core.NewJob {
	return core.NewJob{Type: typ, Priority: core.Default, MaxAttempts: 5}
}

// populate puts rows into every table.
func populate(t *testing.T, h hurt) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := h.store.PutType(ctx, core.JobType{Name: "victim", ExpectWithin: time.Minute, MaxAttempts: 3})
	must(err)
	must(h.store.Announce(ctx, core.Presence{ID: "v", Types: []string{"victim"}}))
	_, err = h.store.CreateToken(ctx, core.Token{ID: "0123456789abcdef", Role: core.RoleAdmin, Name: "victim"})
	must(err)
	_, err = h.store.SubmitOnce(ctx, core.IdempotencyKey{Key: "victim", Keep: time.Hour}, []core.NewJob{neighbour("victim")}, func([]core.Submitted) (core.Answer, error) {
		return core.Answer{Status: 201, Body: []byte("{}")}, nil
	})
	must(err)
	var ids []int64
	for range 5 {
		ids = append(ids, submitJobs(t, h.store, 1, neighbour("victim"))...)
	}
	jobs := claim(t, h.store, "victim", 4, time.Hour)
	ended := []core.AttemptError{{Attempt: 1, At: time.Now(), Error: "no", Kind: core.KindError}}
	_, err = h.store.Finish(ctx, []core.End{
		{Ref: core.Ref{ID: jobs[0].ID, Token: jobs[0].LeaseToken}, Outcome: core.EndDone},
		{Ref: core.Ref{ID: jobs[1].ID, Token: jobs[1].LeaseToken}, Outcome: core.EndFail, Errors: ended},
		{Ref: core.Ref{ID: jobs[2].ID, Token: jobs[2].LeaseToken}, Outcome: core.EndRetry, Wait: time.Hour, Errors: ended},
	})
	must(err)
	must(h.store.AddRollups(ctx, 1, []core.Rollup{{Minute: h.minute, Priority: core.Default, Type: "victim", Done: 1, Lag: [core.LagBuckets]int64{1}}}))
	must(h.store.AddRollups(ctx, 1, []core.Rollup{{Minute: h.minute.Add(-2 * time.Hour), Priority: core.Default, Type: "victim", Done: 1, Lag: [core.LagBuckets]int64{1}}}))
	must(h.store.RaiseAlerts(ctx, []core.Alert{{Kind: core.AlertScheduleMissed, Subject: "victim", Detail: "late"}}))
	must(h.store.SetApart(ctx, []core.RowFault{{Kind: core.ApartJob, ID: ids[4], Act: "claim", Error: "no"}}))
	_, err = h.store.Secret(ctx, "victim", json.RawMessage("0123456789abcdef"))
	must(err)
	keepSchedule(t, h.store, "victim")
	tickOnce(t, newTicker(t, h.store, tick.Options{Holder: "dead"}))
	must(h.exec("UPDATE " + h.prefix + "scheduler_leases SET expires_at = " + map[bool]string{true: "0", false: "'epoch'"}[h.prefix == ""]))
}
