package rabbit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/belfry-dev/belfry/core"
)

// sendAtOnce is the number of messages sent before waiting for their confirmations.
const sendAtOnce = 1000

var (
	errNotTaken = errors.New("rabbit: send: the server did not take it")
	errNoQueue  = errors.New("rabbit: send: the queue is gone")
)

// topic implements core.Topic. After its connection ends, the next Send makes a new one.
type topic struct {
	place
	turn chan struct{} // held by the current Send, which uses the fields below

	conn     *connection // nil: none
	ch       *amqp.Channel
	returned chan amqp.Return // messages that the server could not put into a queue
}

// OpenTopic declares the queue of a priority and opens its topic.
func (q *Queue) OpenTopic(ctx context.Context, p core.Priority) (core.Topic, error) {
	t := &topic{place: q.places[p], turn: make(chan struct{}, 1)}
	if err := t.connect(ctx); err != nil {
		return nil, fmt.Errorf("rabbit: open the %s topic: %w", p, err)
	}
	return t, nil
}

// connect makes the connection if there is none.
func (t *topic) connect(ctx context.Context) error {
	if t.conn != nil && !t.conn.IsClosed() && !t.ch.IsClosed() {
		return nil
	}
	t.drop(ctx)
	conn, err := connect(ctx, t.server)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, conn.cut)()
	t.conn = conn
	if t.ch, err = conn.confirming(); err == nil {
		t.returned = t.ch.NotifyReturn(make(chan amqp.Return, sendAtOnce))
		err = t.declare(t.ch)
	}
	if err != nil {
		t.drop(ctx)
	}
	return err
}

func (t *topic) drop(ctx context.Context) {
	if t.conn != nil {
		_ = t.conn.hangUp(ctx)
		t.conn = nil
	}
}

// Send publishes all messages and waits for the server's confirmation of each. Messages not confirmed when ctx or the
// connection ends are unknown.
func (t *topic) Send(ctx context.Context, msgs []core.Message) []error {
	errs := make([]error, 0, len(msgs))
	fail := func(err error) []error {
		for len(errs) < len(msgs) {
			errs = append(errs, err)
		}
		return errs
	}
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return fail(ctx.Err())
	}
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	if err := t.connect(ctx); err != nil {
		return fail(fmt.Errorf("rabbit: send: %w", err))
	}
	conn := t.conn
	stop := context.AfterFunc(ctx, conn.cut)
	for chunk := range slices.Chunk(msgs, sendAtOnce) {
		errs = append(errs, t.publish(ctx, chunk)...)
	}
	if !stop() {
		t.drop(ctx) // the connection was cut
	}
	return errs
}

// publish sends up to sendAtOnce messages, then waits for their confirmations.
func (t *topic) publish(ctx context.Context, msgs []core.Message) []error {
	errs := make([]error, len(msgs))
	confirmations := make([]*amqp.DeferredConfirmation, len(msgs))
	for i, m := range msgs {
		message := persistent(m.Encode())
		message.MessageId = strconv.Itoa(i)
		confirmations[i], errs[i] = t.ch.PublishWithDeferredConfirmWithContext(ctx, "", t.queue, true, false, message)
	}
	for i, c := range confirmations {
		if errs[i] == nil {
			if taken, err := c.WaitContext(ctx); err != nil || !taken {
				errs[i] = errors.Join(errNotTaken, err)
			}
			continue
		}
		errs[i] = fmt.Errorf("rabbit: send: %w", errs[i])
	}
	t.readReturned(errs)
	return errs
}

// readReturned marks returned messages as failed. The server returns a message before it confirms it.
func (t *topic) readReturned(errs []error) {
	for {
		select {
		case r, open := <-t.returned:
			if !open {
				return
			}
			if i, err := strconv.Atoi(r.MessageId); err == nil && i < len(errs) {
				errs[i] = errNoQueue
			}
			_ = t.ch.Close() // the next Send declares the queue again
		default:
			return
		}
	}
}

// Close ends the connection.
func (t *topic) Close(ctx context.Context) error {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return fmt.Errorf("rabbit: close the topic: %w", ctx.Err())
	}
	if t.conn == nil {
		return nil
	}
	err := t.conn.hangUp(ctx)
	if t.conn = nil; err != nil {
		return fmt.Errorf("rabbit: close the topic: %w", err)
	}
	return nil
}
