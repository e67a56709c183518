package aws

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/gather"
)

const (
	ackWait    = 50 * time.Millisecond // how long an acknowledgement waits for others
	changeWait = 5 * time.Millisecond  // the same for those someone waits for
	morePolls  = 20                    // calls at once while a queue is full
)

var errClosed = errors.New("aws: the subscription is closed")

// subscription implements core.Subscription by the SDK's own calls. The portable type of gocloud.dev receives ahead
// of who asks, and what lies there uses up its visibility timeout and its receipts: see docs/decisions.
type subscription struct {
	place
	opts     QueueOptions
	redrive  bool  // the queue has a dead-letter queue
	moreWait int32 // seconds that a call may wait which should not wait at all

	turn    chan struct{} // held by the Receive that is served
	poll    *gather.Poll[types.Message]
	acks    *gather.Gatherer[string]
	changes *gather.Gatherer[change]

	life   context.Context // of calls that receive
	stop   context.CancelFunc
	close  sync.Once
	closed error // the answer of Close

	mu  sync.Mutex
	err error // why it is dead
}

// OpenSubscription opens a subscription to the queue of a priority, which must be there.
func (q *Queue) OpenSubscription(ctx context.Context, p core.Priority) (core.Subscription, error) {
	at := q.places[p]
	s := &subscription{place: at, opts: q.opts, turn: make(chan struct{}, 1)}
	if err := s.readAttributes(ctx); err != nil {
		return nil, fmt.Errorf("aws: open the %s subscription: %w", p, err)
	}
	s.poll = gather.NewPoll(s.longPoll, s.giveBack)
	s.life, s.stop = context.WithCancel(context.Background())
	s.acks = gather.New(s.sendAcks, gather.Options{MaxItems: batchSize, Wait: ackWait, Calls: connections / 4, Timeout: callTimeout})
	s.changes = gather.New(s.sendChanges, gather.Options{MaxItems: batchSize, Wait: changeWait, Calls: connections / 4, Timeout: callTimeout})
	return s, nil
}

// readAttributes learns how the queue was made.
func (s *subscription) readAttributes(ctx context.Context) error {
	res, err := s.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &s.url, AttributeNames: []types.QueueAttributeName{
		types.QueueAttributeNameRedrivePolicy, types.QueueAttributeNameReceiveMessageWaitTimeSeconds,
	}})
	if err != nil {
		return err
	}
	s.redrive = res.Attributes[string(types.QueueAttributeNameRedrivePolicy)] != ""
	if wait, err := strconv.Atoi(res.Attributes[string(types.QueueAttributeNameReceiveMessageWaitTimeSeconds)]); err == nil && wait > 0 {
		s.moreWait = 1 // zero would not be sent, and the queue's own would apply
	}
	return nil
}

// Receive waits for messages by long polls, one call for each 20 s. Where ten come at once it asks for more, several
// calls at once, until it has max or the queue has no more at hand. It never receives what nobody asked for.
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
	messages, err := s.poll.Wait(ctx, max)
	if err != nil {
		return nil, err
	}
	if len(messages) == batchSize {
		messages = append(messages, s.receiveMore(max-len(messages))...)
	}
	deliveries := make([]core.Delivery, len(messages))
	for i := range messages {
		deliveries[i] = &delivery{s: s, body: []byte(aws.ToString(messages[i].Body)), receipt: aws.ToString(messages[i].ReceiptHandle)}
	}
	return deliveries, nil
}

// longPoll makes one call that waits for messages. Its failure is the subscription's.
func (s *subscription) longPoll(most int) ([]types.Message, error) {
	messages, err := s.receive(min(most, batchSize), int32(longPoll.Seconds()))
	if err != nil {
		s.fail(err)
		return nil, s.failure()
	}
	return messages, nil
}

// giveBack makes messages visible again that nobody waits for.
func (s *subscription) giveBack(messages []types.Message) {
	for _, m := range messages {
		_ = s.changes.Add(change{receipt: aws.ToString(m.ReceiptHandle)}) // after Close it comes again by itself
	}
}

// receiveMore takes up to n messages that are at hand. Its failure is told by the next Receive.
func (s *subscription) receiveMore(n int) []types.Message {
	var mu sync.Mutex
	var all []types.Message
	for full := true; full && n > 0; {
		var calls sync.WaitGroup
		for range min(morePolls, (n+batchSize-1)/batchSize) {
			most := min(n, batchSize)
			n -= most
			calls.Go(func() {
				got, err := s.receive(most, s.moreWait)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					s.fail(err)
				}
				all, full = append(all, got...), full && len(got) == most
			})
		}
		calls.Wait()
	}
	return all
}

// receive makes one call.
func (s *subscription) receive(most int, wait int32) ([]types.Message, error) {
	res, err := s.client.ReceiveMessage(s.life, &sqs.ReceiveMessageInput{
		QueueUrl: &s.url, MaxNumberOfMessages: int32(most), WaitTimeSeconds: wait, VisibilityTimeout: seconds(s.opts.Visibility, maxVisibility),
	})
	if err != nil {
		return nil, fmt.Errorf("aws: receive: %w", err)
	}
	return res.Messages, nil
}

// fail makes the subscription dead. The first reason stays.
func (s *subscription) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && s.life.Err() == nil {
		s.err = err
	}
}

func (s *subscription) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && s.life.Err() != nil {
		return errClosed
	}
	return s.err
}

// Close stops receiving and waits until everything acknowledged, extended and released is sent, or ctx ends. Closing
// again gives the first answer.
func (s *subscription) Close(ctx context.Context) error {
	s.close.Do(func() {
		s.stop()
		s.poll.End()
		if err := errors.Join(s.acks.Close(ctx), s.changes.Close(ctx)); err != nil {
			s.closed = fmt.Errorf("aws: close the subscription: %w", err)
		}
	})
	return s.closed
}
