package belfrytx_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/client/belfrytx"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/nodetest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

func openStore(t *testing.T) (*postgres.Store, string) {
	t.Helper()
	address := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store, address
}

func connect(t *testing.T, address string, mode pgx.QueryExecMode) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = mode
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return conn
}

// full is a job with every field set, including hostile texts.
func full() client.NewJob {
	return client.NewJob{
		Type: "mail.send", Payload: json.RawMessage("{ \"a\" : 1e5,\"n\":-0, \"t\":\"it's \\\\ {} é 🎉\"}"), Priority: client.Bulk, Tenant: `o'b"r\{ien},%s $1`,
		RunAt: time.Date(2031, 5, 6, 7, 8, 9, 123456789, time.FixedZone("x", 3600)), DedupeKey: `k'"\ {}`, MaxAttempts: 9, Timeout: 90 * time.Second,
		ExpiresAt: time.Date(2032, 1, 1, 0, 0, 0, 0, time.UTC), Backoff: []time.Duration{time.Second, time.Hour},
		Target: &client.Target{URL: "https://example.com/x?y=z", Headers: map[string]string{"X-A": "b"}}, Tags: []string{`a,"b"\`, "NULL", "c d"},
	}
}

// The row equals the one that the API writes, in every query mode of the driver.
func TestRowIsTheOneTheStoreWrites(t *testing.T) {
	store, address := openStore(t)
	job := full()
	want, err := store.Submit(t.Context(), []core.NewJob{{
		Type: job.Type, Payload: job.Payload.(json.RawMessage), Priority: core.Bulk, Tenant: job.Tenant, RunAt: job.RunAt, DedupeKey: "other", MaxAttempts: 9,
		Timeout: job.Timeout, ExpiresAt: job.ExpiresAt, Backoff: job.Backoff, Target: json.RawMessage(`{"url":"https://example.com/x?y=z","headers":{"X-A":"b"}}`), Tags: job.Tags,
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(mode.String(), func(t *testing.T) {
			conn := connect(t, address, mode)
			job.DedupeKey = "k'" + mode.String()
			var all []belfrytx.Submitted
			err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) (err error) {
				all, err = belfrytx.SubmitBatchTx(t.Context(), tx, []client.NewJob{job, {Type: "bare"}, {Type: "later", Delay: 90 * time.Minute}})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			got, expected := read(t, store, all[0].ID), read(t, store, strconv.FormatInt(want[0].ID, 10))
			if got.DedupeKey != job.DedupeKey {
				t.Errorf("dedupe key %q", got.DedupeKey)
			}
			expected.ID, expected.Bucket, expected.CreatedAt, expected.DedupeKey = got.ID, got.Bucket, got.CreatedAt, got.DedupeKey
			if !reflect.DeepEqual(got, expected) {
				t.Errorf("row\n%+v\nwant\n%+v", got, expected)
			}
			bare, later := read(t, store, all[1].ID), read(t, store, all[2].ID)
			if string(bare.Payload) != "{}" || bare.Priority != core.Default || bare.MaxAttempts != core.DefaultMaxAttempts || !bare.RunAt.Equal(bare.CreatedAt) {
				t.Errorf("%+v", bare)
			}
			if d := later.RunAt.Sub(later.CreatedAt); d != 90*time.Minute || !later.RunAt.Equal(all[2].RunAt) {
				t.Errorf("delayed by %s, answered %s", d, all[2].RunAt)
			}
		})
	}
}

func read(t *testing.T, store *postgres.Store, id string) core.Job {
	t.Helper()
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	job, err := store.Get(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func TestRolledBackMeansNoJob(t *testing.T) {
	store, address := openStore(t)
	conn := connect(t, address, pgx.QueryExecModeCacheStatement)
	roll := errors.New("roll back")
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		if _, err := belfrytx.SubmitTx(t.Context(), tx, client.NewJob{Type: "echo"}); err != nil {
			return err
		}
		nested := pgx.BeginFunc(t.Context(), tx, func(savepoint pgx.Tx) error {
			if _, err := belfrytx.SubmitTx(t.Context(), savepoint, client.NewJob{Type: "echo"}); err != nil {
				return err
			}
			return roll
		})
		if !errors.Is(nested, roll) {
			return nested
		}
		var n int
		if err := tx.QueryRow(t.Context(), "SELECT count(*) FROM belfry.jobs").Scan(&n); err != nil || n != 1 {
			t.Errorf("%d rows within, %v", n, err)
		}
		return roll
	})
	if !errors.Is(err, roll) {
		t.Fatal(err)
	}
	if jobs, err := store.List(t.Context(), core.ListQuery{Limit: 10}); err != nil || len(jobs.Jobs) != 0 {
		t.Errorf("%d jobs, %v", len(jobs.Jobs), err)
	}
}

func TestRefusedJobsLeaveTheTransactionAlone(t *testing.T) {
	_, address := openStore(t)
	conn := connect(t, address, pgx.QueryExecModeCacheStatement)
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		for _, bad := range []client.NewJob{
			{}, {Type: "a b"}, {Type: "a", Priority: "urgent"}, {Type: "a", Payload: json.RawMessage("{")}, {Type: "a", Payload: json.RawMessage(`"\u0000"`)},
			{Type: "a", Payload: func() {}}, {Type: "a", Tenant: "\x1b[2J"}, {Type: "a", DedupeKey: "a\x00b"}, {Type: "a", Target: &client.Target{URL: "file:///x"}},
			{Type: "a", Tags: []string{""}}, {Type: "a", Delay: -1}, {Type: "a", RunAt: time.Date(20231, 1, 1, 0, 0, 0, 0, time.UTC)}, {Type: "a", Backoff: []time.Duration{}},
		} {
			var fields client.FieldErrors
			if _, err := belfrytx.SubmitTx(t.Context(), tx, bad); !errors.As(err, &fields) {
				t.Errorf("%+v: %v", bad, err)
			}
		}
		var fields client.FieldErrors
		_, err := belfrytx.SubmitBatchTx(t.Context(), tx, []client.NewJob{{Type: "a"}, {}})
		if !errors.As(err, &fields) || fields[0].Field != "jobs[1].type" {
			t.Errorf("%v", err)
		}
		_, err = belfrytx.SubmitTx(t.Context(), tx, client.NewJob{Type: "a"})
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWithoutASchema(t *testing.T) {
	conn := connect(t, testenv.Postgres(t), pgx.QueryExecModeCacheStatement)
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		_, err := belfrytx.SubmitTx(t.Context(), tx, client.NewJob{Type: "a"})
		return err
	})
	if !errors.Is(err, core.ErrSchema) {
		t.Error(err)
	}
}

// A job that commits long after its run_at, behind jobs claimed since, still runs.
func TestLateCommitIsRun(t *testing.T) {
	_, address := openStore(t)
	node, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(nodetest.StartOn(t, "all", node), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, address, pgx.QueryExecModeCacheStatement)
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	late, err := belfrytx.SubmitTx(t.Context(), tx, client.NewJob{Type: "echo", Payload: 7})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // claims continue past the late job's run_at
		job, err := c.Submit(t.Context(), client.NewJob{Type: "echo"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Wait(t.Context(), job.ID); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Get(t.Context(), late.ID); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("seen before its commit: %v", err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if job, err := c.Wait(ctx, late.ID); err != nil || job.Status != client.Done || string(job.Result) != "7" {
		t.Errorf("%+v, %v", job, err)
	}
}

// The rights in docs/client.md are sufficient, and each of them is needed.
func TestRightsOfTheRole(t *testing.T) {
	_, address := openStore(t)
	conn := connect(t, address, pgx.QueryExecModeCacheStatement)
	run := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(context.Background(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	role := pgx.Identifier{"submits_" + strconv.FormatInt(time.Now().UnixNano(), 36)}.Sanitize()
	run("CREATE ROLE " + role)
	t.Cleanup(func() { run("DROP OWNED BY " + role + "; DROP ROLE " + role) })
	submit := func() error {
		run("SET ROLE " + role)
		defer run("RESET ROLE")
		return pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			for range 2 {
				if _, err := belfrytx.SubmitTx(t.Context(), tx, client.NewJob{Type: "a", DedupeKey: "k"}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for _, right := range []string{"USAGE ON SCHEMA belfry", "EXECUTE ON FUNCTION belfry.submit_job"} {
		if submit() == nil {
			t.Errorf("it works without %s", right)
		}
		run("GRANT " + right + " TO " + role)
	}
	if err := submit(); err != nil {
		t.Error(err)
	}
}
