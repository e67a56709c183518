package queuetest

import (
	"context"
	"errors"
	"sync"

	"github.com/belfry-dev/belfry/core"
)

// ErrFault is the error of every injected fault.
var ErrFault = errors.New("injected fault")

// SendFault stands in for a Send: it may pass some of the messages on, and says what the caller is told.
type SendFault func(ctx context.Context, messages []core.Message, send func(context.Context, []core.Message) []error) []error

// Faulty is a queue that fails when told to.
type Faulty struct {
	core.Queue

	mu     sync.Mutex
	sends  map[core.Priority]SendFault
	breaks map[core.Priority]chan struct{} // closed when the subscriptions open now break
}

// NewFaulty wraps a queue. Until told otherwise it behaves as the queue does.
func NewFaulty(q core.Queue) *Faulty {
	f := &Faulty{Queue: q, sends: map[core.Priority]SendFault{}, breaks: map[core.Priority]chan struct{}{}}
	for _, p := range core.Priorities {
		f.breaks[p] = make(chan struct{})
	}
	return f
}

// FailSends puts fault in the place of every Send of a priority, until it is called with nil.
func (f *Faulty) FailSends(p core.Priority, fault SendFault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sends[p] = fault
}

// BreakSubscriptions makes the open subscriptions of a priority fail for good; those opened afterwards work.
func (f *Faulty) BreakSubscriptions(p core.Priority) {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.breaks[p])
	f.breaks[p] = make(chan struct{})
}

// LoseAll sends nothing and says so.
func LoseAll(_ context.Context, messages []core.Message, _ func(context.Context, []core.Message) []error) []error {
	return allFail(messages)
}

// LoseEveryOther sends one half of the messages and fails for the other.
func LoseEveryOther(ctx context.Context, messages []core.Message, send func(context.Context, []core.Message) []error) []error {
	errs := allFail(messages)
	for i := 0; i < len(messages); i += 2 {
		errs[i] = send(ctx, messages[i:i+1])[0]
	}
	return errs
}

// SendAndDeny sends all messages and says none was: the answer got lost.
func SendAndDeny(ctx context.Context, messages []core.Message, send func(context.Context, []core.Message) []error) []error {
	send(ctx, messages)
	return allFail(messages)
}

// Hang sends nothing and answers when its context ends.
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

// OpenTopic opens a topic whose Sends can be made to fail.
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

// OpenSubscription opens a subscription that can be broken.
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
			return nil, ErrFault // what was received comes again after the visibility timeout
		}
	default:
	}
	return got, err
}
