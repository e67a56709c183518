package main

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// However many dead letters cannot be deleted, discard goes on past them, and says at the end how many and which.
func TestDiscardGoesOnPastDeadLettersThatStay(t *testing.T) {
	const kept, all = 40, 43
	file := filepath.Join(t.TempDir(), "belfry.db")
	store, err := sqlite.Open(t.Context(), file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var jobs []core.NewJob
	for range all {
		jobs = append(jobs, core.NewJob{Type: "a"})
	}
	if _, err := store.Submit(t.Context(), jobs); err != nil {
		t.Fatal(err)
	}
	claimed, err := store.ClaimDue(t.Context(), core.ClaimRequest{ClaimID: 1, WorkerID: "w", Quotas: []core.Quota{{Priority: core.Default, Type: "a", Limit: all}}})
	if err != nil || len(claimed.Jobs) != all {
		t.Fatalf("%d claimed, %v", len(claimed.Jobs), err)
	}
	ends := make([]core.End, all)
	var ids []string
	for i, job := range claimed.Jobs {
		ends[i] = core.End{Ref: core.Ref{ID: job.ID, Token: job.LeaseToken}, Outcome: core.EndFail}
		if i < kept {
			ids = append(ids, fmt.Sprint(job.ID))
		}
	}
	if _, err := store.Finish(t.Context(), ends); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, nodetest.StartOn(t, "api", store))
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	trigger := fmt.Sprintf("CREATE TRIGGER kept BEFORE DELETE ON dead_letters WHEN OLD.id <= %s BEGIN SELECT RAISE(ABORT, 'kept'); END", ids[kept-1])
	if _, err := db.ExecContext(t.Context(), trigger); err != nil {
		t.Fatal(err)
	}
	said := "40 dead letters could not be deleted, because their rows raise an error: " + strings.Join(ids, ", ") + "; belfry doctor says which error"
	if code := r.run("dead-letters", "discard", "--all", "--yes"); code != console.ExitFailed || !strings.HasPrefix(r.out, "3 deleted\n") || !strings.Contains(r.errs, said) {
		t.Errorf("%d %s%s", code, r.out, r.errs)
	}
	if code := r.run("dead-letters", "discard", ids[3], "--yes"); code != console.ExitFailed || !strings.HasPrefix(r.out, "0 deleted\n") || !strings.Contains(r.errs, "1 dead letter could not be deleted, because their rows raise an error: "+ids[3]) {
		t.Errorf("%d %s%s", code, r.out, r.errs)
	}
	if _, err := db.ExecContext(t.Context(), "DROP TRIGGER kept"); err != nil {
		t.Fatal(err)
	}
	if out := r.ok("dead-letters", "discard", "--all", "--yes"); !strings.HasPrefix(out, "40 deleted\n") {
		t.Error(out)
	}
}
