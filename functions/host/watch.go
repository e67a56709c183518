package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
)

const (
	// queuePatience is how long a queue may be lost before its process is unhealthy. A broker that restarts or fails over is
	// back within it, and workers and the tick open the queue again by themselves. A process that is replaced sooner hands
	// its running jobs back, and the next one does not find the queue any sooner. It must be longer than steady, or one
	// failed call to a queue that is then idle would count as a loss.
	queuePatience = time.Minute
	// steady is how long a call waits for messages only if the queue is there. It is longer than a long poll.
	steady = 30 * time.Second
	// forgotten is how long a failure counts without another one. Those who want the queue try far more often.
	forgotten = 3 * queuePatience
)

// QueueHealth tells which queues are lost, of those that this process receives from and publishes to.
type QueueHealth struct {
	received, published map[queuegroup.Key]*queueState
}

// WatchQueue returns q, watched, and its health.
func WatchQueue(q core.Queue) (core.Queue, *QueueHealth) {
	h := &QueueHealth{map[queuegroup.Key]*queueState{}, map[queuegroup.Key]*queueState{}}
	for _, key := range queuegroup.GroupsOf(q).Keys() {
		h.received[key], h.published[key] = &queueState{}, &queueState{}
	}
	return queuegroup.Wrap(q, func(group string, q core.Queue) core.Queue { return &watchedQueue{q, group, h} }), h
}

// Receiving returns an error if a queue has not been received from for too long. A nil QueueHealth is healthy.
func (h *QueueHealth) Receiving() error {
	if h == nil {
		return nil
	}
	return longestLost(h.received, "the %s queue has not been received from for %s")
}

// Publishing returns an error if nothing could be published to a queue for too long. A nil QueueHealth is healthy.
func (h *QueueHealth) Publishing() error {
	if h == nil {
		return nil
	}
	return longestLost(h.published, "nothing could be published to the %s queue for %s")
}

func longestLost(queues map[queuegroup.Key]*queueState, text string) (err error) {
	longest := queuePatience
	for key, q := range queues {
		if lost := q.lost(time.Now()); lost > longest {
			longest, err = lost, fmt.Errorf(text, key, lost.Round(time.Second))
		}
	}
	return err
}

// queueState is what is known of one queue in one direction.
type queueState struct {
	mu      sync.Mutex
	since   time.Time // first failure without a success after it; zero if there is none
	last    time.Time // last failure
	waiting time.Time // when the call of Receive under way began; zero if there is none
}

// lost returns for how long nothing has succeeded: zero once a call waits longer than it would on a lost queue, and once
// nobody tries any more.
func (q *queueState) lost(now time.Time) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.since.IsZero() || q.waited(now) || now.Sub(q.last) > forgotten {
		return 0
	}
	return now.Sub(q.since)
}

func (q *queueState) waited(now time.Time) bool {
	return !q.waiting.IsZero() && now.Sub(q.waiting) > steady
}

// begin notes that a call of Receive begins.
func (q *queueState) begin(now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = now
}

// end notes the result of a call.
func (q *queueState) end(err error, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waited := q.waited(now)
	q.waiting = time.Time{}
	if err == nil {
		q.since = time.Time{}
		return
	}
	if q.since.IsZero() || waited || now.Sub(q.last) > forgotten {
		q.since = now
	}
	q.last = now
}

// watchedQueue notes the results of opening, receiving and publishing.
type watchedQueue struct {
	core.Queue
	group  string
	health *QueueHealth
}

func (q *watchedQueue) OpenSubscription(ctx context.Context, p core.Priority) (core.Subscription, error) {
	state := q.health.received[queuegroup.Key{Priority: p, Group: q.group}]
	s, err := q.Queue.OpenSubscription(ctx, p)
	if err != nil {
		state.end(err, time.Now())
		return nil, err
	}
	return watchedSubscription{s, state}, nil
}

type watchedSubscription struct {
	core.Subscription
	state *queueState
}

func (s watchedSubscription) Receive(ctx context.Context, limit int) ([]core.Delivery, error) {
	s.state.begin(time.Now())
	got, err := s.Subscription.Receive(ctx, limit)
	s.state.end(err, time.Now())
	return got, err
}

func (q *watchedQueue) OpenTopic(ctx context.Context, p core.Priority) (core.Topic, error) {
	topic, err := q.Queue.OpenTopic(ctx, p)
	if err != nil {
		return nil, err
	}
	return watchedTopic{topic, q.health.published[queuegroup.Key{Priority: p, Group: q.group}]}, nil
}

type watchedTopic struct {
	core.Topic
	state *queueState
}

// Send fails if no message is known to be published.
func (t watchedTopic) Send(ctx context.Context, messages []core.Message) []error {
	errs := t.Topic.Send(ctx, messages)
	if len(messages) == 0 || errors.Is(ctx.Err(), context.Canceled) { // a call that took too long has failed
		return errs
	}
	failure := errors.Join(errs...)
	for _, err := range errs {
		if err == nil {
			failure = nil
		}
	}
	t.state.end(failure, time.Now())
	return errs
}
