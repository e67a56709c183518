package postgres_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
)

// pair is two jobs alike in all but their id: one to be cancelled by the store, one by the function.
type pair struct{ byStore, bySQL int64 }

// lively fills every column of waiting rows, so that none can be lost on the way to the history.
const lively = `UPDATE belfry.jobs SET started_at = now() - interval '1 hour', ended_token = 3, claim_id = 4, dispatch_fence = 5, attempts = 2, snoozes = 6, dispatches = 7,
	worker_id = 'w', schedule = 's', scheduled_for = now(), covers = '{}', errors = '[{"attempt":1,"error":"x"}]', lease_token = 41`

// cancelPairs makes a pair in each status.
func cancelPairs(t *testing.T, store *postgres.Store, conn *pgx.Conn) map[core.Status]pair {
	t.Helper()
	pairs := map[core.Status]pair{}
	for _, status := range []core.Status{core.Done, core.Failed, core.Running, core.Cancelled, core.Scheduled, core.Queued} {
		full := core.NewJob{Type: "a", Tenant: "t", Priority: core.Default, Timeout: time.Minute, Backoff: []time.Duration{time.Second}, Tags: []string{"x"}, ExpiresAt: time.Now().Add(time.Hour),
			Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Target: []byte(`{"url":"https://x"}`), Payload: []byte(`[1.0]`)}
		var ids []int64
		for range 2 {
			ids = append(ids, must(store.Submit(t.Context(), []core.NewJob{full}))[0].ID)
		}
		pairs[status] = pair{ids[0], ids[1]}
		switch status {
		case core.Done, core.Failed, core.Running:
			claimed := must(store.ClaimDue(t.Context(), core.ClaimRequest{WorkerID: "w", ClaimID: ids[0], Lease: time.Hour, Quotas: []core.Quota{{Priority: core.Default, Type: "a", Limit: 2}}})).Jobs
			outcome := map[core.Status]core.Outcome{core.Done: core.EndDone, core.Failed: core.EndFail}[status]
			for _, j := range claimed {
				if status != core.Running {
					must(store.Finish(t.Context(), []core.End{{Ref: core.Ref{ID: j.ID, Token: j.LeaseToken}, Outcome: outcome}}))
				}
			}
		case core.Cancelled:
			for _, id := range ids {
				must(store.Cancel(t.Context(), id))
			}
		case core.Queued:
			script(t, conn, lively+`, status = 2, lease_until = now() + interval '1 hour', reap_at = now() WHERE status = 1 AND id > (SELECT max(id) - 2 FROM belfry.jobs)`)
		case core.Scheduled:
			script(t, conn, lively+` WHERE status = 1`)
		}
	}
	return pairs
}

// belfry.cancel does to a job in each status what the store's Cancel does, to the last column.
func TestCancelIsThatOfTheStore(t *testing.T) {
	address := migrated(t)
	store, conn := open(t, address), connect(t, address)
	for status, p := range cancelPairs(t, store, conn) {
		if before := must(store.Get(t.Context(), p.bySQL)); before.Status != status {
			t.Fatalf("job %d is %s, want %s", p.bySQL, before.Status, status)
		}
		_, wantErr := store.Cancel(t.Context(), p.byStore)
		want := must(store.Get(t.Context(), p.byStore))
		var word string
		err := conn.QueryRow(t.Context(), "SELECT belfry.cancel($1)", p.bySQL).Scan(&word)
		got := must(store.Get(t.Context(), p.bySQL))
		var conflict *core.ConflictError
		switch {
		case errors.As(wantErr, &conflict):
			if e := refusal(t, err); e.Code != "55000" || e.Message != conflict.Error() {
				t.Errorf("%s: %v, want %v", status, e, conflict)
			}
		case err != nil:
			t.Errorf("%s: %v", status, err)
		case word != want.Status.String():
			t.Errorf("%s: said %q, want %q", status, word, want.Status)
		}
		if !want.FinishedAt.IsZero() && !got.FinishedAt.IsZero() {
			want.FinishedAt = got.FinishedAt
		}
		want.ID, want.Bucket, want.RunAt, want.CreatedAt, want.StartedAt, want.LeaseUntil, want.ExpiresAt = got.ID, got.Bucket, got.RunAt, got.CreatedAt, got.StartedAt, got.LeaseUntil, got.ExpiresAt
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: left\n%+v\nwant\n%+v", status, got, want)
		}
	}
}

