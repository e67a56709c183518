package memory

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

const mib = 1 << 20

// A budget gives what it has, half of it to one caller and the last sixteenth to small claims only.
func TestBudget(t *testing.T) {
	b := NewBudget(64*mib, 0)
	take := func(caller string, n int64, want error) {
		t.Helper()
		if err := b.take(t.Context(), caller, n); !errors.Is(err, want) {
			t.Errorf("%s takes %d: %v, want %v", caller, n, err, want)
		}
	}
	take("a", 33*mib, ErrCrowded)
	take("a", 30*mib, nil)
	take("a", 3*mib, ErrCrowded)
	take("a", 2*mib, nil)
	take("a", 1, ErrCrowded)
	take("b", 28*mib, nil)
	take("c", 2*mib, ErrCrowded)
	take("c", mib, nil)
	b.give("a", 32*mib)
	take("c", 31*mib, nil)
	b.give("b", 28*mib)
	b.give("c", 32*mib)
	take("a", 32*mib, nil)
}

// Who waits gets what others give back, in the order they came as far as it fits, and no longer than the patience lasts.
func TestBudgetIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(64*mib, 5*time.Second)
		for _, caller := range []string{"a", "b"} {
			if err := b.take(t.Context(), caller, 30*mib); err != nil {
				t.Fatal(err)
			}
		}
		gone, leave := context.WithCancelCause(t.Context())
		why := errors.New("left")
		type answer struct {
			name string
			err  error
		}
		answers := make(chan answer, 4)
		wait := func(name string, ctx context.Context, caller string, n int64) {
			go func() { answers <- answer{name, b.take(ctx, caller, n)} }()
			synctest.Wait()
		}
		wait("left", gone, "c", 20*mib)
		wait("too much", t.Context(), "a", 31*mib)
		wait("first", t.Context(), "c", 25*mib)
		wait("second", t.Context(), "d", 5*mib)
		leave(why)
		synctest.Wait()
		if got := <-answers; got.name != "left" || !errors.Is(got.err, why) {
			t.Errorf("%+v", got)
		}
		b.give("b", 30*mib) // room for both who wait and have a share
		synctest.Wait()
		if one, two := <-answers, <-answers; one.name == "too much" || two.name == "too much" || one.err != nil || two.err != nil {
			t.Errorf("%+v and %+v", one, two)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := <-answers; got.name != "too much" || !errors.Is(got.err, ErrCrowded) {
			t.Errorf("%+v", got)
		}
	})
}
