package queuetest

import (
	"context"
	"errors"
	"sync"

	"github.com/belfry-dev/belfry/core"
)

// ErrFault is the error of every injected fault.
var ErrFault = errors.New("injected fault")

// SendFault replaces a Send: it may pass on some of the messages, and decides which errors the caller gets.
type SendFault func(ctx context.Context, messages []core.Message, send func(context.Context, []core.Message) []error) []error

// Faulty is a queue that fails on demand.
type Faulty struct {
	core.Queue

	mu     sync.Mutex
	sends  map[core.Priority]SendFault
	breaks map[core.Priority]chan struct{} // closed to break the subscriptions that are open now
}

// NewFaulty wraps a queue. Without faults it behaves like the queue.
func NewFaulty(q core.Queue) *Faulty {
	f := &Faulty{Queue: q, sends: map[core.Priority]SendFault{}, breaks: map[core.Priority]chan struct{}{}}
	for _, p := range core.Priorities {
		f.breaks[p] = make(chan struct{})
	}
	return f
}

// FailSends replaces every Send of a priority by fault, until it is called with nil.
func (f *Faulty) FailSends(p core.Priority, fault SendFault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sends[p] = fault
}

// BreakSubscriptions makes the open subscriptions of a priority fail for good. Subscriptions opened later work.
func (f *Faulty) BreakSubscriptions(p core.Priority) {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.breaks[p])
	f.breaks[p] = make(chan struct{})
}

// LoseAll sends nothing and returns errors.
func LoseAll(_ context.Context, messages []core.Message, _ func(context.Context, []core.Message) []error) []error {
	return allFail(messages)
}

// LoseEveryOther sends half of the messages and returns errors for the others.
func LoseEveryOther(ctx context.Context, messages []core.Message, send func(context.Context, []core.Message) []error) []error {
	errs := allFail(messages)
	for i := 0; i < len(messages); i += 2 {
		errs[i] = send(ctx, messages[i:i+1])[0]
	}
	return errs
}

// SendAndDeny sends all messages but returns errors, as when the answer is lost.
func SendAndDeny(ctx context.Context, messages []core.Message, send func(context.Context, []core.Message) []error) []error {
	send(ctx, messages)
	return allFail(messages)
}

// Hang sends nothing and returns when its context ends.
func Hang(ctx context.Context, messages []core.Message, _ func(context.Context, []core.Message) []error) []error {
	<-ctx.Done()
	return allFail(messages)
}

func allFail(messages []core.Message) []error {
	errs := make([]error, len(messages))
	for i := range errs {
		errs[i] = ErrFault
	}
	return errs
}

// OpenTopic opens a topic whose Sends FailSends can replace.
func (f *Faulty) OpenTopic(ctx context.Context, p core.Priority) (core.Topic, error) {
	t, err := f.Queue.OpenTopic(ctx, p)
	if err != nil {
		return nil, err
	}
	return &faultyTopic{t, f, p}, nil
}

type faultyTopic struct {
	core.Topic
	faulty   *Faulty
	priority core.Priority
}

func (t *faultyTopic) Send(ctx context.Context, messages []core.Message) []error {
	t.faulty.mu.Lock()
	fault := t.faulty.sends[t.priority]
	t.faulty.mu.Unlock()
	if fault == nil {
		return t.Topic.Send(ctx, messages)
	}
	return fault(ctx, messages, t.Topic.Send)
}

// OpenSubscription opens a subscription that BreakSubscriptions can break.
func (f *Faulty) OpenSubscription(ctx context.Context, p core.Priority) (core.Subscription, error) {
	s, err := f.Queue.OpenSubscription(ctx, p)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return &faultySubscription{s, f.breaks[p]}, nil
}

type faultySubscription struct {
	core.Subscription
	broken <-chan struct{}
}

func (s *faultySubscription) Receive(ctx context.Context, max int) ([]core.Delivery, error) {
	whole := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-s.broken:
			cancel()
		case <-ctx.Done():
		}
	}()
	got, err := s.Subscription.Receive(ctx, max)
	cancel()
	<-watched
	select {
	case <-s.broken:
		if whole.Err() == nil {
			return nil, ErrFault // messages received in vain come again after the visibility timeout
		}
	default:
	}
	return got, err
}