// Every column of the history that has one of its name among the live ones is filled from it.
func TestCancelLosesNoColumn(t *testing.T) {
	address := migrated(t)
	store, conn := open(t, address), connect(t, address)
	cancelPairs(t, store, conn)
	id := value[int64](t, conn, `UPDATE belfry.jobs SET dedupe_key = 'k' WHERE id = (SELECT max(id) FROM belfry.jobs WHERE status = 1) RETURNING id`)
	before := value[map[string]any](t, conn, `SELECT to_jsonb(j) FROM belfry.jobs j WHERE id = $1`, id)
	if word := value[string](t, conn, `SELECT belfry.cancel($1)`, id); word != "cancelled" {
		t.Fatalf("said %q", word)
	}
	after := value[map[string]any](t, conn, `SELECT to_jsonb(h) FROM belfry.job_history h WHERE id = $1`, id)
	for name, kept := range after {
		was, there := before[name]
		switch {
		case name == "status" || name == "lease_token" || !there:
		case kept == nil || !reflect.DeepEqual(kept, was):
			t.Errorf("%s: %v became %v", name, was, kept)
		}
	}
	if after["lease_token"] != before["lease_token"].(float64)+1 || after["status"] != float64(core.Cancelled) || after["reason"] != "cancelled" {
		t.Errorf("%v", after)
	}
}

func TestCancelOfWhatIsNotThere(t *testing.T) {
	conn := connect(t, migrated(t))
	for argument, code := range map[string]string{"12345": "P0002", "-1": "P0002", "0": "P0002", "9223372036854775807": "P0002", "NULL": "22023"} {
		_, err := conn.Exec(t.Context(), "SELECT belfry.cancel("+argument+")")
		if e := refusal(t, err); e.Code != code || code == "P0002" && e.Message != "cancel: job "+argument+" is not found" {
			t.Errorf("%s: %v, want %s", argument, e, code)
		}
	}
}

// It counts exactly if the caller's transaction commits; a job submitted in it can be cancelled in it.
func TestCancelWithinATransaction(t *testing.T) {
	address := migrated(t)
	store, conn := open(t, address), connect(t, address)
	id := must(submitJob(t.Context(), conn, `'a', dedupe_key => 'k'`)).id
	tx := must(conn.Begin(t.Context()))
	if word := value[string](t, tx, "SELECT belfry.cancel($1)", id); word != "cancelled" {
		t.Errorf("said %q", word)
	}
	if s := must(submitJob(t.Context(), tx, `'a', dedupe_key => 'k'`)); s.duplicate {
		t.Error("the key of a job cancelled in the same transaction is taken")
	} else if word := value[string](t, tx, "SELECT belfry.cancel($1)", s.id); word != "cancelled" {
		t.Errorf("said %q", word)
	}
	if j := must(store.Get(t.Context(), id)); j.Status != core.Scheduled {
		t.Errorf("cancelled before the commit: %s", j.Status)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if j := must(store.Get(t.Context(), id)); j.Status != core.Scheduled || j.LeaseToken != 1 {
		t.Errorf("cancelled by a transaction that was rolled back: %+v", j)
	}
}

// On a day without a partition it goes to the overflow, as every end does.
func TestCancelOnADayWithoutAPartition(t *testing.T) {
	address := migrated(t)
	store, conn := open(t, address), connect(t, address)
	id := must(submitJob(t.Context(), conn, `'a'`)).id
	script(t, conn, `DO $$ DECLARE name text; BEGIN
		FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'belfry'::regnamespace AND relkind = 'r' AND relname ~ '^job_history_[0-9]+$' LOOP EXECUTE 'DROP TABLE belfry.' || name; END LOOP; END $$`)
	if word := value[string](t, conn, "SELECT belfry.cancel($1)", id); word != "cancelled" {
		t.Errorf("said %q", word)
	}
	if n := value[int](t, conn, `SELECT count(*) FROM belfry.job_history_overflow`); n != 1 || must(store.Get(t.Context(), id)).Status != core.Cancelled {
		t.Errorf("%d rows in the overflow", n)
	}
}
