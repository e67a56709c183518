package rabbit

import (
	"context"
	"errors"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/belfry-dev/belfry/core"
)

const (
	releaseBatch = 100
	maxDelay     = 24 * time.Hour
)

// givenBack is the header that counts how often a message was given back without a delay.
const givenBack = "x-belfry-given-back"

// delivery implements core.Delivery and core.Rejecter.
type delivery struct {
	s    *subscription
	body []byte
	tag  uint64
	back int64 // number of times that it was given back without a delay
}

func newDelivery(s *subscription, d amqp.Delivery) *delivery {
	back, _ := d.Headers[givenBack].(int64)
	return &delivery{s: s, body: d.Body, tag: d.DeliveryTag, back: back}
}

var _ core.Rejecter = (*delivery)(nil)

func (d *delivery) Body() []byte { return d.body }

// Ack acknowledges the message.
func (d *delivery) Ack(context.Context) error { return d.s.end(d.s.ch.Ack(d.tag, false)) }

// Reject moves the message to the dead letters.
func (d *delivery) Reject(context.Context) error { return d.s.end(d.s.ch.Reject(d.tag, false)) }

// Extend has nothing to extend: the message belongs to this subscription until it is acknowledged, released or rejected.
func (d *delivery) Extend(context.Context, time.Duration) error { return core.ErrCannotExtend }

// Release gives the message back: a copy goes to the end of the queue, or to a queue that passes it on after wait, rounded
// up to tenths of a second, then seconds, then tens of seconds. A message given back without a delay too often goes to the
// dead letters.
func (d *delivery) Release(ctx context.Context, wait time.Duration) error {
	if wait <= 0 && d.back+1 >= int64(d.s.limit) {
		return d.Reject(ctx)
	}
	if d.s.releases.Add(released{d, stepped(max(wait, 0))}) != nil {
		return errClosed
	}
	return nil
}

// end handles the client's result, which is an error only if the connection is gone.
func (s *subscription) end(err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("rabbit: end a delivery: %w", err)
	s.fail(err)
	return err
}

// stepped rounds a delay up, so that a few queues serve all delays.
func stepped(d time.Duration) time.Duration {
	step := 100 * time.Millisecond
	switch {
	case d > time.Minute:
		step = 10 * time.Second
	case d > time.Second:
		step = time.Second
	}
	return (min(d, maxDelay) + step - 1).Truncate(step)
}

// released is a delivery that must come again after a delay.
type released struct {
	*delivery
	delay time.Duration
}

// copied returns the message that replaces it.
func (r released) copied() amqp.Publishing {
	message := persistent(r.body)
	if r.delay == 0 {
		message.Headers = amqp.Table{givenBack: r.back + 1}
	}
	return message
}

// sendDelayed publishes copies and acknowledges the originals whose copies the server confirmed. If the server does not
// confirm a copy, the subscription is dead, and the original is redelivered when it is closed.
func (s *subscription) sendDelayed(ctx context.Context, batch []released) {
	stop := context.AfterFunc(ctx, s.conn.cut)
	defer stop()
	queues := map[time.Duration]string{0: s.queue}
	confirmations := make([]*amqp.DeferredConfirmation, len(batch))
	for i, r := range batch {
		var err error
		if queues[r.delay] == "" {
			queues[r.delay], err = s.declareDelay(s.delays, r.delay)
		}
		if err == nil {
			confirmations[i], err = s.delays.PublishWithDeferredConfirmWithContext(ctx, "", queues[r.delay], false, false, r.copied())
		}
		if err != nil {
			s.fail(fmt.Errorf("rabbit: release: %w", err))
			break
		}
	}
	for i, c := range confirmations {
		if c == nil {
			return
		}
		if taken, err := c.WaitContext(ctx); err != nil || !taken {
			s.fail(errors.Join(errors.New("rabbit: release: the server did not take it"), err))
			return
		}
		_ = batch[i].Ack(ctx)
	}
}
