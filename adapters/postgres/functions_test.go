package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belfry-dev/belfry/core"
)

// script runs statements that must succeed.
func script(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(context.WithoutCancel(t.Context()), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatalf("%.200s: %v", sql, err)
	}
}

// value is the one value of a statement that must succeed.
func value[T any](t *testing.T, db querier, sql string, args ...any) (v T) {
	t.Helper()
	if err := db.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%.200s: %v", sql, err)
	}
	return v
}

// refusal is the server's error.
func refusal(t *testing.T, err error) *pgconn.PgError {
	t.Helper()
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		t.Fatalf("want an error of the server, got %v", err)
	}
	return e
}

// The calls as docs/sql.md shows them.
func TestSubmitInItsForms(t *testing.T) {
	address := migrated(t)
	store, conn := open(t, address), connect(t, address)
	for _, c := range []struct {
		call string
		want core.NewJob
	}{
		{`'a'`, core.NewJob{Type: "a", MaxAttempts: 5}},
		{`'mail.send', '{"a":1}', delay => '10 minutes'`, core.NewJob{Type: "mail.send", Payload: json.RawMessage(`{"a":1}`), Delay: 10 * time.Minute, MaxAttempts: 5}},
		{`priority => 'critical', type => 'a', tags => ARRAY['x']`, core.NewJob{Type: "a", Priority: core.Critical, Tags: []string{"x"}, MaxAttempts: 5}},
		{`'a', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL`, core.NewJob{Type: "a", MaxAttempts: 5}},
		{`'a', '1', NULL, '1 s', 'bulk', 't', 'k', 7, '2 s', NULL, '{1s}', '{"url":"https://x"}', '{y}'`, core.NewJob{
			Type: "a", Payload: json.RawMessage(`1`), Delay: time.Second, Priority: core.Bulk, Tenant: "t", DedupeKey: "k", MaxAttempts: 7, Timeout: 2 * time.Second,
			Backoff: []time.Duration{time.Second}, Target: json.RawMessage(`{"url":"https://x"}`), Tags: []string{"y"},
		}},
	} {
		got := must(store.Get(t.Context(), value[int64](t, conn, "SELECT belfry.submit("+c.call+")")))
		want := c.want
		if want.Priority == 0 {
			want.Priority = core.Default
		}
		if string(got.Payload) == "{}" {
			got.Payload = nil
		}
		if got.RunAt.Sub(got.CreatedAt) != want.Delay || got.Type != want.Type || string(got.Payload) != string(want.Payload) || got.Priority != want.Priority || got.Tenant != want.Tenant ||
			got.DedupeKey != want.DedupeKey || got.MaxAttempts != want.MaxAttempts || got.Timeout != want.Timeout || !slices.Equal(got.Backoff, want.Backoff) ||
			string(got.Target) != string(want.Target) || !slices.Equal(got.Tags, want.Tags) || got.Status != core.Scheduled {
			t.Errorf("%s: %+v", c.call, got)
		}
	}
}

