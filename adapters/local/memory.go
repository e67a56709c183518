package local

import (
	"container/heap"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

var (
	errClosed  = errors.New("the subscription is closed")
	errNotHeld = errors.New("the message was delivered again")
)

// memory holds one queue's messages. Any number of topics add to it, and any number of subscriptions compete for its
// messages. A message that is taken is hidden for the visibility timeout and then ready again.
type memory struct {
	visibility time.Duration

	mu      sync.Mutex
	ready   []*stored
	hidden  hidden
	waiting []*waiter // in order of arrival; the first one takes next
	breaks  int       // number of times that its connections broke
	broken  error     // error of the last break
}

// waiter is a call of take. It keeps its position until it returns.
type waiter struct {
	look chan struct{} // receives when a message may be ready for it
}

// stored is one message of a memory.
type stored struct {
	body    []byte
	until   time.Time // hidden until this time
	place   int       // index in hidden; -1 while ready
	receipt int       // rises with each delivery
	gone    bool      // acknowledged
}

func newMemory(visibility time.Duration) *memory {
	return &memory{visibility: visibility}
}

// add adds new messages.
func (m *memory) add(bodies [][]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	batch := make([]stored, len(bodies)) // one allocation: it lives until the last message of the bundle is removed
	for i, body := range bodies {
		batch[i] = stored{body: body, place: -1}
		m.ready = append(m.ready, &batch[i])
	}
	m.wakeFirst()
}

// wakeFirst wakes the first waiter. A waiter that takes less than there is wakes the next one. So messages go to waiters in
// turn, as brokers serve their consumers.
func (m *memory) wakeFirst() {
	if len(m.waiting) > 0 {
		m.waiting[0].wake()
	}
}

// wakeAll wakes every waiter. They keep their positions.
func (m *memory) wakeAll() {
	for _, w := range m.waiting {
		w.wake()
	}
}

func (w *waiter) wake() {
	select {
	case w.look <- struct{}{}:
	default: // it was woken already
	}
}

// take waits until a message is ready and it is the caller's turn, and takes up to max messages. It ends early when ctx
// ends, or when its connection, opened after this many breaks, breaks.
func (m *memory) take(ctx context.Context, max, breaks int) ([]delivered, error) {
	w := &waiter{look: make(chan struct{}, 1)}
	m.mu.Lock()
	m.waiting = append(m.waiting, w)
	m.mu.Unlock()
	defer m.leave(w)
	for {
		taken, wait, err := m.takeReady(w, max, breaks)
		if len(taken) > 0 || err != nil {
			return taken, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-w.look:
		case <-timer.C:
		}
		timer.Stop()
		if err != nil {
			return nil, err
		}
	}
}

// leave removes a waiter, and wakes the new first waiter if messages are ready.
func (m *memory) leave(w *waiter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.Index(m.waiting, w)
	m.waiting = slices.Delete(m.waiting, i, i+1)
	if len(m.ready) > 0 {
		m.wakeFirst()
	}
}

// delivered is a message with the receipt of one delivery.
type delivered struct {
	*stored
	receipt int
}

// takeReady takes ready messages if it is w's turn. If it takes none, it returns the maximum time to wait.
func (m *memory) takeReady(w *waiter, max, breaks int) (taken []delivered, wait time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.breaks > breaks {
		return nil, 0, m.broken
	}
	now := time.Now()
	for len(m.hidden) > 0 && !m.hidden[0].until.After(now) {
		m.ready = append(m.ready, heap.Pop(&m.hidden).(*stored))
	}
	wait = time.Hour
	if len(m.hidden) > 0 {
		wait = m.hidden[0].until.Sub(now)
	}
	if m.waiting[0] != w {
		if len(m.ready) > 0 {
			m.wakeFirst()
		}
		return nil, wait, nil
	}
	if n := min(max, len(m.ready)); n > 0 {
		taken = make([]delivered, 0, n)
	}
	for len(m.ready) > 0 && len(taken) < max {
		h := m.ready[0]
		m.ready = m.ready[1:]
		if h.gone {
			continue
		}
		h.receipt++
		h.until = now.Add(m.visibility)
		heap.Push(&m.hidden, h)
		taken = append(taken, delivered{h, h.receipt})
	}
	return taken, wait, nil
}

// remove removes a message, even if another consumer has it by now.
func (m *memory) remove(d delivered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d.gone = true
	if d.place >= 0 {
		heap.Remove(&m.hidden, d.place)
	}
}

// hide makes a message ready again after wait, if its last delivery is this one.
func (m *memory) hide(d delivered, wait time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d.gone || d.place < 0 || d.stored.receipt != d.receipt {
		return errNotHeld
	}
	d.until = time.Now().Add(wait)
	heap.Fix(&m.hidden, d.place)
	m.wakeAll() // the next message may now be ready at another time
	return nil
}

// fail breaks all open connections with err. Connections opened later work.
func (m *memory) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.breaks++
	m.broken = err
	m.wakeAll()
}

// connection returns what take needs to know about a connection opened now.
func (m *memory) connection() (breaks int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.breaks
}

// hidden sorts messages by the time at which they are ready again.
type hidden []*stored

func (h hidden) Len() int           { return len(h) }
func (h hidden) Less(i, j int) bool { return h[i].until.Before(h[j].until) }
func (h hidden) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *hidden) Push(x any) {
	m := x.(*stored)
	m.place = len(*h)
	*h = append(*h, m)
}

func (h *hidden) Pop() any {
	last := len(*h) - 1
	m := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	m.place = -1
	return m
}
