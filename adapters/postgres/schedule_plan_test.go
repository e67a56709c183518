package postgres

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// manySchedules is how many schedules the plans are made beside.
const manySchedules = 100_000

// TestSchedulePlans looks at what a tick reads of schedules, with 100,000 that are not due and as many runs of a schedule
// in the history: idle a handful of pages, in no way more with more schedules; else a few pages for each that is due.
func TestSchedulePlans(t *testing.T) {
	address := testenv.Postgres(t)
	if err := Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	e := newExplainer(t, s, address)
	exec(t, e.conn, fmt.Sprintf(`
ALTER TABLE belfry.schedules SET (autovacuum_enabled = off);
ANALYZE belfry.schedules;
INSERT INTO belfry.schedules (id, tenant, name, type, rule, created_at, updated_at, anchor, accounted, next_due, expect_by, expected, tz_data)
SELECT nextval('belfry.schedule_ids'), '', 'ahead-' || i, 'work', '{"every":"1h0m0s","type":"work"}', now(), now(), now(), now(), now() + interval '1 h' + i * interval '1 s', now() + interval '1 d', now(), '%s'
FROM generate_series(1, %d) i;
INSERT INTO belfry.job_history (id, type, tenant, run_at, status, finished_at, schedule, scheduled_for, payload, created_at, lease_token, ended_token, claim_id, dispatch_fence, dispatches, snoozes, priority, max_attempts, attempts)
SELECT -i, 'work', '', now(), 4, now(), 'ahead-7', now() - interval '1 d' + i * interval '1 ms', '{}', now(), 1, 1, 1, 0, 1, 0, 2, 1, 1 FROM generate_series(1, 20000) i;`, schedule.TZDataVersion(), manySchedules))
	if _, err := s.Tick(t.Context(), core.TickRequest{Holder: "h", LeaseLength: time.Hour}); err != nil {
		t.Fatal(err)
	}
	for _, statistics := range []struct{ name, sql string }{{"stale", ""}, {"fresh", "ANALYZE belfry.schedules; ANALYZE belfry.job_history"}} {
		exec(t, e.conn, statistics.sql)
		for _, generic := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/generic %v", statistics.name, generic), func(t *testing.T) {
				e.t = t
				schedulePlans(t, e, generic)
			})
		}
	}
}

func schedulePlans(t *testing.T, e *explainer, generic bool) {
	idle := func(s *Store) error {
		_, err := s.Tick(t.Context(), core.TickRequest{Holder: "h", LeaseLength: time.Hour, ScheduleLimit: 1000})
		return err
	}
	seen := 0
	for _, x := range e.explain(generic, idle) {
		if strings.Contains(x.sql, "belfry.schedules") {
			seen++
			few(t, x, 30)
		}
	}
	if seen != 2 {
		t.Errorf("a tick has %d statements about schedules, want 2", seen)
	}
	asks := []core.SuccessQuery{{Name: "ahead-7", Since: time.Now().Add(-48 * time.Hour)}, {Name: "none", Since: time.Now()}}
	for _, x := range e.explain(generic, func(s *Store) error { _, err := s.Succeeded(t.Context(), asks); return err }) {
		few(t, x, 600) // a page for each partition, and for each of 100 rows
	}
	stale := core.ScheduleQuery{TZDataNot: schedule.TZDataVersion(), Limit: 1000}
	for _, x := range e.explain(generic, func(s *Store) error { _, err := s.ListSchedules(t.Context(), stale); return err }) {
		few(t, x, 30)
	}
	list, err := e.s.ListSchedules(t.Context(), core.ScheduleQuery{Limit: 1000})
	if err != nil || len(list) != 1000 {
		t.Fatalf("%d schedules, %v", len(list), err)
	}
	steps := make([]core.Advance, len(list))
	for i, s := range list {
		steps[i] = core.Advance{ID: s.ID, Version: s.Version, Moves: s.Moves, State: s.State,
			Jobs:        []core.NewJob{{Type: "work", Run: &core.Run{Schedule: s.Name, ScheduledFor: s.State.NextDue}}},
			Occurrences: []core.Ledgered{{Occurrence: core.Occurrence{From: s.State.NextDue, To: s.State.NextDue, Count: 1, Outcome: core.OccurrenceFired}}}}
	}
	for _, x := range e.explain(generic, func(s *Store) error { _, err := s.AdvanceSchedules(t.Context(), steps, nil); return err }) {
		few(t, x, 60*int64(len(steps)))
	}
}

