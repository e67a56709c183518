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
	changeWait = 5 * time.Millisecond  // the same for changes with a waiting caller
	morePolls  = 20                    // concurrent calls while a queue is full
)

var errClosed = errors.New("aws: the subscription is closed")

// subscription implements core.Subscription with calls of the SDK. The portable type of gocloud.dev receives messages before
// anyone asks for them, which uses up their visibility timeouts and receipts: see docs/decisions.
type subscription struct {
	place
	opts     QueueOptions
	redrive  bool  // the queue has a dead-letter queue
	moreWait int32 // wait, in seconds, of a call that should not wait at all

	turn    chan struct{} // held by the current Receive
	poll    *gather.Poll[types.Message]
	acks    *gather.Gatherer[string]
	changes *gather.Gatherer[change]

	life   context.Context // context of receiving calls
	stop   context.CancelFunc
	close  sync.Once
	closed error // result of Close

	mu  sync.Mutex
	err error // why the subscription is dead
}

// OpenSubscription opens a subscription to the queue of a priority, which must exist.
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

// readAttributes reads the queue's settings.
func (s *subscription) readAttributes(ctx context.Context) error {
	res, err := s.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &s.url, AttributeNames: []types.QueueAttributeName{
		types.QueueAttributeNameRedrivePolicy, types.QueueAttributeNameReceiveMessageWaitTimeSeconds,
	}})
	if err != nil {
		return err
	}
	s.redrive = res.Attributes[string(types.QueueAttributeNameRedrivePolicy)] != ""
	if wait, err := strconv.Atoi(res.Attributes[string(types.QueueAttributeNameReceiveMessageWaitTimeSeconds)]); err == nil && wait > 0 {
		s.moreWait = 1 // zero would be omitted, and the queue's own setting would apply
	}
	return nil
}

// Receive waits for messages with long polls, one call per 20 s. If ten messages arrive at once it requests more, with
// several calls at once, until it has max or the queue has no more available. It never receives more than the caller asked
// for.
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

// longPoll makes one call that waits for messages. If it fails, the subscription is dead.
func (s *subscription) longPoll(max int) ([]types.Message, error) {
	messages, err := s.receive(min(max, batchSize), int32(longPoll.Seconds()))
	if err != nil {
		s.fail(err)
		return nil, s.failure()
	}
	return messages, nil
}

// giveBack makes messages without a waiting caller visible again.
func (s *subscription) giveBack(messages []types.Message) {
	for _, m := range messages {
		_ = s.changes.Add(change{receipt: aws.ToString(m.ReceiptHandle)}) // after Close the message comes again after its timeout
	}
}

// receiveMore takes up to n available messages. The next Receive returns its error.
func (s *subscription) receiveMore(n int) []types.Message {
	var mu sync.Mutex
	var all []types.Message
	for full := true; full && n > 0; {
		var calls sync.WaitGroup
		for range min(morePolls, (n+batchSize-1)/batchSize) {
			max := min(n, batchSize)
			n -= max
			calls.Go(func() {
				got, err := s.receive(max, s.moreWait)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					s.fail(err)
				}
				all, full = append(all, got...), full && len(got) == max
			})
		}
		calls.Wait()
	}
	return all
}

// receive makes one call.
func (s *subscription) receive(max int, wait int32) ([]types.Message, error) {
	res, err := s.client.ReceiveMessage(s.life, &sqs.ReceiveMessageInput{
		QueueUrl: &s.url, MaxNumberOfMessages: int32(max), WaitTimeSeconds: wait, VisibilityTimeout: seconds(s.opts.Visibility, maxVisibility),
	})
	if err != nil {
		return nil, fmt.Errorf("aws: receive: %w", err)
	}
	return res.Messages, nil
}

// fail marks the subscription as dead. The first reason stays.
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

// Close stops receiving and waits until everything acknowledged, extended and released is sent, or ctx ends. Closing again
// returns the first result.
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
