package queuetest

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Harness is what an adapter gives the contract.
type Harness struct {
	// Open makes a queue whose topics are empty, used by one case only, and cleans it up when the test ends.
	Open func(t *testing.T) core.Queue
	// Visibility is the visibility timeout of that queue's messages.
	Visibility time.Duration
	// Patience is how long a case waits for what must come. Zero means Visibility + 10 s.
	Patience time.Duration

	// Batch is how many messages the cases with many of them send. Zero means 1,000.
	Batch int

	// CannotExtend says the queue has no visibility timeout to extend; Extend then answers ErrCannotExtend.
	CannotExtend bool
	// NoVisibility says that what is received and not acknowledged comes again only when its subscription closes.
	// Visibility is then how long a case waits to see that nothing comes.
	NoVisibility bool
	// CannotDelay says Release gives back at once, or at the visibility timeout, whatever it is asked for.
	CannotDelay bool

	// Publish puts a body into a topic as a stranger would. Nil means the adapter has no way to.
	Publish func(t *testing.T, q core.Queue, p core.Priority, body []byte)
	// DeadLetters returns the bodies that the dead letters of a priority hold. Nil means the queue has none.
	DeadLetters func(t *testing.T, q core.Queue, p core.Priority) []string
	// MaxDeliveries is how often a message is delivered before it goes there.
	MaxDeliveries int
	// Break makes the open subscriptions of a priority fail as when their connection breaks, and lets those
	// opened afterwards work. Nil means the adapter has no way to.
	Break func(t *testing.T, q core.Queue, p core.Priority)

	// Wrap runs each case, in a testing/synctest bubble for instance. Nil means as it is.
	Wrap func(t *testing.T, test func(*testing.T))
}

// stage is one case's queue with the topic and subscription of one priority.
type stage struct {
	*testing.T
	Harness
	ctx   context.Context
	queue core.Queue
	topic core.Topic
	sub   core.Subscription
}

// set opens a stage on the default priority. The subscription comes first: some queues drop what nobody
// subscribes to.
func set(t *testing.T, h Harness) *stage {
	t.Helper()
	if h.Patience == 0 {
		h.Patience = h.Visibility + 10*time.Second
	}
	if h.Batch == 0 {
		h.Batch = 1000
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*h.Patience)
	t.Cleanup(cancel)
	s := &stage{T: t, Harness: h, ctx: ctx, queue: h.Open(t)}
	s.topic = s.openTopic(core.Default)
	s.sub = s.openSubscription(core.Default)
	return s
}

func (s *stage) openTopic(p core.Priority) core.Topic {
	s.Helper()
	topic, err := s.queue.OpenTopic(s.ctx, p)
	s.must(err)
	s.Cleanup(func() {
		if err := topic.Close(context.Background()); err != nil {
			s.Errorf("close the topic: %v", err)
		}
	})
	return topic
}

func (s *stage) openSubscription(p core.Priority) core.Subscription {
	s.Helper()
	sub, err := s.queue.OpenSubscription(s.ctx, p)
	s.must(err)
	s.Cleanup(func() { _ = sub.Close(context.Background()) }) // cases close theirs and look at the error
	return sub
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// send publishes and insists.
func (s *stage) send(topic core.Topic, messages ...core.Message) {
	s.Helper()
	errs := topic.Send(s.ctx, messages)
	if len(errs) != len(messages) {
		s.Fatalf("Send of %d messages gave %d answers", len(messages), len(errs))
	}
	for i, err := range errs {
		if err != nil {
			s.Fatalf("Send, message %d: %v", i, err)
		}
	}
}

// receive collects n deliveries, or fails when they do not come.
func (s *stage) receive(sub core.Subscription, n int) []core.Delivery {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, s.Patience)
	defer cancel()
	var all []core.Delivery
	for len(all) < n {
		got, err := sub.Receive(ctx, n-len(all))
		if err != nil {
			s.Fatalf("Receive, after %d of %d: %v", len(all), n, err)
		}
		if len(got) == 0 || len(got) > n-len(all) {
			s.Fatalf("Receive of at most %d gave %d", n-len(all), len(got))
		}
		all = append(all, got...)
	}
	return all
}

// receiveAll collects deliveries until n different messages have come. Where that takes longer than the visibility
// timeout some come twice, and both deliveries are returned.
func (s *stage) receiveAll(sub core.Subscription, n int) []core.Delivery {
	s.Helper()
	var all []core.Delivery
	ctx, cancel := context.WithTimeout(s.ctx, s.Patience)
	defer cancel()
	for seen := map[int64]int{}; len(seen) < n; {
		got, err := sub.Receive(ctx, n-len(seen))
		if err != nil {
			s.Fatalf("Receive, after %d of %d: %v", len(seen), n, err)
		}
		maps.Copy(seen, s.ids(got))
		all = append(all, got...)
	}
	return all
}

// nothing insists that no message comes for a while.
func (s *stage) nothing(sub core.Subscription, while time.Duration) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, while)
	defer cancel()
	got, err := sub.Receive(ctx, 10)
	if err == nil {
		s.Fatalf("%d messages came, the first: %s", len(got), got[0].Body())
	}
	if ctx.Err() == nil {
		s.Fatalf("Receive: %v", err)
	}
}

// lapse makes what is in hand and not acknowledged come again: its visibility timeout passes, or its subscription is
// closed and another one opened.
func (s *stage) lapse() {
	s.Helper()
	if s.NoVisibility {
		s.must(s.sub.Close(s.ctx))
		s.sub = s.openSubscription(core.Default)
	}
}

// message is a message of the default priority.
func message(id int64) core.Message {
	return core.Message{ID: id, Token: id * 10, Priority: core.Default, Type: "echo", Tenant: "acme"}
}

// messages are n of them, ids from 1.
func messages(n int) []core.Message {
	all := make([]core.Message, n)
	for i := range all {
		all[i] = message(int64(i + 1))
	}
	return all
}

// ids counts the deliveries of each id.
func (s *stage) ids(deliveries []core.Delivery) map[int64]int {
	s.Helper()
	ids := map[int64]int{}
	for _, d := range deliveries {
		m, err := core.DecodeMessage(d.Body())
		s.must(err)
		ids[m.ID]++
	}
	return ids
}
