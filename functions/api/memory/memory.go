// Package memory bounds what requests in flight take of memory and of disk.
//
//	memory.go    Budget, and what one request holds of it
//	spool.go     files of bodies and answers; arriving.go a body on its way
package memory

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	smallClaim  = 1 << 20 // bytes: what is less may take the last of a budget
	smallOnly   = 16      // one in so many bytes of a budget is for small claims only
	CallerShare = 2       // one caller has one in so many bytes of a budget
)

// ErrCrowded says that a budget is used up.
var ErrCrowded = errors.New("too many bytes of requests are held")

// Budget bounds the bytes that requests in flight hold of something, all together and those of each caller.
type Budget struct {
	size, Share int64
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

// NewBudget is a budget of so many bytes. Callers wait for what others hold as long as patience says; zero means not at all.
func NewBudget(size int64, patience time.Duration) *Budget {
	return &Budget{size: size, Share: size / CallerShare, patience: patience, callers: map[string]int64{}}
}

// InUse is how much of it is held.
func (b *Budget) InUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// fits reports whether a caller may have n more bytes. The mutex is held.
func (b *Budget) fits(caller string, n int64) bool {
	room := b.size
	if n > smallClaim {
		room -= b.size / smallOnly
	}
	return b.used+n <= room && b.callers[caller]+n <= b.Share
}

// add changes what a caller holds. The mutex is held.
func (b *Budget) add(caller string, n int64) {
	b.used += n
	if b.callers[caller] += n; b.callers[caller] == 0 {
		delete(b.callers, caller)
	}
}

// take gives a caller n bytes, or waits for them. ErrCrowded: there is no room. Who comes later goes before one that waits
// for more than there is.
func (b *Budget) take(ctx context.Context, caller string, n int64) error {
	b.mu.Lock()
	if b.fits(caller, n) {
		b.add(caller, n)
		b.mu.Unlock()
		return nil
	}
	if n > b.Share || b.patience <= 0 {
		b.mu.Unlock()
		return ErrCrowded
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
		return b.withdraw(c, ErrCrowded)
	case <-ctx.Done():
		return b.withdraw(c, context.Cause(ctx))
	}
}

// withdraw ends a claim with a reason, unless it was granted just now.
func (b *Budget) withdraw(c *claim, reason error) error {
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
func (b *Budget) give(caller string, n int64) {
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

// Hold is what one request holds of a budget. The zero hold is of none, and unlimited.
type Hold struct {
	Of     *Budget
	Caller string
	N      int64
}

// Set makes the hold n bytes. Where that is more than before it may wait; ErrCrowded: in vain, and it is as it was.
func (h *Hold) Set(ctx context.Context, n int64) error {
	switch {
	case h.Of == nil || n == h.N:
		return nil
	case n < h.N:
		h.Of.give(h.Caller, h.N-n)
	default:
		if err := h.Of.take(ctx, h.Caller, n-h.N); err != nil {
			return err
		}
	}
	h.N = n
	return nil
}

// Force makes the hold n bytes of what is there already, whatever the budget says.
func (h *Hold) Force(n int64) {
	if h.Of == nil {
		return
	}
	if n < h.N {
		h.Of.give(h.Caller, h.N-n)
	} else if n > h.N {
		h.Of.mu.Lock()
		h.Of.add(h.Caller, n-h.N)
		h.Of.mu.Unlock()
	}
	h.N = n
}

// Release gives all of it back.
func (h *Hold) Release() { h.Force(0) }