// One statement may submit many jobs; what it wrote before counts for the keys of those after. A savepoint that is
// rolled back takes its jobs along and frees their keys.
func TestSubmitWithinATransaction(t *testing.T) {
	conn := connect(t, migrated(t))
	if n := value[int](t, conn, `SELECT count(DISTINCT id) FROM (SELECT belfry.submit('a', to_json(i), dedupe_key => 'k' || i % 3) AS id FROM generate_series(1, 9) i) s`); n != 3 {
		t.Errorf("9 jobs of 3 keys are %d", n)
	}
	tx := must(conn.Begin(t.Context()))
	first := must(submitJob(t.Context(), tx, `'a', dedupe_key => 'x'`))
	again := must(submitJob(t.Context(), tx, `'b', dedupe_key => 'x'`))
	other := must(submitJob(t.Context(), tx, `'b', dedupe_key => 'x', tenant => 't'`))
	if first.duplicate || !again.duplicate || again.id != first.id || other.duplicate || other.id == first.id {
		t.Errorf("%+v, %+v, %+v", first, again, other)
	}
	inner := must(tx.Begin(t.Context()))
	must(submitJob(t.Context(), inner, `'a', dedupe_key => 'y'`))
	if err := inner.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := must(submitJob(t.Context(), tx, `'a', dedupe_key => 'y'`)); s.duplicate {
		t.Error("a key of a savepoint that was rolled back is taken")
	}
	stranger := connect(t, conn.Config().ConnString())
	if n := value[int](t, stranger, `SELECT count(*) FROM belfry.jobs`); n != 3 {
		t.Errorf("%d jobs are seen before the commit, want 3", n)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := value[int](t, stranger, `SELECT count(*) FROM belfry.jobs`); n != 3 {
		t.Errorf("%d jobs after a rollback, want 3", n)
	}
	if s := must(submitJob(t.Context(), conn, `'a', dedupe_key => 'x'`)); s.duplicate {
		t.Error("a key that was rolled back is taken")
	}
}

// What a job does not say its type's definition says, as over HTTP, and as long as it is there.
func TestSubmitTakesWhatTheTypeSays(t *testing.T) {
	address := migrated(t)
	store, conn := open(t, address), connect(t, address)
	definition := core.JobType{Name: "a", Target: json.RawMessage(`{"url":"https://example.com"}`), Timeout: time.Minute, MaxAttempts: 9, Backoff: []time.Duration{time.Second, time.Hour},
		ExpiresAfter: 2 * time.Hour}
	if _, _, err := store.PutType(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	get := func(call string) core.Job {
		return must(store.Get(t.Context(), must(submitJob(t.Context(), conn, call)).id))
	}
	if j := get(`'a'`); j.Timeout != time.Minute || j.MaxAttempts != 9 || !slices.Equal(j.Backoff, definition.Backoff) || j.Target != nil || j.ExpiresAt.Sub(j.RunAt) != 2*time.Hour {
		t.Errorf("a job that says nothing: %+v", j)
	}
	if j := get(`'a', timeout => '2 s', max_attempts => 1, backoff => '{3s}'`); j.Timeout != 2*time.Second || j.MaxAttempts != 1 || !slices.Equal(j.Backoff, []time.Duration{3 * time.Second}) {
		t.Errorf("a job that says all: %+v", j)
	}
	if j := get(`'a', delay => '90 s'`); j.ExpiresAt.Sub(j.RunAt) != 2*time.Hour {
		t.Errorf("a job with a delay: %+v", j)
	}
	if j := get(`'a', run_at => '2100-01-01 00:00:00Z'`); !j.ExpiresAt.Equal(time.Date(2100, 1, 1, 2, 0, 0, 0, time.UTC)) {
		t.Errorf("a job of another century: %+v", j)
	}
	if j := get(`'a', expires_at => '2100-01-01 00:00:00Z'`); !j.ExpiresAt.Equal(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("a job that names expires_at: %+v", j)
	}
	if j := get(`'b'`); !j.ExpiresAt.IsZero() || j.Timeout != 0 || j.MaxAttempts != core.DefaultMaxAttempts || j.Backoff != nil {
		t.Errorf("a job of another type: %+v", j)
	}
	if err := store.DeleteType(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if j := get(`'a'`); j.Timeout != 0 || j.MaxAttempts != core.DefaultMaxAttempts || j.Backoff != nil {
		t.Errorf("a job of a type without its definition: %+v", j)
	}
}

// A job with a target of its own marks its type, so that workers who deliver claim it; the mark comes and goes with the
// transaction, and no more types are kept than the store keeps.
func TestSubmitMarksTheTypeOfATarget(t *testing.T) {
	address := migrated(t)
	store, conn := open(t, address), connect(t, address)
	marked := func() (names []string) {
		for _, d := range must(store.Types(t.Context())) {
			if d.Delivered {
				names = append(names, d.Name)
			}
		}
		return names
	}
	const with = `, target => '{"url":"https://example.com"}'`
	tx := must(conn.Begin(t.Context()))
	must(submitJob(t.Context(), tx, `'rolled.back'`+with))
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	must(submitJob(t.Context(), conn, `'plain'`))
	if err := store.Announce(t.Context(), core.Presence{ID: "w", Types: []string{"known"}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"own", "own", "known"} {
		must(submitJob(t.Context(), conn, `$1`+with, name))
	}
	if got := marked(); !slices.Equal(got, []string{"known", "own"}) {
		t.Errorf("marked %v", got)
	}
	script(t, conn, fmt.Sprintf(`INSERT INTO belfry.job_types (type, delivered) SELECT 'x' || i, true FROM generate_series(1, %d) i`, core.MaxTypes-2))
	must(submitJob(t.Context(), conn, `'own'`+with))
	_, err := submitJob(t.Context(), conn, `'one.more'`+with)
	if e := refusal(t, err); e.Code != "22023" || e.Message != core.TooManyTypes().Error() {
		t.Errorf("one type too many: %v", e)
	}
}

// A day of a delay has 24 hours, in whatever zone the session is and whatever its clocks do meanwhile.
func TestSubmitDelaysCountNoCalendar(t *testing.T) {
	conn := connect(t, migrated(t))
	script(t, conn, `SET TIME ZONE 'Europe/Berlin'; SET datestyle = 'German'; SET intervalstyle = 'iso_8601'`)
	for _, days := range []int{1, 100, 150, 200, 3650} { // of the first four at least one crosses one change of the clocks
		s := must(submitJob(t.Context(), conn, fmt.Sprintf(`'a', delay => '%d days'`, days)))
		if got, want := s.runAt.Sub(s.createdAt), time.Duration(days)*24*time.Hour; got != want {
			t.Errorf("%d days are %s, want %s", days, got, want)
		}
	}
}

// The bounds of run_at are core's, at any time of the session's zone: what Go's calendar makes of ten years ago.
func TestSubmitBoundsOfTimes(t *testing.T) {
	conn := connect(t, migrated(t))
	script(t, conn, `SET TIME ZONE 'Pacific/Kiritimati'`)
	for _, way := range []int{-core.PastYears, core.FutureYears} {
		tx := must(conn.Begin(t.Context()))
		bound := value[time.Time](t, tx, "SELECT now()").UTC().AddDate(way, 0, 0)
		outward := time.Duration(way/max(way, -way)) * time.Microsecond
		if _, err := submitJob(t.Context(), tx, `'a', run_at => $1`, bound); err != nil {
			t.Errorf("the bound %s: %v", bound, err)
		}
		if _, err := submitJob(t.Context(), tx, `'a', run_at => $1`, bound.Add(outward)); err == nil {
			t.Errorf("a microsecond beyond %s is accepted", bound)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
