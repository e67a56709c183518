package postgres

import (
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/internal/testenv"
)

// Counting stops at the cap of a priority, however many types and tenants have due jobs, and reads no more than it counts.
func TestCountsStopAtTheCap(t *testing.T) {
	const lanes, each, limit = 30, 1_000, 100
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
	_, err = e.conn.Exec(t.Context(), `INSERT INTO belfry.jobs (id, type, tenant, priority, run_at)
		SELECT nextval('belfry.job_ids'), 't' || (i % $1), CASE WHEN i % 7 < 3 THEN '' ELSE 'acme' END, 1 + i % 3, now() - interval '1 h' FROM generate_series(1, $2::integer) AS i`, lanes, lanes*each)
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() explained{
		"stats_queues": func() explained {
			x, err := e.guarded(s.sql.call("stats_queues", s.args(1).Int8(limit), nil))
			if err != nil {
				t.Fatal(err)
			}
			return x
		},
		"stats_queues_of": func() explained {
			x, err := e.guarded(s.sql.call("stats_queues_of", s.args(2).Int8(limit).Text("acme"), nil))
			if err != nil {
				t.Fatal(err)
			}
			return x
		},
	} {
		x := call()
		read := 0.0
		x.plan.walk(func(p plan) {
			if p.Relation == "jobs" && strings.Contains(p.Node, "Scan") {
				read += (p.Rows + p.Removed) * p.Loops
			}
		})
		// Three counts of each of three priorities, and a few rows of each lane.
		if most := float64(3*3*limit + 20*lanes*3); read > most {
			t.Errorf("%s read %.0f rows of %d, want %.0f at most:\n%s", name, read, lanes*each, most, x.text)
		}
	}
}
