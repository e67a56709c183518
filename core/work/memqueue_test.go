package work

import (
	"context"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// memQueue is a queue in memory with a visibility timeout, for tests of the receiving loops.
type memQueue struct {
	visibility time.Duration
	extend     error // answer of Extend

	mu      sync.Mutex
	waiting [core.Bulk + 1][]*memMessage
	arrived chan struct{} // closed and replaced when something may be received
	fail    error         // of the next Receive
	n       queueCounts
}

// queueCounts is what was done with a memQueue.
type queueCounts struct {
	opened, open                      int // subscriptions
	acks, releases, extends, received int
	rejects                           int
	most                              int // asked for by one Receive
}

func (q *memQueue) counts() queueCounts {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.n
}

type memMessage struct {
	body     []byte
	priority core.Priority
	visible  time.Time
	gone     bool
}

func newMemQueue(visibility time.Duration) *memQueue {
	return &memQueue{visibility: visibility, arrived: make(chan struct{})}
}

func (q *memQueue) send(p core.Priority, body []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting[p] = append(q.waiting[p], &memMessage{body: body, priority: p})
	q.tell()
}

// tell wakes receivers. mu is held.
func (q *memQueue) tell() {
	close(q.arrived)
	q.arrived = make(chan struct{})
}

func (q *memQueue) failOnce(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.fail = err
	q.tell()
}

// left counts messages that nobody has acknowledged.
func (q *memQueue) left() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, waiting := range q.waiting {
		for _, m := range waiting {
			if !m.gone {
				n++
			}
		}
	}
	return n
}

func (q *memQueue) OpenTopic(_ context.Context, p core.Priority) (core.Topic, error) {
	return memTopic{q, p}, nil
}

type memTopic struct {
	q        *memQueue
	priority core.Priority
}

func (t memTopic) Send(_ context.Context, messages []core.Message) []error {
	for _, m := range messages {
		t.q.send(t.priority, m.Encode())
	}
	return make([]error, len(messages))
}

func (memTopic) Close(context.Context) error { return nil }

func (q *memQueue) OpenSubscription(_ context.Context, p core.Priority) (core.Subscription, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.n.opened++
	q.n.open++
	return &memSubscription{q: q, priority: p}, nil
}

type memSubscription struct {
	q        *memQueue
	priority core.Priority
}

func (s *memSubscription) Receive(ctx context.Context, most int) ([]core.Delivery, error) {
	for {
		s.q.mu.Lock()
		if err := s.q.fail; err != nil {
			s.q.fail = nil
			s.q.mu.Unlock()
			return nil, err
		}
		s.q.n.most = max(s.q.n.most, most)
		got, next := s.take(most)
		arrived := s.q.arrived
		s.q.mu.Unlock()
		if len(got) > 0 {
			return got, nil
		}
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		case <-arrived:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// take hides up to most visible messages; next is when another one becomes visible.
func (s *memSubscription) take(most int) (got []core.Delivery, next time.Duration) {
	now, next := time.Now(), time.Hour
	kept := s.q.waiting[s.priority][:0]
	for _, m := range s.q.waiting[s.priority] {
		if m.gone {
			continue
		}
		kept = append(kept, m)
		if wait := m.visible.Sub(now); wait > 0 {
			next = min(next, wait)
		} else if len(got) < most {
			m.visible = now.Add(s.q.visibility)
			s.q.n.received++
			got = append(got, &memDelivery{s.q, m})
		}
	}
	s.q.waiting[s.priority] = kept
	return got, next
}

func (s *memSubscription) Close(context.Context) error {
	s.q.mu.Lock()
	defer s.q.mu.Unlock()
	s.q.n.open--
	return nil
}

type memDelivery struct {
	q *memQueue
	m *memMessage
}

func (d *memDelivery) Body() []byte { return d.m.body }

func (d *memDelivery) Ack(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d.q.mu.Lock()
	defer d.q.mu.Unlock()
	d.q.n.acks++
	d.m.gone = true
	return nil
}

func (d *memDelivery) Reject(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d.q.mu.Lock()
	defer d.q.mu.Unlock()
	d.q.n.rejects++
	d.m.gone = true
	return nil
}

func (d *memDelivery) Release(ctx context.Context, after time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d.q.mu.Lock()
	defer d.q.mu.Unlock()
	d.q.n.releases++
	d.m.visible = time.Now().Add(after)
	d.q.tell()
	return nil
}

func (d *memDelivery) Extend(_ context.Context, until time.Duration) error {
	d.q.mu.Lock()
	defer d.q.mu.Unlock()
	d.q.n.extends++
	if d.q.extend != nil {
		return d.q.extend
	}
	d.m.visible = time.Now().Add(until)
	return nil
}
