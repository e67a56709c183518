package local

import (
	"bytes"
	"context"
	"sync/atomic"

	"gocloud.dev/gcerrors"
	"gocloud.dev/pubsub/driver"
)

// The driver differs from gocloud.dev's own mempubsub, which copies every message to every subscription that was ever
// opened, asks for new messages only four times a second, and cannot delay or extend. In this driver a gocloud.dev message
// is a bundle of messages, one per line, because gocloud.dev's portable types take about ten microseconds per message.
// Operations on single messages go through As.

// topicDriver implements driver.Topic.
type topicDriver struct {
	common
	memory *memory
}

// SendBatch adds the lines of all bundles to the memory.
func (d topicDriver) SendBatch(_ context.Context, bundles []*driver.Message) error {
	for _, b := range bundles {
		d.memory.add(bytes.Split(b.Body, []byte{'\n'}))
	}
	return nil
}

func (topicDriver) Close() error { return nil }
func (topicDriver) As(any) bool  { return false }

// subscriptionDriver implements driver.Subscription.
type subscriptionDriver struct {
	common
	memory *memory
	breaks int          // breaks of the memory when this was opened
	max    atomic.Int64 // maximum messages in the next bundle

	stop    context.CancelFunc
	stopped context.Context
}

func newSubscriptionDriver(m *memory) *subscriptionDriver {
	d := &subscriptionDriver{memory: m, breaks: m.connection()}
	d.max.Store(1)
	d.stopped, d.stop = context.WithCancel(context.Background())
	return d
}

// ReceiveBatch waits for messages and returns them as one bundle. It ignores max, which counts bundles.
func (d *subscriptionDriver) ReceiveBatch(ctx context.Context, _ int) ([]*driver.Message, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.stopped, cancel)()
	taken, err := d.memory.take(ctx, int(d.max.Load()), d.breaks)
	if err != nil && d.stopped.Err() != nil {
		err = errClosed
	}
	if err != nil {
		return nil, err
	}
	bundle := &driver.Message{LoggableID: "bundle", AckID: 0, AsFunc: func(target any) bool {
		to, ok := target.(*[]delivered)
		if ok {
			*to = taken
		}
		return ok
	}}
	return []*driver.Message{bundle}, nil
}

// SendAcks and SendNacks do nothing: the messages of a bundle end one by one.
func (d *subscriptionDriver) SendAcks(context.Context, []driver.AckID) error  { return nil }
func (d *subscriptionDriver) SendNacks(context.Context, []driver.AckID) error { return nil }
func (d *subscriptionDriver) CanNack() bool                                   { return false }
func (d *subscriptionDriver) As(any) bool                                     { return false }

// Close makes a waiting ReceiveBatch return.
func (d *subscriptionDriver) Close() error {
	d.stop()
	return nil
}

// common holds the answers about errors of both drivers: no error can be retried here, and none has a code.
type common struct{}

func (common) IsRetryable(error) bool             { return false }
func (common) ErrorAs(error, any) bool            { return false }
func (common) ErrorCode(error) gcerrors.ErrorCode { return gcerrors.Unknown }
