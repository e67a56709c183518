package host

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// flaky is a queue that is away while err is not nil, and that nothing comes from.
type flaky struct {
	core.Queue
	err error
}

func (q *flaky) OpenSubscription(context.Context, core.Priority) (core.Subscription, error) {
	return flakySubscription{q}, q.err
}

func (q *flaky) OpenTopic(context.Context, core.Priority) (core.Topic, error) {
	return flakyTopic{q}, nil
}

type flakySubscription struct{ *flaky }

func (s flakySubscription) Receive(ctx context.Context, _ int) ([]core.Delivery, error) {
	if s.err != nil {
		return nil, s.err
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func (flakySubscription) Close(context.Context) error { return nil }

type flakyTopic struct{ *flaky }

// Send fails for all but the last of three messages.
func (t flakyTopic) Send(_ context.Context, m []core.Message) []error {
	errs := make([]error, len(m))
	for i := range errs {
		if i < 2 {
			errs[i] = t.err
		}
	}
	return errs
}

func (flakyTopic) Close(context.Context) error { return nil }

// tells holds what a health says against whether a queue is lost.
func tells(t *testing.T, health func() error) func(when string, lost bool) {
	return func(when string, lost bool) {
		t.Helper()
		if err := health(); (err != nil) != lost || lost && !strings.Contains(err.Error(), "the bulk queue") {
			t.Errorf("%s: %v", when, err)
		}
	}
}

// A queue that comes back soon is nobody's concern; one that stays away is why a process is replaced. It is back although
// nothing comes from it.
func TestReceivingIsWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &flaky{}
		w, health := WatchQueue(q)
		receive := func(d time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			if s, err := w.OpenSubscription(ctx, core.Bulk); err == nil {
				_, _ = s.Receive(ctx, 1)
			}
		}
		told := tells(t, health.Receiving)
		told("at first", false)
		q.err = errors.New("away")
		receive(time.Second)
		time.Sleep(queuePatience)
		told("soon", false)
		receive(time.Second)
		time.Sleep(time.Second)
		told("late", true)
		q.err = nil
		var calls sync.WaitGroup
		calls.Go(func() { receive(10 * queuePatience) }) // and then it breaks
		time.Sleep(steady)
		told("perhaps back", true)
		time.Sleep(time.Second)
		told("back, and idle", false)
		calls.Wait()
		told("just lost again", false)
		time.Sleep(queuePatience + time.Second)
		told("lost again", true)
		time.Sleep(forgotten)
		told("nobody tries any more", false)
	})
	if err := (*QueueHealth)(nil).Receiving(); err != nil {
		t.Errorf("without queues: %v", err)
	}
}

// One failed call to a queue that is idle afterwards is no loss.
func TestOneFailureIsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &flaky{err: errors.New("away")}
		w, health := WatchQueue(q)
		_, _ = w.OpenSubscription(t.Context(), core.Bulk)
		q.err = nil
		s, err := w.OpenSubscription(t.Context(), core.Bulk)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		go func() { _, _ = s.Receive(ctx, 1) }()
		for range 3 * queuePatience / time.Second {
			time.Sleep(time.Second)
			if err := health.Receiving(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Nothing published for too long, while it is tried, is a loss; one message of many is progress.
func TestPublishingIsWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &flaky{}
		w, health := WatchQueue(q)
		topic, err := w.OpenTopic(t.Context(), core.Bulk)
		if err != nil {
			t.Fatal(err)
		}
		told := tells(t, health.Publishing)
		send := func(n int) { topic.Send(t.Context(), make([]core.Message, n)) }
		q.err = errors.New("away")
		send(2)
		time.Sleep(queuePatience)
		send(2)
		told("soon", false)
		time.Sleep(time.Second)
		told("late", true)
		send(3)
		told("one of three is published", false)
		send(2)
		time.Sleep(queuePatience + time.Second)
		send(0) // says nothing
		told("lost again", true)
		time.Sleep(forgotten)
		told("nobody tries any more", false)
		send(2)
		told("it counts from here", false)
		q.err = nil
		send(2)
		time.Sleep(2 * queuePatience)
		told("published", false)
		if err := health.Receiving(); err != nil {
			t.Errorf("publishing is not receiving: %v", err)
		}
	})
	if err := (*QueueHealth)(nil).Publishing(); err != nil {
		t.Errorf("without queues: %v", err)
	}
}
