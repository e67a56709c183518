package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/rulestest"
)

// What the rules accept is kept as it came.
func TestAcceptedJobsAreKeptAsTheyCame(t *testing.T) {
	store := open(t, migrated(t))
	names, jobs, err := rulestest.Accepted(time.Now())
	if err != nil || len(jobs) < 60 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	for i, w := range must(store.Submit(t.Context(), jobs)) {
		if fields := rulestest.Differences(jobs[i], must(store.Get(t.Context(), w.ID))); fields != nil || w.Existing != nil {
			t.Errorf("%s: not kept as it came: %v", names[i], fields)
		}
	}
}

// submitted is what belfry.submit_job answers.
type submitted struct {
	id               int64
	duplicate        bool
	runAt, createdAt time.Time
}

// querier is a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// submitJob calls the function; arguments are as SQL writes them.
func submitJob(ctx context.Context, db querier, arguments string, values ...any) (s submitted, err error) {
	err = db.QueryRow(ctx, "SELECT id, duplicate, run_at, created_at FROM belfry.submit_job("+arguments+")", values...).
		Scan(&s.id, &s.duplicate, &s.runAt, &s.createdAt)
	return s, err
}

// The table that HTTP and Go are held against too: SQL accepts and refuses the same jobs, names the same fields, in
// the same words where Go has words for the job, and keeps what it accepts as the store does.
func TestRulesOfTheFunction(t *testing.T) {
	address := migrated(t)
	store, conn, now := open(t, address), connect(t, address), time.Now()
	rows, accepted := 0, 0
	for _, c := range rulestest.Cases(now) {
		if c.Call == "" {
			continue
		}
		rows++
		s, err := submitJob(t.Context(), conn, c.Call, c.Values...)
		if c.Field != "" {
			checkRefused(t, c, now, err)
			continue
		}
		if err != nil || s.duplicate {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		accepted++
		checkKept(t, store, c, now, s)
	}
	var kept int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM belfry.jobs").Scan(&kept); err != nil || kept != accepted {
		t.Errorf("%d jobs after %d were accepted, %v", kept, accepted, err)
	}
	if rows < 120 {
		t.Errorf("%d rows", rows)
	}
}

func checkKept(t *testing.T, store *postgres.Store, c rulestest.Case, now time.Time, s submitted) {
	t.Helper()
	got := must(store.Get(t.Context(), s.id))
	if !got.RunAt.Equal(s.runAt) || !got.CreatedAt.Equal(s.createdAt) {
		t.Errorf("%s: answered %+v, kept %s and %s", c.Name, s, got.RunAt, got.CreatedAt)
	}
	if c.Job == nil {
		return
	}
	want, err := core.CheckNewJob(*c.Job, core.JobType{}, now)
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
	}
	if fields := rulestest.Differences(want.NewJob(), got); fields != nil {
		t.Errorf("%s: not kept as it came: %v", c.Name, fields)
	}
}

// checkRefused wants the error that the case calls for.
func checkRefused(t *testing.T, c rulestest.Case, now time.Time, err error) {
	t.Helper()
	var e *pgconn.PgError
	switch {
	case !errors.As(err, &e):
		t.Errorf("%s: want %s refused, got %v", c.Name, c.Field, err)
		return
	case c.BadValue:
		if !strings.HasPrefix(e.Code, "22") || e.Code == "22023" {
			t.Errorf("%s: want the server to refuse the value, got %v", c.Name, e)
		}
		return
	case e.Code != "22023" || e.ColumnName != c.Field || !strings.HasPrefix(e.Message, c.Field+": "):
		t.Errorf("%s: want 22023 of %s, got %s of %q: %s", c.Name, c.Field, e.Code, e.ColumnName, e.Message)
		return
	}
	if c.Job == nil {
		return
	}
	if _, want := core.CheckNewJob(*c.Job, core.JobType{}, now); want == nil || want.Error() != e.Message {
		t.Errorf("%s:\nSQL says %s\nGo says  %v", c.Name, e.Message, want)
	}
}
