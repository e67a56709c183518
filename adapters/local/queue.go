package local

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"sync"
	"time"

	"gocloud.dev/pubsub"
	"gocloud.dev/pubsub/batcher"

	"github.com/belfry-dev/belfry/core"
)

// Scheme is the scheme of this package's URLs.
const Scheme = "mem"

// visibility is the visibility timeout of queues whose URL sets none. The URL's parameter is ackdeadline, as in
// gocloud.dev's mem URLs.
const visibility = time.Minute

// Queue implements core.Queue in memory. Topics and subscriptions with the same URL use the same queue, so subscriptions
// compete for its messages. Unacknowledged messages survive the subscription.
type Queue struct {
	urls map[core.Priority]string
	mux  *pubsub.URLMux

	mu       sync.Mutex
	memories map[string]*memory
	opened   map[*pubsub.Subscription]*subscriptionDriver
}

// Open checks the URLs and makes a Queue. Nil means mem://critical, mem://default and mem://bulk.
func Open(urls map[core.Priority]string) (*Queue, error) {
	q := &Queue{urls: map[core.Priority]string{}, mux: new(pubsub.URLMux), memories: map[string]*memory{}, opened: map[*pubsub.Subscription]*subscriptionDriver{}}
	q.mux.RegisterTopic(Scheme, q)
	q.mux.RegisterSubscription(Scheme, q)
	for _, p := range core.Priorities {
		q.urls[p] = Scheme + "://" + p.String()
		if urls != nil {
			q.urls[p] = urls[p]
		}
		u, err := url.Parse(q.urls[p])
		if err == nil {
			_, err = q.memory(u)
		}
		if err != nil {
			return nil, fmt.Errorf("local: the %s queue: %w", p, err)
		}
	}
	return q, nil
}

// OpenTopic opens the topic of a priority.
func (q *Queue) OpenTopic(ctx context.Context, p core.Priority) (core.Topic, error) {
	t, err := q.mux.OpenTopic(ctx, q.urls[p])
	if err != nil {
		return nil, fmt.Errorf("local: open the %s topic: %w", p, err)
	}
	return &topic{t}, nil
}

// OpenSubscription opens a subscription to the queue of a priority.
func (q *Queue) OpenSubscription(ctx context.Context, p core.Priority) (core.Subscription, error) {
	s, err := q.mux.OpenSubscription(ctx, q.urls[p])
	if err != nil {
		return nil, fmt.Errorf("local: open the %s subscription: %w", p, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	d := q.opened[s]
	delete(q.opened, s)
	return newSubscription(s, d), nil
}

// OpenTopicURL implements pubsub.TopicURLOpener.
func (q *Queue) OpenTopicURL(_ context.Context, u *url.URL) (*pubsub.Topic, error) {
	m, err := q.memory(u)
	if err != nil {
		return nil, err
	}
	return pubsub.NewTopic(topicDriver{memory: m}, nil), nil
}

// OpenSubscriptionURL implements pubsub.SubscriptionURLOpener.
func (q *Queue) OpenSubscriptionURL(_ context.Context, u *url.URL) (*pubsub.Subscription, error) {
	m, err := q.memory(u)
	if err != nil {
		return nil, err
	}
	d := newSubscriptionDriver(m)
	// One bundle at a time: the messages of a bundle fetched ahead would be hidden without a consumer.
	s := pubsub.NewSubscription(d, &batcher.Options{MaxBatchSize: 1, MaxHandlers: 1}, nil)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.opened[s] = d
	return s, nil
}

// memory returns the queue of a URL.
func (q *Queue) memory(u *url.URL) (*memory, error) {
	if u.Scheme != Scheme {
		return nil, fmt.Errorf("scheme %q: this process holds %s:// queues only", u.Scheme, Scheme)
	}
	name := path.Join(u.Host, u.Path)
	if name == "" {
		return nil, fmt.Errorf("a %s:// URL names its queue: %s://critical", Scheme, Scheme)
	}
	hiddenFor := visibility
	for key, values := range u.Query() {
		d, err := time.ParseDuration(values[0])
		if key != "ackdeadline" || err != nil || d <= 0 {
			return nil, fmt.Errorf("parameter %s=%q: want ackdeadline, a positive duration like 1m", key, values[0])
		}
		hiddenFor = d
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.memories[name] == nil {
		q.memories[name] = newMemory(hiddenFor)
	}
	return q.memories[name], nil
}
