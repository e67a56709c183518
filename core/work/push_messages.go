package work

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// pushes are the messages that calls of Push wait for.
type pushes struct {
	arrived [core.Bulk + 1]chan struct{} // told when a message of a priority waits for a slot

	mu      sync.Mutex
	calls   map[*pushCall]bool
	queued  [core.Bulk + 1][]*pushed // those that wait for a slot, in order of arrival, and some that do not any more
	stopped bool                     // nothing is taken on, and nothing waits
}

// pushCall is the messages of one call. Fields below settled are guarded by pushes.mu.
type pushCall struct {
	pushes      *pushes
	maxReleases int
	messages    []*pushed
	settled     chan struct{} // closed once no message waits or is in hand

	open   int  // messages that wait or are in hand
	closed bool // a message that is given back waits no more
}

// pushed is a message of a call: a core.Delivery once it is in hand. Fields below call are guarded by pushes.mu.
type pushed struct {
	core.Message
	call     *pushCall
	state    pushState
	verdict  Verdict // once it is settled
	releases int
}

type pushState uint8

const (
	pushWaits pushState = iota // for a slot, or until it is tried again
	pushInHand
	pushSettled
)

// newCall takes the messages of a call on, and says why which cannot be read.
func (p *pushes) newCall(messages [][]byte, maxReleases int, unreadable func(error)) *pushCall {
	call := &pushCall{pushes: p, maxReleases: maxReleases, messages: make([]*pushed, len(messages)), settled: make(chan struct{}), open: len(messages)}
	for i, body := range messages {
		m := &pushed{call: call}
		var err error
		if m.Message, err = core.DecodeMessage(body); err != nil {
			unreadable(err)
			m.state, m.verdict = pushSettled, Unreadable
			call.open--
		}
		call.messages[i] = m
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if call.open == 0 {
		close(call.settled)
	}
	if p.stopped {
		p.closeLocked(call, Stopped)
		return call
	}
	p.calls[call] = true
	for _, m := range call.messages {
		p.queueLocked(m)
	}
	return call
}

// queueLocked lets a message wait for a slot. mu is held.
func (p *pushes) queueLocked(m *pushed) {
	if m.state == pushWaits {
		p.queued[m.Priority] = append(p.queued[m.Priority], m)
		signal(p.arrived[m.Priority])
	}
}

// waiting counts the messages of a priority that wait for a slot.
func (p *pushes) waiting(priority core.Priority) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queued[priority] = slices.DeleteFunc(p.queued[priority], func(m *pushed) bool { return m.state != pushWaits })
	return len(p.queued[priority])
}

// takeQueued puts up to n messages of a priority in hand, and reports whether there are more.
func (p *pushes) takeQueued(priority core.Priority, n int) (messages []held, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	queued := p.queued[priority]
	for ; len(queued) > 0 && len(messages) < n; queued = queued[1:] {
		if m := queued[0]; m.state == pushWaits {
			m.state = pushInHand
			messages = append(messages, held{m.Message, m})
		}
	}
	p.queued[priority] = queued
	return messages, len(queued) > 0
}

// settleLocked notes what is to become of a message, once. mu is held.
func (p *pushes) settleLocked(m *pushed, v Verdict) {
	if m.state == pushSettled {
		return
	}
	m.state, m.verdict = pushSettled, v
	if m.call.open--; m.call.open == 0 {
		close(m.call.settled)
	}
}

// close settles the messages of a call that wait. Those in hand do not wait again.
func (p *pushes) close(call *pushCall, v Verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeLocked(call, v)
}

func (p *pushes) closeLocked(call *pushCall, v Verdict) {
	call.closed = true
	for _, m := range call.messages {
		if m.state == pushWaits {
			p.settleLocked(m, v)
		}
	}
}

// remove forgets a call. What becomes of its messages from then on changes nothing.
func (p *pushes) remove(call *pushCall) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.removeLocked(call)
}

func (p *pushes) removeLocked(call *pushCall) {
	delete(p.calls, call)
	for _, m := range call.messages {
		p.settleLocked(m, Unrecorded)
	}
}

// stop begins the worker's end: nothing waits any more.
func (p *pushes) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	for call := range p.calls {
		p.closeLocked(call, unstarted)
	}
}

// abandon settles, after the worker's end, the messages that it could not settle.
func (p *pushes) abandon() {
	p.stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for call := range p.calls {
		p.removeLocked(call)
	}
}

// Body is the message.
func (m *pushed) Body() []byte { return m.Encode() }

// Ack settles the message: there is nothing more to do.
func (m *pushed) Ack(context.Context) error {
	p := m.call.pushes
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settleLocked(m, Finished)
	return nil
}

// Release lets the message wait again after d, while its call allows that.
func (m *pushed) Release(_ context.Context, d time.Duration) error {
	p := m.call.pushes
	p.mu.Lock()
	defer p.mu.Unlock()
	m.releases++
	usedUp := m.call.maxReleases > 0 && m.releases > m.call.maxReleases
	switch {
	case m.state != pushInHand:
	case m.call.closed || usedUp:
		p.settleLocked(m, unstarted)
	default:
		m.state = pushWaits
		time.AfterFunc(d, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.queueLocked(m)
		})
	}
	return nil
}

// Extend is not possible: who pushed the message waits for its verdict. The lease in the row is what counts.
func (*pushed) Extend(context.Context, time.Duration) error { return core.ErrCannotExtend }
