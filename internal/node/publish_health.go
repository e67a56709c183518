package node

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
)

// forgotten is how long a failure counts: a tick that has something to publish tries three times as often.
const forgotten = 3 * patience

// outlet is what is known of the publishing to one queue.
type outlet struct {
	mu    sync.Mutex
	since time.Time // of the first failure without a success after it; zero while there is none
	last  time.Time // of the last failure
}

// told notes how a Send went: it failed when nothing of it is known to be published.
func (o *outlet) told(errs []error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	for _, err := range errs {
		if err == nil {
			o.since = time.Time{}
			return
		}
	}
	if o.since.IsZero() || now.Sub(o.last) > forgotten {
		o.since = now
	}
	o.last = now
}

// stuck is how long nothing could be published; zero where it could be, or where nobody has tried for a while.
func (o *outlet) stuck() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() || time.Since(o.last) > forgotten {
		return 0
	}
	return time.Since(o.since)
}

// outletQueue notes how sending to its topics goes.
type outletQueue struct {
	core.Queue
	group   string
	outlets map[queuegroup.Key]*outlet
}

// watchOutlets watches each queue of q.
func watchOutlets(q core.Queue) (core.Queue, map[queuegroup.Key]*outlet) {
	outlets := map[queuegroup.Key]*outlet{}
	for _, key := range queuegroup.GroupsOf(q).Keys() {
		outlets[key] = &outlet{}
	}
	return queuegroup.Wrap(q, func(group string, q core.Queue) core.Queue { return &outletQueue{q, group, outlets} }), outlets
}

// OpenTopic opens one that is watched.
func (q *outletQueue) OpenTopic(ctx context.Context, p core.Priority) (core.Topic, error) {
	topic, err := q.Queue.OpenTopic(ctx, p)
	if err != nil {
		return nil, err
	}
	return outletTopic{topic, q.outlets[queuegroup.Key{Priority: p, Group: q.group}]}, nil
}

type outletTopic struct {
	core.Topic
	outlet *outlet
}

func (t outletTopic) Send(ctx context.Context, messages []core.Message) []error {
	errs := t.Topic.Send(ctx, messages)
	if len(messages) > 0 && !errors.Is(ctx.Err(), context.Canceled) { // one that took too long has failed
		t.outlet.told(errs)
	}
	return errs
}
