package rabbit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/gather"
)

// maxHeld is the maximum number of messages requested from RabbitMQ at once.
const maxHeld = 2000

var errClosed = errors.New("rabbit: the subscription is closed")

// subscription implements core.Subscription over a connection of its own.
type subscription struct {
	place
	limit  int
	conn   *connection
	ch     *amqp.Channel // receives and acknowledges
	delays *amqp.Channel // publishes messages released with a delay

	turn     chan struct{} // held by the current Receive
	receives int           // counts the calls of Receive
	releases *gather.Gatherer[released]

	closing chan struct{}
	close   sync.Once
	closed  error // result of Close

	mu  sync.Mutex
	err error // why the subscription is dead
}

// OpenSubscription declares the queue of a priority and opens a subscription to it.
func (q *Queue) OpenSubscription(ctx context.Context, p core.Priority) (core.Subscription, error) {
	s, err := q.openSubscription(ctx, q.places[p])
	if err != nil {
		return nil, fmt.Errorf("rabbit: open the %s subscription: %w", p, err)
	}
	return s, nil
}

func (q *Queue) openSubscription(ctx context.Context, at place) (*subscription, error) {
	conn, err := connect(ctx, at.server)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, conn.cut)
	defer stop()
	s := &subscription{place: at, limit: q.opts.DeliveryLimit, conn: conn, turn: make(chan struct{}, 1), closing: make(chan struct{})}
	if s.ch, err = conn.Channel(); err == nil {
		err = at.declare(s.ch)
	}
	if err == nil {
		s.delays, err = conn.confirming()
	}
	if err != nil {
		_ = conn.hangUp(ctx)
		return nil, err
	}
	s.releases = gather.New(s.sendDelayed, gather.Options{MaxItems: releaseBatch, Calls: 1})
	return s, nil
}

// Receive waits for messages. It is a consumer only while a caller waits, and may hold as many messages as requested. The
// server sends the available messages at once, and stops when the consumer is cancelled.
func (s *subscription) Receive(ctx context.Context, max int) ([]core.Delivery, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := s.failure(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	got, err := s.consume(ctx, min(max, maxHeld))
	if err != nil {
		s.fail(fmt.Errorf("rabbit: receive: %w", err))
	}
	deliveries := make([]core.Delivery, len(got))
	for i := range got {
		deliveries[i] = newDelivery(s, got[i])
	}
	if len(got) > 0 {
		return deliveries, nil // the next Receive returns the error
	}
	if err := s.failure(); err != nil {
		return nil, err
	}
	return nil, ctx.Err()
}

// consume consumes until messages have arrived, ctx ends or the subscription is closed.
func (s *subscription) consume(ctx context.Context, max int) (got []amqp.Delivery, err error) {
	if err := s.ch.Qos(max, 0, false); err != nil {
		return nil, err
	}
	s.receives++
	consumer := "belfry-" + strconv.Itoa(s.receives)
	deliveries, err := s.ch.Consume(s.queue, consumer, false, false, false, false, nil)
	if err != nil {
		return nil, err
	}
	select {
	case d, open := <-deliveries:
		if !open {
			return nil, amqp.ErrClosed
		}
		got = append(got, d)
	case <-ctx.Done():
	case <-s.closing:
	}
	err = s.ch.Cancel(consumer, false)
	for d := range deliveries { // ends with the consumer
		got = append(got, d)
	}
	return got, err
}

// fail marks the subscription as dead. The first reason stays.
func (s *subscription) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

func (s *subscription) failure() error {
	select {
	case <-s.closing:
		return errClosed
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close closes the connection after the released messages are published. Messages that are neither acknowledged nor released
// come to other consumers. Closing again returns the first result.
func (s *subscription) Close(ctx context.Context) error {
	s.close.Do(func() {
		close(s.closing)
		stop := context.AfterFunc(ctx, s.conn.cut)
		defer stop()
		s.turn <- struct{}{}
		defer func() { <-s.turn }()
		if err := errors.Join(s.releases.Close(ctx), s.conn.hangUp(ctx)); err != nil {
			s.closed = fmt.Errorf("rabbit: close the subscription: %w", err)
		}
	})
	return s.closed
}
