package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// psql is one run of the program, fed line by line.
type psql struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out, err bytes.Buffer
}

func startPsql(t *testing.T, address string) *psql {
	t.Helper()
	p := &psql{cmd: exec.CommandContext(t.Context(), testenv.Program(t, "psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", address)}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.in = in; p.cmd.Start() != nil {
		t.Fatal("psql does not start")
	}
	return p
}

func (p *psql) say(t *testing.T, sql string) {
	t.Helper()
	if _, err := io.WriteString(p.in, sql+"\n"); err != nil {
		t.Fatal(err)
	}
}

// end waits for the program and returns what it printed.
func (p *psql) end() (out string, err error) {
	if err := p.in.Close(); err != nil {
		return "", err
	}
	if err := p.cmd.Wait(); err != nil {
		return "", fmt.Errorf("%w: %s", err, p.err.Bytes())
	}
	return strings.TrimSpace(p.out.String()), nil
}

func TestSubmitAndCancelFromPsql(t *testing.T) {
	address := migrated(t)
	store := open(t, address)
	run := func(sql string) (string, error) {
		p := startPsql(t, address)
		p.say(t, sql)
		return p.end()
	}
	committed, err := run(`BEGIN; SELECT belfry.submit('mail.send', '{"to" : "a@example.com"}', delay => '10 minutes', tags => '{x}'); COMMIT;`)
	if err != nil {
		t.Fatal(err)
	}
	var id int64
	if _, err := fmt.Sscan(committed, &id); err != nil {
		t.Fatalf("%q: %v", committed, err)
	}
	if j := must(store.Get(t.Context(), id)); string(j.Payload) != `{"to" : "a@example.com"}` || j.RunAt.Sub(j.CreatedAt) != 10*time.Minute {
		t.Errorf("%+v", j)
	}
	rolledBack, err := run(`BEGIN; SELECT belfry.submit('a'); ROLLBACK;`)
	if err != nil || rolledBack == "" || rolledBack == committed {
		t.Errorf("%q, %v", rolledBack, err)
	}
	if page := must(store.List(t.Context(), core.ListQuery{Limit: 10})); len(page.Jobs) != 1 {
		t.Errorf("%d jobs after one commit and one rollback", len(page.Jobs))
	}
	if out, err := run(`SELECT belfry.cancel(` + committed + `);`); out != "cancelled" || err != nil {
		t.Errorf("cancel: %q, %v", out, err)
	}
	if _, err := run(`SELECT belfry.cancel(` + committed + `);`); err == nil || !strings.Contains(err.Error(), "cancel: the job is cancelled") {
		t.Errorf("cancel again: %v", err)
	}
	if _, err := run(`SELECT belfry.submit('a', '"\u0000"');`); err == nil || !strings.Contains(err.Error(), `payload: holds \u0000 at byte 1, which cannot be kept`) {
		t.Errorf("U+0000: %v", err)
	}
}

// 64 transactions at once submit the same key, each from a psql of its own; the first to have it rolls back. One job
// remains, and all that committed name it.
func TestDedupeRaceOf64Psqls(t *testing.T) {
	const racers = 64
	address := migrated(t)
	store, watch := open(t, address), connect(t, address)
	const submit = `SELECT id, duplicate FROM belfry.submit_job('a', dedupe_key => 'one');`
	first := startPsql(t, address)
	first.say(t, "BEGIN; "+submit)
	waitUntil(t, watch, 1, "state = 'idle in transaction'")
	others := make([]*psql, racers-1)
	for i := range others {
		others[i] = startPsql(t, address)
		others[i].say(t, "BEGIN; "+submit+" COMMIT;")
	}
	waitUntil(t, watch, racers-1, "wait_event_type = 'Lock'")
	first.say(t, "ROLLBACK;")
	lost, err := first.end()
	if err != nil {
		t.Fatal(err)
	}
	fresh, ids := 0, map[string]bool{}
	for _, p := range others {
		out, err := p.end()
		id, duplicate, _ := strings.Cut(out, "|")
		if err != nil || id == "" {
			t.Fatalf("%q, %v", out, err)
		}
		if ids[id] = true; duplicate == "f" {
			fresh++
		}
	}
	page := must(store.List(t.Context(), core.ListQuery{Limit: 10}))
	if len(page.Jobs) != 1 || len(ids) != 1 || !ids[fmt.Sprint(page.Jobs[0].ID)] || fresh != 1 || lost == fmt.Sprint(page.Jobs[0].ID)+"|f" {
		t.Errorf("%d jobs; the racers name %v, %d of them as new; the first had %s", len(page.Jobs), ids, fresh, lost)
	}
}

// Keys that are submitted and cancelled all the time never make a submit fail, and never lead to a job there is not.
func TestSubmitAndCancelAtOnce(t *testing.T) {
	address := migrated(t)
	const rounds = 150
	conns := []*pgx.Conn{connect(t, address), connect(t, address), connect(t, address), connect(t, address)}
	var running sync.WaitGroup
	for _, conn := range conns {
		running.Go(func() {
			for range rounds {
				s, err := submitJob(t.Context(), conn, `'a', dedupe_key => 'k'`)
				if err != nil || s.id == 0 {
					t.Errorf("submit: %+v, %v", s, err)
					return
				}
				var word string
				err = conn.QueryRow(t.Context(), "SELECT belfry.cancel($1)", s.id).Scan(&word)
				var e *pgconn.PgError
				if err != nil && (!errors.As(err, &e) || e.Message != "cancel: the job is cancelled") {
					t.Errorf("cancel of %d: %v", s.id, err)
				}
			}
		})
	}
	running.Wait()
	if n := value[int](t, conns[0], `SELECT count(*) FROM belfry.jobs`); n != 0 {
		t.Errorf("%d jobs are left", n)
	}
	if double := value[int](t, conns[0], `SELECT count(*) - count(DISTINCT id) FROM belfry.job_history`); double != 0 {
		t.Errorf("%d jobs are twice in the history", double)
	}
}

// waitUntil returns once n other sessions of this database are as the condition says.
func waitUntil(t *testing.T, conn *pgx.Conn, n int, condition string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for there := 0; there < n; {
		err := conn.QueryRow(ctx, "SELECT count(*), pg_sleep(0.02) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND "+condition).Scan(&there, nil)
		if err != nil {
			t.Fatalf("%d sessions, want %d: %v", there, n, err)
		}
	}
}
