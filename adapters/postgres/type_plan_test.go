package postgres

import (
	"fmt"
	"testing"

	"github.com/belfry-dev/belfry/internal/testenv"
)

// TestWatchTypesPlan looks at what the watch of types reads beside 200,000 merged minutes and 5,000 definitions from which
// nothing is expected: a few pages for each of ten types from which something is, of five of them in vain.
func TestWatchTypesPlan(t *testing.T) {
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
ALTER TABLE belfry.rollups SET (autovacuum_enabled = off);
ANALYZE belfry.rollups;
ANALYZE belfry.job_types;
INSERT INTO belfry.job_types (type, defined_at, updated_at) SELECT 'quiet-' || i, now(), now() FROM generate_series(1, 5000) i;
INSERT INTO belfry.job_types (type, defined_at, updated_at, expect_within, expect_from)
SELECT 'type-' || i, now(), now(), 3600000000, now() - interval '30 h' FROM generate_series(1, 10) i;
INSERT INTO belfry.rollups (shard, minute, priority, type, starts, done, failed, retried, cancelled, lost, snoozed, lag, lag_sum)
SELECT -1, date_trunc('minute', now()) - m * interval '1 min', 2, 'type-' || i, 1, 1, 0, 0, 0, 0, 0, '{}', 0
FROM generate_series(1, 2000) m, generate_series(6, 105) i;
INSERT INTO belfry.rollups (shard, minute, priority, type, starts, done, failed, retried, cancelled, lost, snoozed, lag, lag_sum)
SELECT s, date_trunc('minute', now()), 2, 'type-' || s, 1, 1, 0, 0, 0, 0, 0, '{}', 0 FROM generate_series(0, 15) s;`)
	for _, statistics := range []struct{ name, sql string }{{"stale", ""}, {"fresh", "ANALYZE belfry.rollups; ANALYZE belfry.job_types"}} {
		exec(t, e.conn, statistics.sql)
		for _, generic := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/generic %v", statistics.name, generic), func(t *testing.T) {
				e.t = t
				for _, x := range e.explain(generic, func(s *Store) error { return s.WatchTypes(t.Context()) }) {
					few(t, x, 400)
				}
			})
		}
	}
}
