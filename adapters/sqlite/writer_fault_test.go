package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

func TestFullDiskSaysSoAndRecovers(t *testing.T) {
	store := openHere(t, filepath.Join(t.TempDir(), "belfry.db"), Options{})
	limit := func(pages int) {
		t.Helper()
		err := store.writer.runAlone(t.Context(), func(tx *tx) error {
			_, err := tx.exec(fmt.Sprint("PRAGMA max_page_count = ", pages))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	limit(1) // no page more than there are
	jobs := make([]core.NewJob, 5000)
	for i := range jobs {
		jobs[i] = core.NewJob{Type: "a"}
	}
	_, err := store.Submit(t.Context(), jobs)
	if !errors.Is(err, core.ErrReadOnly) {
		t.Errorf("want the disk full, got %v", err)
	}
	limit(1 << 30)
	out, err := store.Submit(t.Context(), jobs[:10])
	if err != nil {
		t.Fatalf("with room again: %v", err)
	}
	page, err := store.List(t.Context(), core.ListQuery{})
	list := page.Jobs
	if err != nil || len(list) != 10 || list[0].ID != out[9].ID {
		t.Errorf("%d jobs, %v", len(list), err)
	}
}

func TestCommitsAreSynchronised(t *testing.T) {
	store := openHere(t, filepath.Join(t.TempDir(), "belfry.db"), Options{})
	err := store.writer.run(t.Context(), func(tx *tx) error {
		for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "auto_vacuum": "2", "application_id": fmt.Sprint(applicationID)} {
			r, err := tx.row("PRAGMA " + pragma)
			if err != nil {
				return err
			}
			if got := fmt.Sprint(r[0]); got != want {
				t.Errorf("%s is %s, want %s", pragma, got, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoSyncIsAsked: only who says so gives durability up.
func TestNoSyncIsAsked(t *testing.T) {
	store := openHere(t, filepath.Join(t.TempDir(), "belfry.db"), Options{NoSync: true})
	err := store.writer.run(t.Context(), func(tx *tx) error {
		got, _, err := tx.number("PRAGMA synchronous")
		if got != 0 {
			t.Errorf("synchronous is %d, want 0", got)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestStrangersTransactionIsToldAtOnce holds the file as an operator's own program may: those who wait are all
// answered after one wait, and go on when it is free again.
func TestStrangersTransactionIsToldAtOnce(t *testing.T) {
	const callers = 20
	path := filepath.Join(t.TempDir(), "belfry.db")
	store := openHere(t, path, Options{})
	stranger, err := connect(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stranger.close(); err != nil {
			t.Error(err)
		}
	}()
	begun, end := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { // alone: what queues up behind it is not part of its transaction
		err := store.writer.runAlone(t.Context(), func(tx *tx) error {
			close(begun)
			<-end
			_, err := tx.exec("PRAGMA busy_timeout = 20")
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-begun
	if _, err := stranger.exec(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	var answered, first atomic.Int64
	for range callers {
		wg.Go(func() {
			if _, err := store.Submit(t.Context(), make([]core.NewJob, 1)); !errors.Is(err, core.ErrBusy) {
				t.Errorf("beside a stranger's transaction: %v", err)
			}
			if answered.Add(1) == 1 {
				first.Store(int64(len(store.writer.queue)))
			}
		})
	}
	queued(t, store, callers)
	close(end)
	wg.Wait()
	if n := first.Load(); n > callers/2 {
		t.Errorf("%d of %d still waited when the first was answered", n, callers)
	}
	if _, err := stranger.exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Submit(t.Context(), make([]core.NewJob, 1)); err != nil {
		t.Errorf("after the stranger's end: %v", err)
	}
}
