package gather_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core/gather"
)

// record is a Gatherer that records the sizes and the times of its batches.
type record struct {
	*gather.Gatherer[int]
	mu    sync.Mutex
	sizes []int
	at    []time.Duration
}

func newRecord(opts gather.Options) *record {
	r, began := &record{}, time.Now()
	r.Gatherer = gather.New(func(_ context.Context, batch []int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.sizes, r.at = append(r.sizes, len(batch)), append(r.at, time.Since(began))
	}, opts)
	return r
}

func (r *record) add(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		if err := r.Add(i); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFullBatchesGoAtOnceAndTheRestAfterAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(gather.Options{MaxItems: 10, Wait: time.Second})
		r.add(t, 25)
		synctest.Wait()
		if !slices.Equal(r.sizes, []int{10, 10}) {
			t.Errorf("batches of %v at once, want two of 10", r.sizes)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !slices.Equal(r.sizes, []int{10, 10, 5}) || r.at[2] != time.Second {
			t.Errorf("batches of %v at %v, want 5 more after a second", r.sizes, r.at)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestCloseSendsTheRestAndThenRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecord(gather.Options{Wait: time.Hour})
		r.add(t, 3)
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if !slices.Equal(r.sizes, []int{3}) {
			t.Errorf("batches of %v, want the 3", r.sizes)
		}
		if err := r.Add(1); !errors.Is(err, gather.ErrClosed) {
			t.Errorf("Add after Close: %v", err)
		}
	})
}

func TestCloseCutsOffWhatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := 0
		g := gather.New(func(ctx context.Context, _ []int) {
			<-ctx.Done()
			ended++
		}, gather.Options{MaxItems: 1, Calls: 1, Timeout: time.Hour})
		for i := range 2 { // the second waits for the first
			if err := g.Add(i); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := g.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || ended != 2 || time.Since(began) != time.Second {
			t.Errorf("Close: %v with %d ended after %s; want the end of its context with 2", err, ended, time.Since(began))
		}
	})
}
