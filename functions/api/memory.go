package api

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	smallClaim  = 1 << 20 // bytes: what is less may take the last of a budget
	smallOnly   = 16      // one in so many bytes of a budget is for small claims only
	callerShare = 2       // one caller has one in so many bytes of a budget
)

// errCrowded says that a budget is used up.
var errCrowded = errors.New("too many bytes of requests are held")

// budget bounds the bytes that requests in flight hold of something, all together and those of each caller.
type budget struct {
	size, share int64
	patience    time.Duration // of one who waits for what others hold

	mu      sync.Mutex
	used    int64
	callers map[string]int64
	waiting []*claim // in the order they came
}

// claim is a hold that waits to grow.
type claim struct {
	caller string
	n      int64
	done   chan struct{} // closed once it is granted
}

func newBudget(size int64, patience time.Duration) *budget {
	return &budget{size: size, share: size / callerShare, patience: patience, callers: map[string]int64{}}
}

// inUse is how much of it is held.
func (b *budget) inUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// fits reports whether a caller may have n more bytes. The mutex is held.
func (b *budget) fits(caller string, n int64) bool {
	room := b.size
	if n > smallClaim {
		room -= b.size / smallOnly
	}
	return b.used+n <= room && b.callers[caller]+n <= b.share
}

// add changes what a caller holds. The mutex is held.
func (b *budget) add(caller string, n int64) {
	b.used += n
	if b.callers[caller] += n; b.callers[caller] == 0 {
		delete(b.callers, caller)
	}
}

// take gives a caller n bytes, or waits for them. errCrowded: there is no room. Who comes later goes before one that waits
// for more than there is.
func (b *budget) take(ctx context.Context, caller string, n int64) error {
	b.mu.Lock()
	if b.fits(caller, n) {
		b.add(caller, n)
		b.mu.Unlock()
		return nil
	}
	if n > b.share || b.patience <= 0 {
		b.mu.Unlock()
		return errCrowded
	}
	c := &claim{caller, n, make(chan struct{})}
	b.waiting = append(b.waiting, c)
	b.mu.Unlock()
	timer := time.NewTimer(b.patience)
	defer timer.Stop()
	select {
	case <-c.done:
		return nil
	case <-timer.C:
		return b.withdraw(c, errCrowded)
	case <-ctx.Done():
		return b.withdraw(c, context.Cause(ctx))
	}
}

// withdraw ends a claim with a reason, unless it was granted just now.
func (b *budget) withdraw(c *claim, reason error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, other := range b.waiting {
		if other == c {
			b.waiting = append(b.waiting[:i], b.waiting[i+1:]...)
			return reason
		}
	}
	return nil
}

// give takes n bytes back, and grants what waits and fits now.
func (b *budget) give(caller string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(caller, -n)
	rest := b.waiting[:0]
	for _, c := range b.waiting {
		if !b.fits(c.caller, c.n) {
			rest = append(rest, c)
			continue
		}
		b.add(c.caller, c.n)
		close(c.done)
	}
	clear(b.waiting[len(rest):])
	b.waiting = rest
}

// hold is what one request holds of a budget. The zero hold is of none, and unlimited.
type hold struct {
	of     *budget
	caller string
	n      int64
}

// set makes the hold n bytes. Where that is more than before it may wait; errCrowded: in vain, and it is as it was.
func (h *hold) set(ctx context.Context, n int64) error {
	switch {
	case h.of == nil || n == h.n:
		return nil
	case n < h.n:
		h.of.give(h.caller, h.n-n)
	default:
		if err := h.of.take(ctx, h.caller, n-h.n); err != nil {
			return err
		}
	}
	h.n = n
	return nil
}

// force makes the hold n bytes of what is there already, whatever the budget says.
func (h *hold) force(n int64) {
	if h.of == nil {
		return
	}
	if n < h.n {
		h.of.give(h.caller, h.n-n)
	} else if n > h.n {
		h.of.mu.Lock()
		h.of.add(h.caller, n-h.n)
		h.of.mu.Unlock()
	}
	h.n = n
}

func (h *hold) release() { h.force(0) }
