package aws

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/belfry-dev/belfry/core"
)

// delivery implements core.Delivery and core.Rejecter.
type delivery struct {
	s       *subscription
	body    []byte
	receipt string
}

var _ core.Rejecter = (*delivery)(nil)

func (d *delivery) Body() []byte { return d.body }

// Ack deletes the message a moment later, together with others. If that fails, the message comes again, and the subscription
// is dead.
func (d *delivery) Ack(context.Context) error { return ended(d.s.acks.Add(d.receipt)) }

// Release makes the message visible again after wait, rounded up to seconds.
func (d *delivery) Release(_ context.Context, wait time.Duration) error {
	return ended(d.s.changes.Add(change{receipt: d.receipt, seconds: seconds(wait, maxVisibility)}))
}

// Extend hides the message until the given time from now, rounded up to seconds. SQS refuses to hide a message for more than
// 12 hours after its receipt.
func (d *delivery) Extend(ctx context.Context, until time.Duration) error {
	done := make(chan error, 1)
	if err := d.s.changes.Add(change{receipt: d.receipt, seconds: seconds(until, maxVisibility), done: done}); err != nil {
		return ended(err)
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Reject makes the message visible again soon if the queue has a dead-letter queue. SQS moves it there after too many
// receives, and until then a newer worker may be able to read it. Without a dead-letter queue the message is deleted.
func (d *delivery) Reject(ctx context.Context) error {
	if !d.s.redrive {
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

// change is a new visibility timeout of one message. done, if set, gets one answer and never blocks.
type change struct {
	receipt string
	seconds int32
	done    chan<- error
}

func (c change) answer(err error) {
	if c.done != nil {
		c.done <- err
	}
}

// sendAcks deletes a batch of messages. It ignores a message that was received again in the meantime.
func (s *subscription) sendAcks(ctx context.Context, receipts []string) {
	in := &sqs.DeleteMessageBatchInput{QueueUrl: &s.url}
	for i := range receipts {
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: entry(i), ReceiptHandle: &receipts[i]})
	}
	if _, err := s.client.DeleteMessageBatch(ctx, in); err != nil {
		s.fail(fmt.Errorf("aws: acknowledge: %w", err))
	}
}

// sendChanges sets the visibility timeouts of a batch of messages.
func (s *subscription) sendChanges(ctx context.Context, changes []change) {
	in := &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &s.url}
	for i := range changes {
		in.Entries = append(in.Entries, types.ChangeMessageVisibilityBatchRequestEntry{Id: entry(i), ReceiptHandle: &changes[i].receipt, VisibilityTimeout: changes[i].seconds})
	}
	res, err := s.client.ChangeMessageVisibilityBatch(ctx, in)
	if err != nil {
		err = fmt.Errorf("aws: change the visibility: %w", err)
		s.fail(err)
		for _, c := range changes {
			c.answer(err)
		}
		return
	}
	refused := map[string]error{}
	for _, f := range res.Failed {
		refused[aws.ToString(f.Id)] = errors.New("aws: change the visibility: " + aws.ToString(f.Code) + ": " + aws.ToString(f.Message))
	}
	for i, c := range changes {
		c.answer(refused[*entry(i)])
	}
}

// entry names an entry of a batch.
func entry(i int) *string { return aws.String(strconv.Itoa(i)) }
