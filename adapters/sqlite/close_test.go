package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

func TestCloseLeavesOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	store := openHere(t, path, Options{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	written := map[int64]bool{}
	for range 8 {
		wg.Go(func() {
			for {
				out, err := store.Submit(t.Context(), []core.NewJob{{Type: "a"}})
				if errors.Is(err, core.ErrUnavailable) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				written[out[0].ID] = true
				enough := len(written) == 500
				mu.Unlock()
				if enough {
					if err := store.Close(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Stat(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the close left %s: %v", suffix, err)
		}
	}
	if _, err := store.Get(t.Context(), 1); !errors.Is(err, core.ErrUnavailable) {
		t.Errorf("a read after the close: %v", err)
	}
	again := openHere(t, path, Options{})
	page, err := again.List(t.Context(), core.ListQuery{Limit: 1000})
	jobs := page.Jobs
	if err != nil || len(jobs) != len(written) {
		t.Errorf("%d jobs are there of %d that were answered, %v", len(jobs), len(written), err)
	}
}

func TestCheckpointEmptiesTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	store := openHere(t, path, Options{})
	if _, err := store.Submit(t.Context(), make([]core.NewJob, 100)); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
		t.Fatalf("want something in the log first: %v", err)
	}
	if err := store.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() != 0 {
		t.Errorf("the log has %d bytes: %v", info.Size(), err)
	}
}

func TestIDsAreNeverGivenOutTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	store := openHere(t, path, Options{})
	out, err := store.Submit(t.Context(), make([]core.NewJob, 10))
	if err != nil {
		t.Fatal(err)
	}
	last := out[9].ID
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	alter(t, path, "DELETE FROM jobs")
	again := openHere(t, path, Options{})
	if out, err = again.Submit(t.Context(), make([]core.NewJob, 1)); err != nil || out[0].ID <= last {
		t.Errorf("id %d was given out after %d: %v", out[0].ID, last, err)
	}
}

func TestCloseFinishesWhatWaits(t *testing.T) {
	const callers = 8
	path := filepath.Join(t.TempDir(), "belfry.db")
	store := openHere(t, path, Options{})
	release := hold(t, store)
	defer release()
	var wg sync.WaitGroup
	ids := make([]int64, callers)
	for i := range callers {
		wg.Go(func() {
			out, err := store.Submit(t.Context(), make([]core.NewJob, 1))
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = out[0].ID
		})
	}
	queued(t, store, callers)
	wg.Go(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	for closing := false; !closing; { // refused from here on, while the writer is still busy
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := store.writer.run(ctx, func(*tx) error { return nil })
		closing = errors.Is(err, core.ErrUnavailable)
	}
	release()
	wg.Wait()
	again := openHere(t, path, Options{})
	for _, id := range ids {
		if _, err := again.Get(t.Context(), id); err != nil {
			t.Errorf("job %d was answered before the close: %v", id, err)
		}
	}
}
