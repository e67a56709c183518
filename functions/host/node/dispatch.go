package node

import (
	"context"
	"errors"
	"sync"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
	"github.com/belfry-dev/belfry/functions/api/assemble"
)

// dispatchAtSubmit lets an API that has no tick beside it publish the jobs that are due at once. Its topics are opened
// later, so that it starts, and takes jobs, while the queue's server is away.
func (n *running) dispatchAtSubmit(ctx context.Context) (err error) {
	if n.Queue == nil || !n.Shared {
		return nil
	}
	n.dispatch, err = assemble.NewDispatcher(ctx, n.Store, later(n.Queue), n.Settings, n.host.Types, false)
	return err
}

// closeDispatch closes the topics of an API that publishes.
func (n *running) closeDispatch(ctx context.Context) {
	if n.dispatch == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishGrace)
	defer cancel()
	if err := n.dispatch.Close(ctx); err != nil {
		n.Log.Warn("topics not closed", "error", err)
	}
}

// later makes each queue of q open its topics when they are first sent to.
func later(q core.Queue) core.Queue {
	return queuegroup.Wrap(q, func(_ string, q core.Queue) core.Queue { return laterQueue{q} })
}

// laterQueue opens its topics when they are first sent to.
type laterQueue struct{ core.Queue }

// OpenTopic calls nobody.
func (q laterQueue) OpenTopic(_ context.Context, p core.Priority) (core.Topic, error) {
	return &laterTopic{queue: q.Queue, priority: p}, nil
}

type laterTopic struct {
	queue    core.Queue
	priority core.Priority

	opening sync.Mutex // held by the one that opens it
	mu      sync.Mutex
	topic   core.Topic // nil until it is open
}

var errOpening = errors.New("the topic is being opened")

func (t *laterTopic) opened() core.Topic {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.topic
}

// open opens the topic unless it is open. While one does so others do not wait: their jobs go with the tick.
func (t *laterTopic) open(ctx context.Context) (core.Topic, error) {
	if topic := t.opened(); topic != nil {
		return topic, nil
	}
	if !t.opening.TryLock() {
		return nil, errOpening
	}
	defer t.opening.Unlock()
	if topic := t.opened(); topic != nil {
		return topic, nil
	}
	topic, err := t.queue.OpenTopic(ctx, t.priority)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.topic = topic
	return topic, nil
}

func (t *laterTopic) Send(ctx context.Context, messages []core.Message) []error {
	topic, err := t.open(ctx)
	if err == nil {
		return topic.Send(ctx, messages)
	}
	errs := make([]error, len(messages))
	for i := range errs {
		errs[i] = err
	}
	return errs
}

func (t *laterTopic) Close(ctx context.Context) error {
	if topic := t.opened(); topic != nil {
		return topic.Close(ctx)
	}
	return nil
}
