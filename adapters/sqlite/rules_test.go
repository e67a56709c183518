package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/internal/rulestest"
)

// What the rules accept is kept as it came.
func TestAcceptedJobsAreKeptAsTheyCame(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	names, jobs, err := rulestest.Accepted(time.Now())
	if err != nil || len(jobs) < 60 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	written, err := store.Submit(t.Context(), jobs)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range written {
		got, err := store.Get(t.Context(), w.ID)
		if err != nil || w.Existing != nil {
			t.Fatalf("%s: %v", names[i], err)
		}
		if fields := rulestest.Differences(jobs[i], got); fields != nil {
			t.Errorf("%s: not kept as it came: %v", names[i], fields)
		}
	}
}
