package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// bury makes n dead letters of a type.
func bury(t *testing.T, s *Store, n int) {
	t.Helper()
	ctx := t.Context()
	jobs := make([]core.NewJob, n)
	for i := range jobs {
		jobs[i] = core.NewJob{Type: "a"}
	}
	if _, err := s.Submit(ctx, jobs); err != nil {
		t.Fatal(err)
	}
	res, err := s.ClaimDue(ctx, core.ClaimRequest{WorkerID: "w", ClaimID: 1, Lease: time.Minute, Quotas: []core.Quota{{Priority: core.Default, Type: "a", Limit: n}}})
	if err != nil || len(res.Jobs) != n {
		t.Fatalf("%d claimed, %v", len(res.Jobs), err)
	}
	ends := make([]core.End, n)
	for i, job := range res.Jobs {
		ends[i] = core.End{Ref: core.Ref{ID: job.ID, Token: job.LeaseToken}, Outcome: core.EndFail, Errors: []core.AttemptError{{Attempt: 1, Error: fmt.Sprint("no ", i), Kind: "error"}}}
	}
	if _, err := s.Finish(ctx, ends); err != nil {
		t.Fatal(err)
	}
}

// TestMigrationGroupsDeadLetters: dead letters of before there were groups get theirs.
func TestMigrationGroupsDeadLetters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	store := openHere(t, path, Options{})
	const n = 1203 // more than two batches
	bury(t, store, n)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := connect(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.exec(t.Context(), "DELETE FROM dead_letter_groups"); err != nil {
		t.Fatal(err)
	}
	if err := fillGroups(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	store = openHere(t, path, Options{})
	groups, err := store.DeadGroups(t.Context(), core.DeadQuery{}, 10)
	if want := core.ErrorGroup("a", []core.AttemptError{{Error: "no 5", Kind: "error"}}); err != nil || len(groups) != 1 || groups[0].Count != n || groups[0].Group != want {
		t.Errorf("%+v, %v; want %d in %s", groups, err, n, want)
	}
	if fills[4] == nil {
		t.Error("migration 4 does not fill them")
	}
}

// TestGroupsGoWithTheirDeadLetters: nothing is left of a dead letter that has gone, whichever way.
func TestGroupsGoWithTheirDeadLetters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	store := openHere(t, path, Options{})
	bury(t, store, 10)
	if _, err := store.Retry(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Redrive(t.Context(), core.DeadQuery{}, 3, core.Pace{}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Discard(t.Context(), core.DeadQuery{}, 4); err != nil {
		t.Fatal(err)
	}
	left, groups := int64(0), int64(0)
	if err := store.readers.read(t.Context(), func(c *conn) (err error) {
		if left, _, err = c.number(t.Context(), "SELECT COUNT(*) FROM dead_letters"); err != nil {
			return err
		}
		groups, _, err = c.number(t.Context(), "SELECT COUNT(*) FROM dead_letter_groups")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if left != 2 || groups != 2 {
		t.Errorf("%d dead letters and %d groups, want 2 and 2", left, groups)
	}
}

// TestListLooksAtItsWindow: a page meets as many rows as it may look at and no more, and names the last of them.
func TestListLooksAtItsWindow(t *testing.T) {
	store := openHere(t, filepath.Join(t.TempDir(), "belfry.db"), Options{})
	bury(t, store, 20) // ids 1 to 20
	jobs := make([]core.NewJob, 80)
	for i := range jobs {
		jobs[i] = core.NewJob{Type: "b", Tenant: []string{"", "t"}[i%2]}
	}
	if _, err := store.Submit(context.Background(), jobs); err != nil {
		t.Fatal(err)
	}
	store.listWindow = 10
	tenant := "t"
	for name, c := range map[string]struct {
		q    core.ListQuery
		next int64
	}{
		"none match":         {core.ListQuery{Type: "x"}, 91},
		"none of a tenant's": {core.ListQuery{Type: "x", Tenant: &tenant}, 82},
		"below":              {core.ListQuery{Type: "x", Before: 26}, 16},
		"the last row":       {core.ListQuery{Type: "x", Before: 11}, 1},
		"beyond it":          {core.ListQuery{Type: "x", Before: 10}, 0},
		"dead, by type":      {core.ListQuery{Statuses: []core.Status{core.Failed}, Type: "a", Tag: "x"}, 11},
		"dead, by group":     {core.ListQuery{Group: core.ErrorGroup("a", []core.AttemptError{{Error: "no 1", Kind: "error"}}), Tag: "x"}, 11},
	} {
		c.q.Limit = 100
		page, err := store.List(t.Context(), c.q)
		if err != nil || len(page.Jobs) != 0 || page.Next != c.next {
			t.Errorf("%s: %d jobs, next %d, %v; want none and %d", name, len(page.Jobs), page.Next, err, c.next)
		}
	}
}
