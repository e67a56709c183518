package gather

import (
	"context"
	"sync"
)

// Poll asks a queue for messages in calls that may outlive who waits for them: a call that is cut off can take
// messages along, which nobody has until their visibility timeout passes. Whoever waits next waits for the same
// call. What comes while nobody waits, or is more than is waited for, is given back at once.
type Poll[T any] struct {
	fetch    func(most int) ([]T, error)
	giveBack func([]T)
	running  sync.WaitGroup

	mu      sync.Mutex
	waiting bool // someone waits
	max     int  // for so many
	flying  bool // a call is on its way
	result  chan polled[T]
}

type polled[T any] struct {
	messages []T
	err      error
}

// NewPoll makes a Poll. fetch is one call, which waits for messages as long as the queue lets it and returns none
// when that is over; giveBack must not block.
func NewPoll[T any](fetch func(most int) ([]T, error), giveBack func([]T)) *Poll[T] {
	return &Poll[T]{fetch: fetch, giveBack: giveBack, result: make(chan polled[T], 1)}
}

// Wait returns the messages of a call that brought some, at most max, or its error. One caller at a time.
func (p *Poll[T]) Wait(ctx context.Context, max int) ([]T, error) {
	p.mu.Lock()
	p.waiting, p.max = true, max
	if !p.flying {
		p.flying = true
		p.running.Go(p.fly)
	}
	p.mu.Unlock()
	select {
	case r := <-p.result:
		return r.messages, r.err
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting {
		p.waiting = false
		return nil, ctx.Err()
	}
	r := <-p.result // it came at the same time
	return r.messages, r.err
}

// fly makes calls until messages come, one fails, or one ends while nobody waits.
func (p *Poll[T]) fly() {
	for {
		p.mu.Lock()
		most := p.max
		p.mu.Unlock()
		if p.landed(p.fetch(most)) {
			return
		}
	}
}

// landed hands the answer of a call over, and reports whether it was the last.
func (p *Poll[T]) landed(messages []T, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(messages) == 0 && err == nil && p.waiting {
		return false
	}
	p.flying = false
	if p.waiting {
		p.waiting = false
		kept := min(len(messages), p.max)
		p.result <- polled[T]{messages[:kept], err}
		messages = messages[kept:]
	}
	if len(messages) > 0 {
		p.giveBack(messages)
	}
	return true
}

// End waits for the call that is on its way, which the caller has cut off.
func (p *Poll[T]) End() { p.running.Wait() }
