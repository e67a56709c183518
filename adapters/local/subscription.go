package local

import (
	"context"
	"fmt"
	"sync"
	"time"

	"gocloud.dev/pubsub"

	"github.com/belfry-dev/belfry/core"
)

// subscription implements core.Subscription. Only one goroutine at a time receives from the portable type. It stays until
// the driver has stopped: a bundle that arrives without a receiver would leak a goroutine of the portable type.
type subscription struct {
	portable *pubsub.Subscription
	driver   *subscriptionDriver

	turn    chan struct{} // held by the current Receive
	asked   bool          // the pump is fetching
	left    []delivered   // fetched and not yet passed on
	asks    chan int
	fetched chan []delivered
	closing chan struct{}
	close   sync.Once
	closed  error         // result of Close
	dead    chan struct{} // closed when the pump has ended
	err     error         // the reason; set before dead is closed
}

func newSubscription(p *pubsub.Subscription, d *subscriptionDriver) *subscription {
	s := &subscription{
		portable: p, driver: d, turn: make(chan struct{}, 1), asks: make(chan int),
		fetched: make(chan []delivered), closing: make(chan struct{}), dead: make(chan struct{}),
	}
	go s.pump()
	return s
}

// pump fetches one bundle per request, until the portable type returns an error, which is final.
func (s *subscription) pump() {
	defer close(s.dead)
	s.err = errClosed
	for {
		select {
		case max := <-s.asks:
			s.driver.max.Store(int64(max))
		case <-s.closing:
			return
		}
		bundle, err := s.portable.Receive(context.Background())
		if err != nil {
			s.err = fmt.Errorf("local: receive: %w", err)
			return
		}
		var messages []delivered
		bundle.As(&messages)
		bundle.Ack()
		select {
		case s.fetched <- messages:
		case <-s.closing:
			s.giveBack(messages)
			return
		}
	}
}

// Receive waits for messages and returns up to max of them. The end of ctx does not affect the subscription.
func (s *subscription) Receive(ctx context.Context, max int) ([]core.Delivery, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := s.fetch(ctx, max); err != nil {
		return nil, err
	}
	n := min(max, len(s.left))
	deliveries := make([]core.Delivery, n)
	batch := make([]delivery, n)
	for i, d := range s.left[:n] {
		batch[i] = delivery{d, s.driver.memory}
		deliveries[i] = &batch[i]
	}
	s.left = s.left[n:]
	return deliveries, nil
}

// fetch waits until messages are left to pass on. A bundle that arrives after the caller has gone stays for the next call.
func (s *subscription) fetch(ctx context.Context, max int) error {
	if len(s.left) > 0 {
		return nil
	}
	if !s.asked {
		select {
		case s.asks <- max:
			s.asked = true
		case <-s.dead:
			return s.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	select {
	case s.left = <-s.fetched:
		s.asked = false
		return nil
	case <-s.dead:
		return s.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close stops receiving. Messages that were fetched but not passed on are ready for others at once. Closing again returns
// the first result.
func (s *subscription) Close(ctx context.Context) error {
	s.close.Do(func() {
		close(s.closing)
		s.driver.stop()
		<-s.dead
		s.turn <- struct{}{}
		s.giveBack(s.left)
		s.left = nil
		<-s.turn
		if err := s.portable.Shutdown(ctx); err != nil {
			s.closed = fmt.Errorf("local: close the subscription: %w", err)
		}
	})
	return s.closed
}

func (s *subscription) giveBack(messages []delivered) {
	for _, d := range messages {
		_ = s.driver.memory.hide(d, 0) // a message that is no longer held already has another consumer
	}
}

// delivery implements core.Delivery.
type delivery struct {
	delivered
	memory *memory
}

func (d delivery) Body() []byte { return d.body }

// Ack removes the message.
func (d delivery) Ack(context.Context) error {
	d.memory.remove(d.delivered)
	return nil
}

// Release makes the message ready again after wait.
func (d delivery) Release(_ context.Context, wait time.Duration) error {
	return d.memory.hide(d.delivered, wait)
}

// Extend hides the message for longer.
func (d delivery) Extend(_ context.Context, until time.Duration) error {
	return d.memory.hide(d.delivered, until)
}
