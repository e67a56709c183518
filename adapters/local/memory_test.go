package local

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// stage runs test in a bubble with a queue of n messages and a subscription to it.
func stage(t *testing.T, n int, test func(t *testing.T, q *Queue, sub core.Subscription)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		q, err := Open(nil)
		if err != nil {
			t.Fatal(err)
		}
		sub, err := q.OpenSubscription(t.Context(), core.Default)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := sub.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		fill(t, q, n)
		test(t, q, sub)
	})
}

func fill(t *testing.T, q *Queue, n int) {
	t.Helper()
	opened, err := q.OpenTopic(t.Context(), core.Default)
	if err != nil {
		t.Fatal(err)
	}
	messages := make([]core.Message, n)
	for i := range messages {
		messages[i] = core.Message{ID: int64(i + 1), Priority: core.Default}
	}
	if err := errors.Join(append(opened.Send(t.Context(), messages), opened.Close(t.Context()))...); err != nil {
		t.Fatal(err)
	}
}

func receive(t *testing.T, sub core.Subscription, max, want int) []core.Delivery {
	t.Helper()
	got, err := sub.Receive(t.Context(), max)
	if err != nil || len(got) != want {
		t.Fatalf("Receive of up to %d: %d, %v; want %d", max, len(got), err, want)
	}
	return got
}

func nothing(t *testing.T, sub core.Subscription, while time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), while)
	defer cancel()
	if got, err := sub.Receive(ctx, 10); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%d messages came, %v", len(got), err)
	}
}

func TestALateAckEndsAMessageThatWasDeliveredAgain(t *testing.T) {
	stage(t, 1, func(t *testing.T, _ *Queue, sub core.Subscription) {
		late := receive(t, sub, 1, 1)[0]
		receive(t, sub, 1, 1) // after the visibility timeout; it is never acknowledged
		if err := late.Ack(t.Context()); err != nil {
			t.Error(err)
		}
		nothing(t, sub, 2*visibility)
	})
}

func TestALateAckEndsAMessageThatIsReadyAgain(t *testing.T) {
	stage(t, 2, func(t *testing.T, _ *Queue, sub core.Subscription) {
		late := receive(t, sub, 2, 2)
		again := receive(t, sub, 1, 1)[0] // both are ready by now
		for _, d := range append(late, again) {
			if err := d.Ack(t.Context()); err != nil {
				t.Error(err)
			}
		}
		nothing(t, sub, 2*visibility)
	})
}

func TestWhoLostAMessageNeitherExtendsNorReleasesIt(t *testing.T) {
	stage(t, 1, func(t *testing.T, _ *Queue, sub core.Subscription) {
		late := receive(t, sub, 1, 1)[0]
		now := receive(t, sub, 1, 1)[0]
		if err := late.Extend(t.Context(), time.Hour); !errors.Is(err, errNotHeld) {
			t.Errorf("a late Extend: %v", err)
		}
		if err := late.Release(t.Context(), 0); !errors.Is(err, errNotHeld) {
			t.Errorf("a late Release: %v", err)
		}
		nothing(t, sub, visibility/2)
		if err := now.Ack(t.Context()); err != nil {
			t.Error(err)
		}
		nothing(t, sub, 2*visibility)
	})
}

// A cancelled Receive had asked for ten messages. Later calls get them bit by bit, and after Close other subscriptions do.
func TestWhatWasFetchedInVainIsHandedOutOrGivenBack(t *testing.T) {
	stage(t, 0, func(t *testing.T, q *Queue, sub core.Subscription) {
		nothing(t, sub, time.Second)
		fill(t, q, 10)
		synctest.Wait()
		receive(t, sub, 3, 3)
		receive(t, sub, 2, 2)
		if err := sub.Close(t.Context()); err != nil {
			t.Error(err)
		}
		next, err := q.OpenSubscription(t.Context(), core.Default)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if got, err := next.Receive(ctx, 10); err != nil || len(got) != 5 {
			t.Errorf("the next subscription received %d, %v; want at once the 5 not handed out", len(got), err)
		}
		if err := next.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// The waiter that has waited longest gets the next message. A message that each taker returns comes to all of them in turn.
func TestTakersHaveTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(time.Minute)
		took := make(chan int, 9)
		for i := range 3 {
			go func() {
				for range 3 {
					if taken, err := m.take(t.Context(), 1, 0); err != nil || len(taken) != 1 {
						t.Errorf("took %d, %v", len(taken), err)
					}
					took <- i
				}
			}()
			synctest.Wait()
		}
		gone, leave := context.WithCancel(t.Context())
		var left sync.WaitGroup
		left.Go(func() {
			if taken, err := m.take(gone, 1, 0); err == nil {
				t.Errorf("took %d", len(taken))
			}
		})
		synctest.Wait()
		leave()
		left.Wait()
		var order []int
		for range 9 {
			m.add([][]byte{[]byte("a")})
			synctest.Wait()
			order = append(order, <-took)
		}
		if want := []int{0, 1, 2, 0, 1, 2, 0, 1, 2}; !slices.Equal(order, want) {
			t.Errorf("taken by %v, want %v", order, want)
		}
	})
}
