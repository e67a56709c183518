package gcp

import (
	"context"
	"fmt"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/belfry-dev/belfry/core"
)

// delivery implements core.Delivery and core.Rejecter.
type delivery struct {
	s       *subscription
	body    []byte
	id      string // of this delivery
	attempt int32  // counted if the subscription has dead letters, else 0
}

var _ core.Rejecter = (*delivery)(nil)

func (d *delivery) Body() []byte { return d.body }

// Ack acknowledges the message a moment later, together with others. If that fails, the message comes again, and the
// subscription is dead.
func (d *delivery) Ack(context.Context) error { return ended(d.s.acks.Add(d.id)) }

// Release makes the message come again after wait, rounded up to seconds and at most 600. A retry policy adds to it.
func (d *delivery) Release(_ context.Context, wait time.Duration) error {
	return ended(d.s.changes.Add(change{id: d.id, seconds: seconds(wait)}))
}

// Extend keeps the message until the given time from now, rounded up to seconds, at most 600 per call.
func (d *delivery) Extend(ctx context.Context, until time.Duration) error {
	done := make(chan error, 1)
	if err := d.s.changes.Add(change{id: d.id, seconds: seconds(until), done: done}); err != nil {
		return ended(err)
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Reject makes the message come again soon if the subscription has dead letters. Pub/Sub moves it there after too many
// deliveries, and until then a newer worker may be able to read it. Without dead letters it is acknowledged.
func (d *delivery) Reject(ctx context.Context) error {
	if d.attempt == 0 {
		return d.Ack(ctx)
	}
	return d.Release(ctx, d.s.opts.RejectAfter)
}

func ended(err error) error {
	if err != nil {
		return errClosed
	}
	return nil
}

// change is a new acknowledgement deadline of one message. done, if set, gets one answer and never blocks.
type change struct {
	id      string
	seconds int32
	done    chan<- error
}

// sendAcks acknowledges a batch.
func (s *subscription) sendAcks(ctx context.Context, ids []string) {
	err := s.client.Acknowledge(ctx, &pubsubpb.AcknowledgeRequest{Subscription: s.name, AckIds: ids})
	if err != nil && !refused(err) {
		s.fail(fmt.Errorf("gcp: acknowledge: %w", err))
	}
}

// sendChanges sets the deadlines of a batch, with one call per length. If a message has several changes, the last one
// applies.
func (s *subscription) sendChanges(ctx context.Context, changes []change) {
	byLength, last := map[int32][]change{}, map[string]int{}
	for i, c := range changes {
		last[c.id] = i
	}
	for i, c := range changes {
		if last[c.id] == i {
			byLength[c.seconds] = append(byLength[c.seconds], c)
		} else if c.done != nil {
			c.done <- nil
		}
	}
	for length, same := range byLength {
		ids := make([]string, len(same))
		for i, c := range same {
			ids[i] = c.id
		}
		err := s.client.ModifyAckDeadline(ctx, &pubsubpb.ModifyAckDeadlineRequest{Subscription: s.name, AckIds: ids, AckDeadlineSeconds: length})
		if err != nil {
			err = fmt.Errorf("gcp: change the deadline: %w", err)
			if !refused(err) {
				s.fail(err)
			}
		}
		for _, c := range same {
			if c.done != nil {
				c.done <- err
			}
		}
	}
}

// refused reports whether the service works but no longer accepts these deliveries.
func refused(err error) bool {
	code := status.Code(err)
	return code == codes.InvalidArgument || code == codes.FailedPrecondition
}
