package queuetest

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Harness is an adapter's part of the contract.
type Harness struct {
	// Open makes a queue with empty topics for one case only, and cleans it up when the test ends.
	Open func(t *testing.T) core.Queue
	// Visibility is the visibility timeout of that queue's messages.
	Visibility time.Duration
	// Patience is how long a case waits for an expected message. Zero means Visibility + 10 s.
	Patience time.Duration

	// Batch is the number of messages in cases with many of them. Zero means 1,000.
	Batch int

	// CannotExtend says that the queue has no visibility timeout to extend. Extend then returns ErrCannotExtend.
	CannotExtend bool
	// NoVisibility says that messages received and not acknowledged come again only after their subscription closes.
	// Visibility is then how long a case waits before it concludes that no message comes.
	NoVisibility bool
	// CannotDelay says that Release ignores its delay: the message comes again at once or at the visibility timeout.
	CannotDelay bool

	// Publish sends a body to a topic from outside Belfry. Nil means that the adapter cannot do it.
	Publish func(t *testing.T, q core.Queue, p core.Priority, body []byte)
	// DeadLetters returns the bodies of a priority's dead letters. Nil means that the queue has no dead letters.
	DeadLetters func(t *testing.T, q core.Queue, p core.Priority) []string
	// MaxDeliveries is the number of deliveries before a message becomes a dead letter.
	MaxDeliveries int
	// Break makes the open subscriptions of a priority fail as if their connection broke. Subscriptions opened later work.
	// Nil means that the adapter cannot do it.
	Break func(t *testing.T, q core.Queue, p core.Priority)

	// Wrap runs each case, for example in a testing/synctest bubble. Nil means to run it directly.
	Wrap func(t *testing.T, test func(*testing.T))
}

// stage holds one case's queue, and the topic and subscription of one priority.
type stage struct {
	*testing.T
	Harness
	ctx   context.Context
	queue core.Queue
	topic core.Topic
	sub   core.Subscription
}

// set opens a stage on the default priority. It opens the subscription first, because some queues drop messages without a
// subscription.
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
	s.Cleanup(func() { _ = sub.Close(context.Background()) }) // cases close their own and check the error
	return sub
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// send publishes messages and fails the case on any error.
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

// receive collects n deliveries, or fails the case if they do not arrive.
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

// receiveAll collects deliveries until n different messages have arrived. If that takes longer than the visibility timeout,
// some arrive twice, and both deliveries are returned.
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

// nothing checks that no message arrives for a while.
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

// lapse makes unacknowledged messages come again: their visibility timeout passes, or their subscription is closed and
// another one opened.
func (s *stage) lapse() {
	s.Helper()
	if s.NoVisibility {
		s.must(s.sub.Close(s.ctx))
		s.sub = s.openSubscription(core.Default)
	}
}

// message returns a message of the default priority.
func message(id int64) core.Message {
	return core.Message{ID: id, Token: id * 10, Priority: core.Default, Type: "echo", Tenant: "acme"}
}

// messages returns n messages with ids from 1.
func messages(n int) []core.Message {
	all := make([]core.Message, n)
	for i := range all {
		all[i] = message(int64(i + 1))
	}
	return all
}

// ids counts the deliveries by message id.
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
