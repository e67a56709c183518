package postgres

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// listScale is the size of the tables under test: rows live and finished, and how many of them a page may look at.
type listScale struct {
	rows, window int64
	every        bool // page through whole lists
}

// TestListPlans looks at what pages of lists read, whatever the filter, under statistics of every kind of wrongness,
// with custom and with generic plans: only indexes, no more rows than a page may look at, and no more pages of the
// tables than rows, wherever the cursor stands.
func TestListPlans(t *testing.T) {
	scale := listScale{rows: 30_000, window: 1000}
	if os.Getenv("BELFRY_TEST_LARGE") != "" {
		scale = listScale{rows: 2_000_000, window: listWindow, every: true}
	}
	address := testenv.Postgres(t)
	if err := Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	s.listWindow = scale.window
	e := newExplainer(t, s, address)
	fillForLists(t, e.conn, scale)
	worst := map[string]int64{}
	for _, statistics := range []struct{ name, sql string }{
		{"missing", "DELETE FROM pg_statistic WHERE starelid::regclass::text LIKE 'belfry.%'; UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE relnamespace = 'belfry'::regnamespace AND relkind = 'r'"},
		{"empty", "UPDATE pg_class SET reltuples = 0, relpages = 0 WHERE relnamespace = 'belfry'::regnamespace AND relkind = 'r'"},
		{"fresh", "ANALYZE"},
		{"stale", "UPDATE pg_class SET reltuples = 10, relpages = 1 WHERE relnamespace = 'belfry'::regnamespace AND relkind = 'r'"},
	} {
		exec(t, e.conn, statistics.sql)
		for _, f := range listFilters() {
			for _, generic := range []bool{false, true} {
				name := fmt.Sprintf("%s/%s/%s", statistics.name, f.name, map[bool]string{false: "custom", true: "generic"}[generic])
				t.Run(name, func(t *testing.T) {
					e.t = t
					for _, before := range scale.cursors(t, s, f.q, generic && statistics.name == "fresh") {
						q := f.q
						q.Before, q.Limit = before, 100
						buffers := scale.check(t, e.explain(generic, func(s *Store) error { _, err := s.List(t.Context(), q); return err }))
						worst[f.name] = max(worst[f.name], buffers)
					}
				})
			}
		}
	}
	for _, f := range listFilters() {
		t.Logf("| %s | %d |", f.name, worst[f.name])
	}
}

// cursors are those under which pages are looked at: every one of the list, or one at either end and in the middle.
func (l listScale) cursors(t *testing.T, s *Store, q core.ListQuery, whole bool) []int64 {
	t.Helper()
	list := []int64{math.MaxInt64, l.rows / 2, l.window / 2}
	if !l.every || !whole {
		return list
	}
	for q.Limit = 1000; ; {
		page, err := s.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if page.Next == 0 {
			return list
		}
		q.Before = page.Next
		list = append(list, q.Before)
	}
}

// check holds one page against its bounds and returns how many pages of the tables it touched.
func (l listScale) check(t *testing.T, pipeline []explained) (buffers int64) {
	t.Helper()
	rows, relations := 0.0, int64(0)
	for _, x := range pipeline {
		buffers += x.buffers()
		x.plan.walk(func(p plan) {
			if p.Relation != "" {
				rows += (p.Rows + p.Removed) * p.Loops
				relations++
			}
			if p.Relation != "" && p.Node != "Index Scan" && p.Node != "Index Only Scan" || strings.Contains(p.Node, "Bitmap") {
				t.Errorf("%s of %s by %q\n%s", p.Node, p.Relation, p.Index, x.sql)
			}
			if strings.Contains(p.Node, "Sort") && (!strings.Contains(x.sql, "AS cut") || p.Rows > 100) {
				t.Errorf("%s of %.0f rows\n%s", p.Node, p.Rows, x.sql)
			}
			if p.Relation != "" && p.Removed > 0 {
				t.Errorf("%s of %s by %q read %.0f rows in vain\n%s", p.Node, p.Relation, p.Index, p.Removed*p.Loops, x.sql)
			}
		})
	}
	if limit := float64(l.window + 2*relations); rows > limit {
		t.Errorf("%.0f rows were read, want at most %.0f", rows, limit)
	}
	if limit := l.window + l.window/50 + 5*relations; buffers > limit {
		t.Errorf("%d pages were touched, want at most %d", buffers, limit)
	}
	return buffers
}

type listFilter struct {
	name string
	q    core.ListQuery
}

