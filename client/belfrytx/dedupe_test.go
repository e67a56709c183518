package belfrytx_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/client/belfrytx"
	"github.com/belfry-dev/belfry/core"
)

func TestDedupeKeys(t *testing.T) {
	_, address := openStore(t)
	conn := connect(t, address, pgx.QueryExecModeCacheStatement)
	var all []belfrytx.Submitted
	var next belfrytx.Submitted
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) (err error) {
		all, err = belfrytx.SubmitBatchTx(t.Context(), tx, []client.NewJob{
			{Type: "a", DedupeKey: "z"}, {Type: "a"}, {Type: "a", DedupeKey: "b"}, {Type: "a", DedupeKey: "z"}, {Type: "a", DedupeKey: "z", Tenant: "t"}, {Type: "a"},
		})
		if err == nil {
			next, err = belfrytx.SubmitTx(t.Context(), tx, client.NewJob{Type: "c", DedupeKey: "b"})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for i, s := range all {
		if want := i == 3; s.Duplicate != want || s.ID == "" {
			t.Errorf("job %d: %+v", i, s)
		}
		ids[s.ID] = true
	}
	if len(ids) != 5 || all[3].ID != all[0].ID {
		t.Errorf("%+v", all)
	}
	if !next.Duplicate || next.ID != all[2].ID {
		t.Errorf("%+v", next)
	}
}

// If an open transaction is cancelling the job that holds a key, the submit waits for it. It gets the key if that
// transaction commits; the holder keeps it after a rollback.
func TestKeyWhoseHolderIsBeingCancelled(t *testing.T) {
	_, address := openStore(t)
	conns := []*pgx.Conn{connect(t, address, pgx.QueryExecModeCacheStatement), connect(t, address, pgx.QueryExecModeCacheStatement), connect(t, address, pgx.QueryExecModeCacheStatement)}
	submit := func(conn *pgx.Conn) (s belfrytx.Submitted, err error) {
		err = pgx.BeginFunc(context.WithoutCancel(t.Context()), conn, func(tx pgx.Tx) (err error) {
			s, err = belfrytx.SubmitTx(t.Context(), tx, client.NewJob{Type: "a", DedupeKey: "k"})
			return err
		})
		return s, err
	}
	holder, err := submit(conns[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, commit := range []bool{false, true} {
		tx, err := conns[0].Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), "SELECT belfry.cancel($1)", holder.ID); err != nil {
			t.Fatal(err)
		}
		type answer struct {
			s   belfrytx.Submitted
			err error
		}
		answers := make(chan answer, 1)
		go func() {
			s, err := submit(conns[1])
			answers <- answer{s, err}
		}()
		waitForLocks(t, conns[2], 1)
		if commit {
			err = tx.Commit(t.Context())
		} else {
			err = tx.Rollback(t.Context())
		}
		got := <-answers
		if err = errors.Join(err, got.err); err != nil || got.s.Duplicate == commit || (got.s.ID == holder.ID) == commit {
			t.Errorf("commit %t: %+v, %v", commit, got.s, err)
		}
	}
}

// 64 concurrent transactions submit the same key, and the first to get it rolls back. One job remains, and every committed
// transaction names it.
func TestDedupeRaceOf64(t *testing.T) {
	store, address := openStore(t)
	const racers = 64
	conns := make([]*pgx.Conn, racers+1)
	for i := range conns {
		conns[i] = connect(t, address, pgx.QueryExecModeCacheStatement)
	}
	tx, err := conns[racers-1].Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	job := client.NewJob{Type: "echo", DedupeKey: "one"}
	if _, err := belfrytx.SubmitTx(t.Context(), tx, job); err != nil {
		t.Fatal(err)
	}
	answers := make([]belfrytx.Submitted, racers-1)
	errs := make([]error, racers-1)
	var racing sync.WaitGroup
	t.Cleanup(racing.Wait) // also after a failure; the test's context has ended by then
	for i := range answers {
		racing.Go(func() {
			errs[i] = pgx.BeginFunc(t.Context(), conns[i], func(tx pgx.Tx) (err error) {
				answers[i], err = belfrytx.SubmitTx(t.Context(), tx, job)
				return err
			})
		})
	}
	waitForLocks(t, conns[racers], racers-1)
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	racing.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	jobs, err := store.List(t.Context(), core.ListQuery{Limit: 10})
	if err != nil || len(jobs.Jobs) != 1 {
		t.Fatalf("%d jobs, %v", len(jobs.Jobs), err)
	}
	fresh := 0
	for _, a := range answers {
		if a.ID != strconv.FormatInt(jobs.Jobs[0].ID, 10) {
			t.Errorf("%+v, want job %d", a, jobs.Jobs[0].ID)
		}
		if !a.Duplicate {
			fresh++
		}
	}
	if fresh != 1 {
		t.Errorf("%d say that the job is new", fresh)
	}
}

// waitForLocks returns once n sessions wait for a transaction.
func waitForLocks(t *testing.T, conn *pgx.Conn, n int) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for waiting := 0; waiting < n; {
		if time.Now().After(deadline) {
			t.Fatalf("%d wait, want %d", waiting, n)
		}
		err := conn.QueryRow(t.Context(), "SELECT count(*), pg_sleep(0.02) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&waiting, nil)
		if err != nil {
			t.Fatal(err)
		}
	}
}
