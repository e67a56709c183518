package postgres

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// planRows is how many rows each statement under test gets.
const planRows = 200

// hot is a statement pipeline whose plans matter.
type hot struct {
	name    string
	act     func(*Store) error
	indexes []string // of jobs, that may be read
	perRow  int64    // shared buffers touched for each of planRows
}

// TestPlans looks at what the hot statements read, under statistics of every kind of wrongness, with custom and with
// generic plans: the planner must reach for the index each was written for, and touch a few pages for each row.
func TestPlans(t *testing.T) {
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
	statements := fillForPlans(t, s, e.conn)
	for _, statistics := range []struct{ name, sql string }{
		{"stale", ""}, // as fillForPlans leaves them: a small table, all of it running
		{"missing", "DELETE FROM pg_statistic WHERE starelid = 'belfry.jobs'::regclass; UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE oid = 'belfry.jobs'::regclass"},
		{"empty", "UPDATE pg_class SET reltuples = 0, relpages = 0 WHERE oid = 'belfry.jobs'::regclass"},
		{"skewed", "ANALYZE belfry.jobs"},
	} {
		if statistics.sql != "" {
			exec(t, e.conn, statistics.sql)
		}
		for _, h := range statements {
			for _, generic := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/%s", statistics.name, h.name, map[bool]string{false: "custom", true: "generic"}[generic]), func(t *testing.T) {
					e.t = t
					h.check(t, e.explain(generic, h.act))
				})
			}
		}
	}
}

func (h hot) check(t *testing.T, pipeline []explained) {
	t.Helper()
	var buffers int64
	for _, x := range pipeline {
		buffers += x.buffers()
		x.plan.walk(func(p plan) {
			whole := strings.Contains(p.Node, "Seq Scan") || strings.Contains(p.Node, "Bitmap")
			if p.Relation == "jobs" && whole || strings.HasPrefix(p.Index, "jobs_") && !slices.Contains(h.indexes, p.Index) {
				t.Errorf("%s by %q, want only %v\n%s", p.Node, p.Index, h.indexes, x.sql)
			}
			if p.Relation == "jobs" && p.Removed*p.Loops > planRows {
				t.Errorf("%s by %q read %.0f rows in vain\n%s", p.Node, p.Index, p.Removed*p.Loops, x.sql)
			}
		})
	}
	if buffers > h.perRow*planRows {
		t.Errorf("%d pages were touched for %d rows, want at most %d for each", buffers, planRows, h.perRow)
	}
}

func exec(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
}

// fillForPlans makes 200,000 waiting jobs of two types, one with 20,000 tenants and one without, and planRows rows in
// each state that statements start from. The statistics it leaves are those of a small table, all of it running.
func fillForPlans(t *testing.T, s *Store, conn *pgx.Conn) []hot {
	t.Helper()
	exec(t, conn, `
ALTER TABLE belfry.jobs SET (autovacuum_enabled = off);
INSERT INTO belfry.jobs (id, type, run_at, status) SELECT -i, 'once', now(), 3 FROM generate_series(1, 1000) i;
ANALYZE belfry.jobs;
DELETE FROM belfry.jobs;
INSERT INTO belfry.jobs (id, type, tenant, run_at, lease_token, payload)
SELECT nextval('belfry.job_ids'), CASE WHEN i % 2 = 0 THEN 'plain' ELSE 'shared' END, CASE WHEN i % 2 = 0 THEN '' ELSE 'tenant-' || i % 40000 END,
       now() - interval '1 h' + i * interval '1 ms', 1, '{"a": 1}'
FROM generate_series(1, 200000) i;
INSERT INTO belfry.jobs (id, type, run_at, lease_token, tenant, target)
SELECT nextval('belfry.job_ids'), 'marked', now() - interval '1 h' + i * interval '1 ms', 1, CASE WHEN i % 4 < 2 THEN '' ELSE 'tenant-' || i % 80 END,
       CASE WHEN i % 8 NOT IN (0, 2) THEN '{"url":"https://example.com"}'::json END
FROM generate_series(1, 1000) i;
INSERT INTO belfry.jobs (id, type, run_at, lease_token, expires_at)
SELECT nextval('belfry.job_ids'), 'expiring', now() + interval '1 h', 1, now() - interval '1 s' FROM generate_series(1, 200) i;`)
	ctx := t.Context()
	claim := core.ClaimRequest{WorkerID: "w", ClaimID: 7, Lease: time.Minute}
	if _, err := s.Tick(ctx, core.TickRequest{Holder: "h", LeaseLength: time.Hour}); err != nil {
		t.Fatal(err)
	}
	running := claimForPlans(t, s, claim)
	lost := claim
	lost.Lease = -time.Second
	claimForPlans(t, s, lost)
	queue := core.TickRequest{Holder: "h", LeaseLength: time.Hour, Dispatch: true, DispatchLease: time.Minute, DispatchLeaseMax: time.Hour, RepublishLimit: planRows, ExpireLimit: planRows, ReapLimit: planRows,
		Quotas: []core.Quota{{Priority: core.Default, Type: "plain", Limit: planRows}}}
	before := queue
	before.ExpireLimit = 0
	res, err := s.Tick(ctx, before)
	if err != nil || len(res.Dispatched) != planRows {
		t.Fatalf("%d dispatched, %v", len(res.Dispatched), err)
	}
	exec(t, conn, "UPDATE belfry.jobs SET reap_at = now() - interval '1 s', lease_until = reap_at WHERE status = 2 AND id % 2 = 0")
	return hotStatements(running, refsOf(res.Dispatched), claim, queue)
}

func claimForPlans(t *testing.T, s *Store, req core.ClaimRequest) []core.Ref {
	t.Helper()
	req.Quotas = []core.Quota{{Priority: core.Default, Type: "plain", Limit: planRows}}
	res, err := s.ClaimDue(t.Context(), req)
	if err != nil || len(res.Jobs) != planRows {
		t.Fatalf("%d claimed, %v", len(res.Jobs), err)
	}
	return refsOf(res.Jobs)
}

func refsOf(jobs []core.Job) []core.Ref {
	refs := make([]core.Ref, len(jobs))
	for i, j := range jobs {
		refs[i] = core.Ref{ID: j.ID, Token: j.LeaseToken}
	}
	return refs
}