// listFilters are the filters under test: each alone, and those that meet the least alike.
func listFilters() []listFilter {
	tenant := func(name string) *string { return &name }
	day := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	failed := []core.Status{core.Failed}
	all := []listFilter{
		{"none", core.ListQuery{}},
		{"type, common", core.ListQuery{Type: "type-1"}},
		{"type, one job", core.ListQuery{Type: "rare"}},
		{"type, no job", core.ListQuery{Type: "none"}},
		{"tenant of most jobs", core.ListQuery{Tenant: tenant("big")}},
		{"tenant of three jobs", core.ListQuery{Tenant: tenant("three")}},
		{"tenant of a few jobs", core.ListQuery{Tenant: tenant("small-7")}},
		{"tenant, no job", core.ListQuery{Tenant: tenant("none")}},
		{"without tenant, no job", core.ListQuery{Tenant: tenant("")}},
		{"priority, one job", core.ListQuery{Priority: core.Critical}},
		{"tag, one job", core.ListQuery{Tag: "needle"}},
		{"run_after, no job", core.ListQuery{RunAfter: day.AddDate(10, 0, 0)}},
		{"run_before, no job", core.ListQuery{RunBefore: day.AddDate(-10, 0, 0)}},
		{"queued and running", core.ListQuery{Statuses: []core.Status{core.Queued, core.Running}}},
		{"done and failed", core.ListQuery{Statuses: []core.Status{core.Done, core.Failed}}},
		{"failed, type", core.ListQuery{Statuses: failed, Type: "type-1"}},
		{"failed, tenant", core.ListQuery{Statuses: failed, Tenant: tenant("small-1")}},
		{"failed, error group", core.ListQuery{Statuses: failed, Group: core.ErrorGroup("type-1", []core.AttemptError{{Error: "no 1", Kind: "error"}})}},
		{"failed, group of no job", core.ListQuery{Statuses: failed, Group: "0123456789abcdef"}},
		{"failed, failed before", core.ListQuery{Statuses: failed, FailedBefore: day.AddDate(-20, 0, 0)}},
		{"failed, type, group, tenant", core.ListQuery{Statuses: failed, Type: "type-2", Tenant: tenant("big"), Group: core.ErrorGroup("type-1", []core.AttemptError{{Error: "no 1", Kind: "error"}})}},
		{"tenant of most, tag of one", core.ListQuery{Tenant: tenant("big"), Tag: "needle"}},
		{"tenant of most, cancelled", core.ListQuery{Tenant: tenant("big"), Statuses: []core.Status{core.Cancelled}}},
		{"everything", core.ListQuery{Statuses: []core.Status{core.Scheduled, core.Done}, Type: "type-1", Tenant: tenant("big"), Priority: core.Default, Tag: "needle", RunAfter: day.AddDate(-9, 0, 0), RunBefore: day.AddDate(9, 0, 0)}},
	}
	for _, status := range []core.Status{core.Scheduled, core.Queued, core.Running, core.Done, core.Failed, core.Cancelled} {
		all = append(all, listFilter{"status " + status.String(), core.ListQuery{Statuses: []core.Status{status}}})
	}
	return all
}

// fillForLists makes half the rows live and half finished, in turns, in history of 40 days, with one tenant that has
// 95 of 100 of them, one that has three, and the rest by fives.
func fillForLists(t *testing.T, conn *pgx.Conn, l listScale) {
	t.Helper()
	const columns = "id, run_at, created_at, lease_token, priority, type, tenant, payload, tags, errors"
	jobs := strings.NewReplacer("ROWS", fmt.Sprint(l.rows), "SMALL", fmt.Sprint(l.rows/100)).Replace(`
SELECT i AS id, timestamptz '2030-01-01 00:00Z' + i * interval '1 s' AS run_at, now() AS created_at, 1 AS lease_token, CASE WHEN i = 9 THEN 1 ELSE 2 END AS priority,
       CASE WHEN i = 11 THEN 'rare' ELSE 'type-' || i % 7 END AS type,
       CASE WHEN i IN (5, ROWS / 3, ROWS - 1) THEN 'three' WHEN i % 20 < 1 THEN 'small-' || i / 20 % SMALL ELSE 'big' END AS tenant,
       json_build_object('n', i) AS payload, CASE WHEN i = 13 THEN '{needle}'::text[] ELSE '{hay}' END AS tags,
       json_build_array(json_build_object('attempt', 1, 'error', 'no ' || i, 'kind', 'error')) AS errors
FROM   generate_series(1, ROWS) i`)
	exec(t, conn, fmt.Sprintf(`
ALTER TABLE belfry.jobs SET (autovacuum_enabled = off);
SELECT belfry.make_history_day((now() AT TIME ZONE 'UTC')::date - ago) FROM generate_series(2, 31) AS ago;
INSERT INTO belfry.jobs (%[1]s, status, reap_at)
SELECT %[1]s, CASE WHEN id %% 10000 = 1 THEN 3 WHEN id %% 10000 = 3 THEN 2 ELSE 1 END, now() FROM (%[2]s) j WHERE id %% 2 = 1;
INSERT INTO belfry.job_history (%[1]s, status, finished_at, ended_token, claim_id, dispatch_fence, attempts, max_attempts, snoozes, dispatches)
SELECT %[1]s, CASE WHEN id = 14 THEN 6 ELSE 4 END, date_trunc('day', now()) - (id %% 30) * interval '1 day', 1, 1, 1, 1, 5, 0, 0 FROM (%[2]s) j WHERE id %% 2 = 0 AND id %% 100 > 6;
INSERT INTO belfry.job_history_overflow (%[1]s, status, finished_at, ended_token, claim_id, dispatch_fence, attempts, max_attempts, snoozes, dispatches)
SELECT %[1]s, 4, now(), 1, 1, 1, 1, 5, 0, 0 FROM (%[2]s) j WHERE id %% 100 = 6;
INSERT INTO belfry.dead_letters (%[1]s, status, finished_at, ended_token, claim_id, dispatch_fence, attempts, max_attempts, snoozes, dispatches)
SELECT %[1]s, 5, now(), 1, 1, 1, 1, 5, 0, 0 FROM (%[2]s) j WHERE id %% 100 IN (0, 2, 4);`, columns, jobs))
}
