package main

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

func TestMigrateUpAndStatus(t *testing.T) {
	database := testenv.Postgres(t)
	r := newRig(t, "http://127.0.0.1:1")
	r.env["BELFRY_DATABASE_URL"] = database
	if code := r.run("migrate", "status"); code != console.ExitFailed || !strings.Contains(r.out, "missing") {
		t.Errorf("before: %d\n%s%s", code, r.out, r.errs)
	}
	if out := r.ok("migrate", "up"); !strings.HasPrefix(out, "applied 0001_jobs\n") {
		t.Errorf("up says %q", out)
	}
	if out := r.ok("migrate", "up"); out != "nothing left to do: the schema is up to date\n" {
		t.Errorf("again says %q", out)
	}
	if out := r.ok("migrate", "status"); strings.Contains(out, "missing") || !strings.Contains(out, "0001_jobs") {
		t.Errorf("after\n%s", out)
	}
	if out := r.ok("migrate", "up", "--json"); out != `{"applied":[]}`+"\n" {
		t.Errorf("up --json says %q", out)
	}
	testenv.Execute(t, database, "INSERT INTO belfry.migrations (version, name, oldest) VALUES (9998, 'soon', 1)")
	if out := r.ok("migrate", "status"); !strings.Contains(out, "not known to this program, which works on it") {
		t.Errorf("newer, for this program too:\n%s", out)
	}
	if out := r.ok("migrate", "up"); out != "nothing left to do: the schema is up to date\n" {
		t.Errorf("newer, for this program too: %q", out)
	}
	testenv.Execute(t, database, "INSERT INTO belfry.migrations (version, name, oldest) VALUES (9999, E'future\\x1b[2J', 9998)")
	if code := r.run("migrate", "status"); code != console.ExitFailed || !strings.Contains(r.out, `9999     future\x1b[2J`) || !strings.Contains(r.out, "not known to this program") {
		t.Errorf("newer: %d\n%s", code, r.out)
	}
	if code := r.run("migrate", "up"); code != console.ExitFailed || !strings.Contains(r.errs, "update this program") {
		t.Errorf("newer: %d\n%s", code, r.errs)
	}
	if code := r.run("migrate", "status", "--database-url", "postgres://u:s3cr3t@127.0.0.1:1/x"); code != console.ExitUnreachable || strings.Contains(r.errs, "s3cr3t") {
		t.Errorf("no server: %d\n%s", code, r.errs)
	}
}

// Of commands that run at once each prints the migrations that it applied; one that only waited for another prints none.
func TestMigrateUpAtOnce(t *testing.T) {
	database := testenv.Postgres(t)
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	const lock = "SELECT pg_advisory_lock(108187749872250)" // what a migrator holds; it ends with the connection
	if _, err := conn.Exec(t.Context(), lock); err != nil {
		t.Fatal(err)
	}
	rigs := make([]*rig, 3)
	var running sync.WaitGroup
	for i := range rigs {
		rigs[i] = newRig(t, "http://127.0.0.1:1")
		rigs[i].env["BELFRY_DATABASE_URL"] = database
	}
	for _, r := range rigs {
		running.Go(func() { r.run("migrate", "up") })
	}
	awaitMigrators(t, conn, len(rigs))
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	running.Wait()
	told := map[string]int{}
	for _, r := range rigs {
		for line := range strings.Lines(r.out) {
			told[line]++
		}
	}
	steps, err := postgres.Schema(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		if n := told["applied "+step.Name+"\n"]; n != 1 {
			t.Errorf("%s: told %d times", step.Name, n)
		}
	}
	if n := told["nothing left to do: the schema is up to date\n"]; n != 2 || len(told) != len(steps)+1 {
		t.Errorf("want two of three to say that nothing was left to do: %v", told)
	}
}

// awaitMigrators waits until so many migrators have their two connections each.
func awaitMigrators(t *testing.T, conn *pgx.Conn, migrators int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for connections := 0; connections != 2*migrators; <-poll.C {
		const count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
		if err := conn.QueryRow(ctx, count).Scan(&connections); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDoctor(t *testing.T) {
	database := testenv.Postgres(t)
	r := newRig(t, "http://127.0.0.1:1")
	r.env["BELFRY_DATABASE_URL"] = database
	says := func(code int, lines ...string) {
		t.Helper()
		if got := r.run("doctor"); got != code {
			t.Errorf("doctor ends with %d, want %d", got, code)
		}
		for _, line := range lines {
			if !strings.Contains(r.out, line) {
				t.Errorf("doctor does not say %q:\n%s%s", line, r.out, r.errs)
			}
		}
	}
	says(console.ExitFailed, "broken    api           GET /readyz: no connection to", "→ start the API", "ok        database      PostgreSQL ", "broken    schema ", " migrations are missing", "→ belfry migrate up")
	r.ok("migrate", "up")
	store, err := postgres.Open(t.Context(), database, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.env["BELFRY_URL"] = nodetest.StartOn(t, "all", store)
	waitUntil(t, database, "SELECT count(*) = 64 FROM belfry.scheduler_leases WHERE holder <> ''")
	says(console.ExitOK, "ok        api ", "ok        clock", "ok        scheduler     64 of 64", "ok        partitions    history is ready for 8 days", "ok        snapshot")
	if strings.Contains(r.out, "→") {
		t.Errorf("advice where nothing is wrong:\n%s", r.out)
	}
	testenv.Execute(t, database, `
INSERT INTO belfry.jobs (id, run_at, type) SELECT nextval('belfry.job_ids'), now() - interval '10 min', 'no/handler' FROM generate_series(1, 3);
DO $$ BEGIN EXECUTE 'DROP TABLE belfry.job_history_' || to_char((now() AT TIME ZONE 'UTC')::date + 2, 'YYYYMMDD'); END $$;
ALTER DATABASE `+name(t, database)+` SET default_transaction_isolation = 'serializable'`)
	waitUntil(t, database, "SELECT pg_sleep(1.1) IS NOT NULL") // numbers of the API are up to a second old
	says(console.ExitFailed, "warning   unhandled     3 jobs due", "warning   late          due jobs wait: default 10m", "warning   types         no worker handles no/handler (3)",
		"warning   partitions    history is ready for 1 day ahead", `broken    database      default_transaction_isolation is "serializable"`)
	if code := r.run("doctor", "--json"); code != console.ExitFailed || !strings.Contains(r.out, `{"check":"unhandled","state":"warning","text":"3 jobs due, of types that no worker handles: no/handler (3)","advice":"`) {
		t.Errorf("%d %s", code, r.out)
	}
}

func name(t *testing.T, address string) string {
	t.Helper()
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	return pgx.Identifier{config.Database}.Sanitize()
}

// waitUntil asks until the answer is true, or the test's time is over.
func waitUntil(t *testing.T, address, question string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for range 1000 {
		var yes bool
		if err := conn.QueryRow(t.Context(), question).Scan(&yes); err != nil {
			t.Fatal(err)
		}
		if yes {
			return
		}
		if _, err := conn.Exec(t.Context(), "SELECT pg_sleep(0.02)"); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("never true: %s", question)
}
