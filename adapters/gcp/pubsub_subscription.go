package gcp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	pubsub "cloud.google.com/go/pubsub/v2/apiv1"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/googleapis/gax-go/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/gather"
)

const (
	ackWait    = 50 * time.Millisecond // how long an acknowledgement waits for others
	changeWait = 5 * time.Millisecond  // the same for changes of deadlines, for which callers wait
	batchSize  = 500                   // acknowledgements or changes per request: their ids fill half of its maximum size
	pullCalm   = time.Second           // minimum period of pulls after a few that returned nothing
)

// subscription implements core.Subscription by unary pulls on the current client. The streaming pull of that client,
// which gocloud.dev uses, receives messages before they are asked for, and has other faults: see docs/decisions.
type subscription struct {
	client *pubsub.SubscriptionAdminClient
	name   string
	opts   QueueOptions

	turn    chan struct{} // held by the current Receive
	poll    *gather.Poll[*pubsubpb.ReceivedMessage]
	acks    *gather.Gatherer[string]
	changes *gather.Gatherer[change]

	life   context.Context // of pulls
	stop   context.CancelFunc
	empty  time.Duration // wait after the next pull that returns nothing; owned by the poll
	close  sync.Once
	closed error // result of Close

	mu  sync.Mutex
	err error // why the subscription is unusable
}

// OpenSubscription opens a subscription of a priority, over a connection of its own.
func (q *Queue) OpenSubscription(ctx context.Context, p core.Priority) (core.Subscription, error) {
	at := q.places[p]
	client, err := pubsub.NewSubscriptionAdminClient(ctx, at.dial...)
	if err != nil {
		return nil, fmt.Errorf("gcp: open the %s subscription: %w", p, err)
	}
	s := &subscription{client: client, name: at.subscription, opts: q.opts, turn: make(chan struct{}, 1)}
	s.life, s.stop = context.WithCancel(context.Background())
	s.poll = gather.NewPoll(s.pull, s.giveBack)
	s.acks = gather.New(s.sendAcks, gather.Options{MaxItems: batchSize, Wait: ackWait, Timeout: callTimeout})
	s.changes = gather.New(s.sendChanges, gather.Options{MaxItems: batchSize, Wait: changeWait, Timeout: callTimeout})
	return s, nil
}

// Receive waits for messages and returns those of one pull. It never pulls without a caller.
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
	deliveries, changes := make([]core.Delivery, len(messages)), make([]change, len(messages))
	for i, m := range messages {
		deliveries[i] = &delivery{s: s, body: m.GetMessage().GetData(), id: m.GetAckId(), attempt: m.GetDeliveryAttempt()}
		changes[i] = change{id: m.GetAckId(), seconds: seconds(s.opts.Visibility)}
	}
	if s.opts.Visibility > 0 {
		ctx, cancel := context.WithTimeout(s.life, callTimeout)
		defer cancel()
		s.sendChanges(ctx, changes) // first; otherwise the subscription's own deadline would apply
	}
	return deliveries, nil
}

// pull makes one call. The service holds it until there is a message or a time has passed. Emulators answer sooner, so the
// next call waits.
func (s *subscription) pull(limit int) ([]*pubsubpb.ReceivedMessage, error) {
	ctx, cancel := context.WithTimeout(s.life, pullTimeout)
	defer cancel()
	began := time.Now()
	res, err := s.client.Pull(ctx, &pubsubpb.PullRequest{Subscription: s.name, MaxMessages: int32(min(limit, maxPull))}, gax.WithRetry(neverRetry))
	switch {
	case s.life.Err() != nil:
		return nil, errClosed
	case status.Code(err) == codes.DeadlineExceeded || errors.Is(err, context.DeadlineExceeded):
		return nil, nil // there was no message
	case err != nil:
		s.fail(fmt.Errorf("gcp: receive: %w", err))
		return nil, s.failure()
	case len(res.GetReceivedMessages()) > 0:
		s.empty = 0
		return res.GetReceivedMessages(), nil
	}
	s.empty = min(max(2*s.empty, 20*time.Millisecond), pullCalm)
	if rest := s.empty - time.Since(began); rest > 0 {
		timer := time.NewTimer(rest)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.life.Done():
		}
	}
	return nil, nil
}

// neverRetry leaves retries to the worker, which opens another subscription: the client's own retries take a minute before
// it returns an error.
func neverRetry() gax.Retryer { return nil }

// giveBack makes messages without a waiting caller deliverable again.
func (s *subscription) giveBack(messages []*pubsubpb.ReceivedMessage) {
	for _, m := range messages {
		_ = s.changes.Add(change{id: m.GetAckId()}) // after Close the message comes again after its deadline
	}
}

// fail makes the subscription unusable. The first error stays.
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
		if err := errors.Join(s.acks.Close(ctx), s.changes.Close(ctx), s.client.Close()); err != nil {
			s.closed = fmt.Errorf("gcp: close the subscription: %w", err)
		}
	})
	return s.closed
}
