package node

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
)

// idle is a queue that nothing comes from, and whose calls end by an error after a time.
type idle struct {
	core.Queue
	breaks time.Duration
}

func (q *idle) OpenSubscription(context.Context, core.Priority) (core.Subscription, error) {
	return idleSubscription{q}, nil
}

type idleSubscription struct{ *idle }

func (s idleSubscription) Receive(context.Context, int) ([]core.Delivery, error) {
	time.Sleep(s.breaks)
	return nil, errors.New("broken")
}
func (idleSubscription) Close(context.Context) error { return nil }

// TestIdleIsNotSilent: silence begins when a queue is lost, not with its last message.
func TestIdleIsNotSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &idle{breaks: time.Hour}
		w, intakes := watchQueue(q)
		s, err := w.OpenSubscription(t.Context(), core.Bulk)
		if err != nil {
			t.Fatal(err)
		}
		receive := func() { _, _ = s.Receive(t.Context(), 1) }
		silent := func(want time.Duration) {
			t.Helper()
			if got := intakes[queuegroup.Key{Priority: core.Bulk}].silent(); got != want {
				t.Errorf("silent for %s, want %s", got, want)
			}
		}
		receive()
		silent(0)
		q.breaks = time.Second
		for range 5 {
			receive()
		}
		silent(5 * time.Second)
	})
}
