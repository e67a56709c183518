package gcp

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// hand holds the messages of the requests that wait for an answer.
type hand struct {
	mu      sync.Mutex
	open    []*pushed     // not settled
	changed chan struct{} // closed, and made anew, when a message waits
	stopped bool          // nothing more is taken, and nothing waits
}

// pushed is the message of one request. Its hand's mutex guards it.
type pushed struct {
	hand     *hand
	body     []byte
	priority core.Priority
	state    itemState
	due      time.Time // when it is delivered, while it waits
	late     bool      // not to be delivered any more
	settled  chan struct{}
}

type itemState int8

const (
	waiting    itemState = iota
	inHand               // of a worker
	left                 // to be handed back
	dropped              // whoever brought it is gone, and will bring it again
	unreadable           // by any worker
	finished             // there is nothing more to do
)

// add takes a message in; nil once the hand has stopped.
func (h *hand) add(body []byte) *pushed {
	m := &pushed{hand: h, body: body, priority: core.Default, settled: make(chan struct{})}
	if read, err := core.DecodeMessage(body); err == nil {
		m.priority = cmp.Or(read.Priority, core.Default)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return nil
	}
	h.open = append(h.open, m)
	h.tellLocked()
	return m
}

// tellLocked wakes those who wait for messages.
func (h *hand) tellLocked() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// settleLocked notes what became of a message, once.
func (h *hand) settleLocked(m *pushed, state itemState) {
	i := slices.Index(h.open, m)
	if i < 0 {
		return
	}
	h.open = slices.Delete(h.open, i, i+1)
	m.state = state
	close(m.settled)
}

func (h *hand) stateOf(m *pushed) itemState {
	h.mu.Lock()
	defer h.mu.Unlock()
	return m.state
}

// late settles a message that waits, now or when the worker gives it back.
func (h *hand) late(m *pushed, state itemState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m.late = true
	if m.state == waiting {
		h.settleLocked(m, state)
	}
}

// Stop begins the end: what waits is handed back, and new requests are sent away. What the worker has in hand stays
// there; end its context then.
func (h *hand) Stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
	for _, m := range slices.Clone(h.open) {
		if m.state == waiting {
			h.settleLocked(m, left)
		}
	}
}

// Abandon answers, after the worker, those whose end it could not record.
func (h *hand) Abandon() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
	for _, m := range slices.Clone(h.open) {
		h.settleLocked(m, inHand)
	}
}

// OpenTopic is refused: a request is only received.
func (*Push) OpenTopic(context.Context, core.Priority) (core.Topic, error) {
	return nil, errors.New("gcp: nothing is sent to a push endpoint")
}

// OpenSubscription gives the messages of a priority.
func (p *Push) OpenSubscription(_ context.Context, priority core.Priority) (core.Subscription, error) {
	return &pushSubscription{&p.hand, priority}, nil
}

// pushSubscription receives the messages of one priority.
type pushSubscription struct {
	hand     *hand
	priority core.Priority
}

// Receive waits for messages that are due.
func (s *pushSubscription) Receive(ctx context.Context, most int) ([]core.Delivery, error) {
	for {
		got, next, changed := s.hand.take(s.priority, most, time.Now())
		if len(got) > 0 {
			return got, nil
		}
		var timer *time.Timer
		var due <-chan time.Time
		if !next.IsZero() {
			timer = time.NewTimer(time.Until(next))
			due = timer.C
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-due:
		}
		if timer != nil {
			timer.Stop()
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// take puts due messages in hand, or says when the next is due and what to wait on.
func (h *hand) take(p core.Priority, most int, now time.Time) (got []core.Delivery, next time.Time, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.open {
		switch {
		case m.state != waiting || m.priority != p || len(got) == most:
		case m.due.After(now):
			if next.IsZero() || m.due.Before(next) {
				next = m.due
			}
		default:
			m.state = inHand
			got = append(got, m)
		}
	}
	return got, next, h.changed
}

// Close has nothing to close.
func (*pushSubscription) Close(context.Context) error { return nil }

// Body is the message without its envelope.
func (m *pushed) Body() []byte { return m.body }

// Ack lets the request be answered: there is nothing more to do.
func (m *pushed) Ack(context.Context) error { return m.settle(finished) }

// Reject lets Pub/Sub deliver the message again, and move it to the dead letters at last.
func (m *pushed) Reject(context.Context) error { return m.settle(unreadable) }

func (m *pushed) settle(state itemState) error {
	m.hand.mu.Lock()
	defer m.hand.mu.Unlock()
	m.hand.settleLocked(m, state)
	return nil
}

// Release lets the message wait again, while there is time.
func (m *pushed) Release(_ context.Context, d time.Duration) error {
	h := m.hand
	h.mu.Lock()
	defer h.mu.Unlock()
	if m.state != inHand {
		return nil
	}
	if h.stopped || m.late {
		h.settleLocked(m, left)
		return nil
	}
	m.state, m.due = waiting, time.Now().Add(d)
	h.tellLocked()
	return nil
}

// Extend is not possible: Pub/Sub's own deadline holds. The lease in the row is what counts.
func (*pushed) Extend(context.Context, time.Duration) error { return core.ErrCannotExtend }
