package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// hold keeps the writer busy until release is called; what is submitted meanwhile queues up.
func hold(t *testing.T, s *Store) (release func()) {
	t.Helper()
	begun, end, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- s.writer.run(background, func(*tx) error {
			close(begun)
			<-end
			return nil
		})
	}()
	<-begun
	return sync.OnceFunc(func() {
		close(end)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// queued waits until n operations wait for the writer.
func queued(t *testing.T, s *Store, n int) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for len(s.writer.queue) < n {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%d of %d operations wait", len(s.writer.queue), n)
		}
	}
}

func TestConcurrentSubmitsShareCommits(t *testing.T) {
	const callers = 200
	store := openHere(t, filepath.Join(t.TempDir(), "belfry.db"), Options{})
	release := hold(t, store)
	defer release()
	before := store.writer.commits.Load()
	var wg sync.WaitGroup
	ids := make([]int64, callers)
	for i := range callers {
		wg.Go(func() {
			out, err := store.Submit(t.Context(), []core.NewJob{{Type: fmt.Sprint("t", i)}})
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = out[0].ID
		})
	}
	queued(t, store, callers)
	release()
	wg.Wait()
	// One commit of the operation that held the writer, and a few for all others: a slow machine divides them.
	if n := store.writer.commits.Load() - before; n > callers/10 {
		t.Errorf("%d submits took %d transactions", callers, n)
	}
	for i, id := range ids {
		if job, err := store.Get(t.Context(), id); err != nil || job.Type != fmt.Sprint("t", i) {
			t.Errorf("caller %d was answered job %d: %+v, %v", i, id, job, err)
		}
	}
}

func TestBadOperationFailsAlone(t *testing.T) {
	store := openHere(t, filepath.Join(t.TempDir(), "belfry.db"), Options{})
	release := hold(t, store)
	defer release()
	var wg sync.WaitGroup
	errBad := errors.New("bad")
	results := make([]error, 30)
	for i := range results {
		wg.Go(func() {
			results[i] = store.writer.run(t.Context(), func(tx *tx) error {
				if _, err := tx.submit(&core.NewJob{Type: fmt.Sprint("t", i%3)}); err != nil {
					return err
				}
				switch i % 3 {
				case 1:
					return errBad
				case 2:
					_, err := tx.exec("INSERT INTO jobs (id) VALUES ('not a number')")
					return err
				}
				return nil
			})
		})
	}
	queued(t, store, len(results))
	before := store.writer.commits.Load()
	release()
	wg.Wait()
	if n := store.writer.commits.Load() - before; n > int64(len(results))/2 {
		t.Errorf("the operations did not share a transaction: %d", n)
	}
	page, err := store.List(t.Context(), core.ListQuery{})
	jobs := page.Jobs
	if err != nil || len(jobs) != len(results)/3 {
		t.Errorf("%d jobs were written, want %d: %v", len(jobs), len(results)/3, err)
	}
	for i, err := range results {
		if good := i%3 == 0; good != (err == nil) || i%3 == 1 && !errors.Is(err, errBad) {
			t.Errorf("operation %d: %v", i, err)
		}
	}
	for _, job := range jobs {
		if job.Type != "t0" {
			t.Errorf("a failed operation left job %d of type %s", job.ID, job.Type)
		}
	}
}

func TestCallerWhoGivesUpWritesNothing(t *testing.T) {
	store := openHere(t, filepath.Join(t.TempDir(), "belfry.db"), Options{})
	release := hold(t, store)
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan error, 1)
	go func() {
		_, err := store.Submit(ctx, []core.NewJob{{Type: "a"}})
		answered <- err
	}()
	queued(t, store, 1)
	cancel()
	if err := <-answered; !errors.Is(err, context.Canceled) {
		t.Errorf("want the context's error while the writer is busy, got %v", err)
	}
	release()
	if jobs, err := store.List(t.Context(), core.ListQuery{}); err != nil || len(jobs.Jobs) != 0 {
		t.Errorf("%d jobs, %v", len(jobs.Jobs), err)
	}
}
