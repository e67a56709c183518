package gather

import (
	"context"
	"sync"
)

// Poll receives messages from a queue in calls that may outlive their caller. Cutting a call off can lose messages: they
// stay hidden until their visibility timeout passes. So the next caller waits for the same call. Messages that arrive while
// no caller waits, or beyond the caller's maximum, are given back at once.
type Poll[T any] struct {
	fetch    func(max int) ([]T, error)
	giveBack func([]T)
	running  sync.WaitGroup

	mu      sync.Mutex
	waiting bool // a caller waits
	max     int  // the caller's maximum
	calling bool // a call is running
	result  chan polled[T]
}

type polled[T any] struct {
	messages []T
	err      error
}

// NewPoll makes a Poll. fetch makes one call, which waits for messages as long as the queue allows and may return none.
// giveBack must not block.
func NewPoll[T any](fetch func(max int) ([]T, error), giveBack func([]T)) *Poll[T] {
	return &Poll[T]{fetch: fetch, giveBack: giveBack, result: make(chan polled[T], 1)}
}

// Wait returns up to max messages from the first call that returns any, or that call's error. Only one caller may wait at a
// time.
func (p *Poll[T]) Wait(ctx context.Context, max int) ([]T, error) {
	p.mu.Lock()
	p.waiting, p.max = true, max
	if !p.calling {
		p.calling = true
		p.running.Go(p.callUntilDone)
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
	r := <-p.result // it arrived at the same time
	return r.messages, r.err
}

// callUntilDone makes calls until messages arrive, a call fails, or a call ends and no caller waits.
func (p *Poll[T]) callUntilDone() {
	for {
		p.mu.Lock()
		max := p.max
		p.mu.Unlock()
		if p.passOn(p.fetch(max)) {
			return
		}
	}
}

// passOn passes a call's result on, and reports whether that was the last call.
func (p *Poll[T]) passOn(messages []T, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(messages) == 0 && err == nil && p.waiting {
		return false
	}
	p.calling = false
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

// End waits for the running call to return. The caller must have cancelled it before.
func (p *Poll[T]) End() { p.running.Wait() }
