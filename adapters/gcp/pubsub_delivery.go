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
	attempt int32  // counted where the subscription has dead letters, else 0
}

var _ core.Rejecter = (*delivery)(nil)

func (d *delivery) Body() []byte { return d.body }

// Ack acknowledges the message, with others, a moment later. If that fails the message comes again, and the
// subscription is dead.
func (d *delivery) Ack(context.Context) error { return ended(d.s.acks.Add(d.id)) }

// Release lets the message come again after wait, rounded up to seconds, at most 600; a retry policy adds to it.
func (d *delivery) Release(_ context.Context, wait time.Duration) error {
	return ended(d.s.changes.Add(change{id: d.id, seconds: seconds(wait)}))
}

// Extend keeps the message for until from now, rounded up to seconds, at most 600 at a time.
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

// Reject lets the message come again soon where the subscription has dead letters: Pub/Sub moves it there when it has
// been delivered too often, and until then a newer worker may know what it says. Without them it is acknowledged.
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

// change is a new acknowledgement deadline of one message. done, if any, gets one answer and never blocks.
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

// sendChanges sets the deadlines of a batch, in one call for each length. The last of one message holds.
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

// refused reports whether the service is well and does not take these deliveries any more.
func refused(err error) bool {
	code := status.Code(err)
	return code == codes.InvalidArgument || code == codes.FailedPrecondition
}
