package belfrytest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
)

// PutSchedule creates a schedule or replaces its definition, under the rules of production. Advance makes its runs at their
// instants. Runs that come due in Skip follow its missed policy.
func (e *Engine) PutSchedule(name string, rule core.ScheduleRule) core.Schedule {
	e.t.Helper()
	s, _, err := e.schedules.Put(context.Background(), "", name, rule, schedule.Match{})
	if err != nil {
		e.t.Fatalf("PutSchedule: %v", err)
	}
	return s
}

// Schedules pauses, resumes, triggers and backfills. Its methods return errors instead of failing the test.
func (e *Engine) Schedules() *schedule.Acts { return e.schedules }

// Occurrences returns the ledger of a schedule, oldest first: the outcome of each due instant. It fails the test if there is
// no such schedule.
func (e *Engine) Occurrences(name string) []core.Occurrence {
	e.t.Helper()
	s, err := e.store.GetSchedule(context.Background(), "", name)
	if err != nil {
		e.t.Fatalf("Occurrences: schedule %q: %v", name, err)
	}
	var all []core.Occurrence
	for q := (core.OccurrenceQuery{ScheduleID: s.ID, Limit: 1000}); ; {
		rows, err := e.store.Occurrences(context.Background(), q)
		if err != nil {
			e.t.Fatalf("Occurrences: %v", err)
		}
		if all = append(all, rows...); len(rows) < q.Limit {
			slices.Reverse(all)
			return all
		}
		q.Before = rows[len(rows)-1].From
	}
}

// RequireFired fails the test unless a run was made for the instant at, punctually or late. It returns its job.
func (e *Engine) RequireFired(name string, at time.Time) core.Job {
	e.t.Helper()
	rows := e.Occurrences(name)
	for _, o := range rows {
		if o.From.Equal(at) && o.JobID != 0 && (o.Outcome == core.OccurrenceFired || o.Outcome == core.OccurrenceCaughtUp) {
			return e.Job(o.JobID)
		}
	}
	e.t.Fatalf("the schedule %q did not fire for %s\n%s", name, at.Format(time.RFC3339Nano), describeLedger(rows))
	return core.Job{}
}

// describeLedger describes the last rows of a ledger, one per line.
func describeLedger(rows []core.Occurrence) string {
	if len(rows) == 0 {
		return "  nothing is in its ledger"
	}
	var b strings.Builder
	if left := len(rows) - maxDescribed; left > 0 {
		fmt.Fprintf(&b, "  … and %d before\n", left)
		rows = rows[left:]
	}
	for _, o := range rows {
		fmt.Fprintf(&b, "  %s", o.From.Format(time.RFC3339Nano))
		if o.Count > 1 {
			fmt.Fprintf(&b, " to %s, %d instants", o.To.Format(time.RFC3339Nano), o.Count)
		}
		fmt.Fprintf(&b, ": %s %s", o.Outcome, o.Reason)
		b.WriteString("\n")
	}
	return b.String()
}

// untilSchedule returns the time until the next schedule is due or must be checked, at most limit.
func (e *Engine) untilSchedule(act string, limit time.Duration) time.Duration {
	e.t.Helper()
	now := e.Now()
	for q := (core.ScheduleQuery{Limit: 1000}); ; {
		list, err := e.store.ListSchedules(context.Background(), q)
		if err != nil {
			e.t.Fatalf("%s: %v", act, err)
		}
		for i := range list {
			for _, at := range []time.Time{list[i].State.NextDue, list[i].State.ExpectBy} {
				if at.After(now) {
					limit = min(limit, at.Sub(now))
				}
			}
			q.AfterTenant, q.AfterName = list[i].Tenant, list[i].Name
		}
		if len(list) < q.Limit {
			return limit
		}
	}
}
