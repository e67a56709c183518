package core

import (
	"context"
	"time"
)

// gate gives free slots to the priorities that wait for one, by weight: whoever has had least for its weight
// goes first. Guarded by Worker.mu.
type gate struct {
	clock   float64           // had of whom the last grant went to, before it
	had     [Bulk + 1]float64 // slots had, divided by weight
	waiting [Bulk + 1]int     // slots asked for; 0: does not wait
	peeking [Bulk + 1]bool    // it only wants to know that one is free
	granted [Bulk + 1]chan int
}

func (g *gate) init() {
	for _, p := range Priorities {
		g.granted[p] = make(chan int, 1)
	}
}

// bound waits until p may have a slot and returns how many it may have: its weight's part of what is free among
// those that wait or run. It takes none of them: a receive may wait for ever, and slots must not.
func (w *Worker) bound(ctx context.Context, p Priority) int {
	for {
		w.mu.Lock()
		open, reserved := w.freeLocked()
		if p == Critical {
			open += reserved
		}
		if open > 0 {
			part, all := w.opts.Weights.of(p), 0
			for _, other := range Priorities {
				if other == p || w.running[other]+w.gate.waiting[other] > 0 {
					all += w.opts.Weights.of(other)
				}
			}
			w.mu.Unlock()
			return max(open*part/all, 1)
		}
		w.mu.Unlock()
		if w.await1(ctx, p) == 0 {
			return 0
		}
	}
}

// await1 waits until a slot is free for p.
func (w *Worker) await1(ctx context.Context, p Priority) int {
	w.mu.Lock()
	w.gate.peeking[p] = true
	w.mu.Unlock()
	n := w.take(ctx, p, 1, time.Time{})
	w.mu.Lock()
	w.gate.peeking[p] = false
	w.mu.Unlock()
	return n
}

// take waits until p gets slots, at most n, and takes them. It returns 0 when ctx or the time until deadline
// (zero: none) is over.
func (w *Worker) take(ctx context.Context, p Priority, n int, deadline time.Time) int {
	w.mu.Lock()
	w.gate.waiting[p] = n
	// What it did not ask for while it was away it is not owed, but for one turn of all slots.
	turn := float64(w.opts.Slots) / float64(w.opts.Weights.of(p))
	w.gate.had[p] = max(w.gate.had[p], w.gate.clock-turn)
	w.offerLocked()
	w.mu.Unlock()
	var late <-chan time.Time
	if !deadline.IsZero() {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case n := <-w.gate.granted[p]:
		return n
	case <-late:
	case <-ctx.Done():
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gate.waiting[p] = 0
	select {
	case n := <-w.gate.granted[p]: // granted meanwhile
		if !w.gate.peeking[p] {
			w.promised[p] -= n
			w.slotFreed()
		}
	default:
	}
	return 0
}

// give returns slots that were taken and are not, or no longer, needed for what they were taken for.
func (w *Worker) give(p Priority, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.promised[p] -= n
	w.slotFreed()
}

// offerLocked grants free slots to those that wait. Worker.mu is held.
func (w *Worker) offerLocked() {
	for {
		open, reserved := w.freeLocked()
		next := Priority(0)
		for _, p := range Priorities {
			free := open
			if p == Critical {
				free += reserved
			}
			if w.gate.waiting[p] > 0 && free > 0 && (next == 0 || w.gate.had[p] < w.gate.had[next]) {
				next = p
			}
		}
		if next == 0 {
			return
		}
		w.grantLocked(next, open, reserved)
	}
}

// grantLocked grants p its part of the free slots. Slots that only it may have are not charged.
func (w *Worker) grantLocked(p Priority, open, reserved int) {
	if w.gate.peeking[p] {
		w.gate.waiting[p] = 0
		w.gate.granted[p] <- 1
		return
	}
	part, all := w.opts.Weights.of(p), 0
	for _, other := range Priorities {
		if w.gate.waiting[other] > 0 {
			all += w.opts.Weights.of(other)
		}
	}
	n := open * part / all
	if p == Critical {
		n += reserved
	}
	n = min(max(n, 1), w.gate.waiting[p])
	charged := n
	if p == Critical {
		charged = max(n-reserved, 0)
	}
	w.gate.clock = max(w.gate.clock, w.gate.had[p])
	w.gate.had[p] += float64(charged) / float64(part)
	w.gate.waiting[p] = 0
	w.promised[p] += n
	w.gate.granted[p] <- n
}