// TestWaitingSchedulesPlan looks at what an idle tick reads where the runs of many schedules wait: of a page of them, not of all.
func TestWaitingSchedulesPlan(t *testing.T) {
	address := testenv.Postgres(t)
	if err := Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	e := newExplainer(t, s, address)
	exec(t, e.conn, `
INSERT INTO belfry.schedules (id, tenant, name, type, exclusive, rule, created_at, updated_at, anchor, accounted, waiting)
SELECT nextval('belfry.schedule_ids'), '', 'waits-' || i, 'work', true, '{"every":"1h0m0s","type":"work","overlap":"queue_one"}', now(), now(), now(), now(), '{"schedule":"x"}'
FROM generate_series(1, 20000) i;
INSERT INTO belfry.jobs (id, type, payload, priority, tenant, run_at, created_at, max_attempts, schedule, scheduled_for, lease_token, status)
SELECT nextval('belfry.job_ids'), 'work', '{}', 2, '', now() + interval '1 h', now(), 5, 'waits-' || i, now(), 1, 1 FROM generate_series(1, 20000) i;`)
	req := core.TickRequest{Holder: "h", LeaseLength: time.Hour, ScheduleLimit: 1000, WaitingLimit: 500}
	if _, err := s.Tick(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	for _, generic := range []bool{false, true} {
		for _, x := range e.explain(generic, func(s *Store) error { _, err := s.Tick(t.Context(), req); return err }) {
			if strings.Contains(x.sql, "belfry.schedules") {
				few(t, x, 5000)
			}
		}
	}
}

// TestSuccessesOfFewDays looks at what a look for a success touches where years of history are kept: the days around the
// instant, not all of them.
func TestSuccessesOfFewDays(t *testing.T) {
	address := testenv.Postgres(t)
	if err := Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	e := newExplainer(t, s, address)
	exec(t, e.conn, "SELECT belfry.make_history_day(now()::date - behind) FROM generate_series(1, 150) behind")
	asks := []core.SuccessQuery{{Name: "a", Since: time.Now().Add(-time.Hour)}, {Name: "b", Since: time.Now()}}
	looked := 0
	for _, x := range e.explain(true, func(s *Store) error { _, err := s.Succeeded(t.Context(), asks); return err }) {
		looked++
		few(t, x, 150)
	}
	if looked == 0 {
		t.Error("no statement was looked at")
	}
}

// few holds a statement to so many pages, and to reading nothing in vain.
func few(t *testing.T, x explained, pages int64) {
	t.Helper()
	if x.buffers() > pages {
		t.Errorf("%d pages were touched, want at most %d\n%s\n%s", x.buffers(), pages, x.sql, x.text)
	}
	x.plan.walk(func(p plan) {
		if p.Node == "Seq Scan" && (p.Relation == "schedules" || strings.HasPrefix(p.Relation, "job_history")) && p.Rows+p.Removed > 0 {
			t.Errorf("a scan of %s read %.0f rows\n%s", p.Relation, p.Rows+p.Removed, x.sql)
		}
		if compared := (p.Removed + p.Unjoined) * p.Loops; compared > float64(20*1000) {
			t.Errorf("%s compared %.0f rows in vain\n%s", p.Node, compared, x.sql[:60])
		}
	})
}
