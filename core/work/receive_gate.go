package work

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/internal/wait"
)

// slotGate divides free slots among the priorities that wait for one, by weight: the priority that has had the fewest slots for
// its weight goes first. Guarded by Worker.mu.
type slotGate struct {
	clock   float64                // the value of had, before the grant, of the priority that got the last grant
	had     [core.Bulk + 1]float64 // slots had, divided by weight
	waiting [core.Bulk + 1]int     // slots asked for; 0: does not wait
	peeking [core.Bulk + 1]bool    // it only waits until one is free
	busy    [core.Bulk + 1]bool    // its last receive came back full: it will ask for more slots
	granted [core.Bulk + 1]chan int
	turn    [core.Bulk + 1]chan struct{} // taken by sending: only one receiver of a priority waits at a time; each receives other types
	queues  int                          // receivers of each priority
	patient *time.Timer                  // while it runs, priorities ahead of their share leave free slots to busy ones that are behind
}

// patience is how long a free slot is kept for a busy priority that is starting its last messages.
const patience = 3 * time.Millisecond

// How slots are gathered before messages are received: if at least gatherFrom are in use and one was freed within
// gatherWithin, the receiver waits up to gatherTurns turns.
const (
	gatherFrom   = 100
	gatherWithin = 50 * time.Millisecond
	gatherTurn   = time.Millisecond
	gatherTurns  = 4
)

func (g *slotGate) init(queues int) {
	g.queues = queues
	for _, p := range core.Priorities {
		g.granted[p], g.turn[p] = make(chan int, 1), make(chan struct{}, 1)
	}
}

// bound returns how many messages p may receive: its share by weight of the free slots among the priorities that wait or
// run. It takes no slot, because a receive may wait for ever. If none is free but slots are freed all the time, it is one,
// so that p has a message when its turn comes; otherwise bound waits.
func (w *Worker) bound(ctx context.Context, p core.Priority) int {
	w.gatherSlots(ctx)
	for {
		w.mu.Lock()
		open, reserved := w.freeLocked()
		if p == core.Critical {
			open += reserved
		}
		if open > 0 || time.Since(w.freedAt) < holdFor/2 {
			part, all := w.opts.Weights.Of(p), 0
			for _, other := range core.Priorities {
				if other == p || w.running[other]+w.gate.waiting[other] > 0 {
					all += w.opts.Weights.Of(other)
				}
			}
			w.mu.Unlock()
			return max(open*part/all/w.gate.queues, 1)
		}
		w.mu.Unlock()
		if w.waitForSlot(ctx, p) == 0 {
			return 0
		}
	}
}

// gatherSlots waits a moment for more slots if many are in use and slots are freed all the time: starting a few jobs at a
// time is the store's largest cost.
func (w *Worker) gatherSlots(ctx context.Context) {
	for range gatherTurns {
		w.mu.Lock()
		open, reserved := w.freeLocked()
		used := w.opts.Slots - open - reserved
		waits := used >= gatherFrom && used > w.opts.Slots/2 && time.Since(w.freedAt) < gatherWithin
		w.mu.Unlock()
		if !waits || ctx.Err() != nil {
			return
		}
		wait.Sleep(ctx, gatherTurn)
	}
}

// waitForSlot waits until a slot is free for p.
func (w *Worker) waitForSlot(ctx context.Context, p core.Priority) int {
	if !w.beginTurn(ctx, p, nil) {
		return 0
	}
	defer w.endTurn(p)
	w.mu.Lock()
	w.gate.peeking[p] = true
	w.mu.Unlock()
	n := w.takeInTurn(ctx, p, 1, nil)
	w.mu.Lock()
	w.gate.peeking[p] = false
	w.mu.Unlock()
	return n
}

// take waits until p gets slots, at most n, and takes them. It returns 0 when ctx or the time until deadline
// (zero: none) is over.
func (w *Worker) take(ctx context.Context, p core.Priority, n int, deadline time.Time) int {
	var late <-chan time.Time
	if !deadline.IsZero() {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		late = timer.C
	}
	if !w.beginTurn(ctx, p, late) {
		return 0
	}
	defer w.endTurn(p)
	return w.takeInTurn(ctx, p, n, late)
}

// beginTurn waits until no other receiver of p waits for slots. It reports false when ctx ends or late comes first.
func (w *Worker) beginTurn(ctx context.Context, p core.Priority, late <-chan time.Time) bool {
	if w.gate.queues == 1 {
		return true
	}
	select {
	case w.gate.turn[p] <- struct{}{}:
		return true
	case <-late:
	case <-ctx.Done():
	}
	return false
}

func (w *Worker) endTurn(p core.Priority) {
	if w.gate.queues > 1 {
		<-w.gate.turn[p]
	}
}

func (w *Worker) takeInTurn(ctx context.Context, p core.Priority, n int, late <-chan time.Time) int {
	w.mu.Lock()
	w.gate.waiting[p] = n
	// A priority that was idle does not save up credit, except for one round of slots.
	turn := float64(w.opts.Slots) / float64(w.opts.Weights.Of(p))
	w.gate.had[p] = max(w.gate.had[p], w.gate.clock-turn)
	w.offerLocked()
	w.mu.Unlock()
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
	case n := <-w.gate.granted[p]: // granted at the same time
		if !w.gate.peeking[p] {
			w.promised[p] -= n
			w.slotFreed()
		}
	default:
	}
	return 0
}

// received notes whether p's queue may hold more messages.
func (w *Worker) received(p core.Priority, full bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gate.busy[p] = full
}

// give returns taken slots that are not needed any more.
func (w *Worker) give(p core.Priority, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.promised[p] -= n
	w.slotFreed()
}

// offerLocked grants free slots to those that wait. Worker.mu is held.
func (w *Worker) offerLocked() {
	for {
		open, reserved := w.freeLocked()
		next := core.Priority(0)
		for _, p := range core.Priorities {
			free := open
			if p == core.Critical {
				free += reserved
			}
			if w.gate.waiting[p] > 0 && free > 0 && (next == 0 || w.gate.had[p] < w.gate.had[next]) {
				next = p
			}
		}
		if next == 0 || w.yieldTurnLocked(next) {
			return
		}
		w.grantLocked(next, open, reserved)
	}
}

// yieldTurnLocked reports whether p yields its turn to a busy priority that has had less and will soon ask for slots.
// Worker.mu is held.
func (w *Worker) yieldTurnLocked(p core.Priority) bool {
	g := &w.gate
	for _, other := range core.Priorities {
		if g.busy[other] && g.waiting[other] == 0 && g.had[other] < g.had[p] && !g.peeking[p] {
			if g.patient == nil {
				g.patient = time.AfterFunc(patience, w.giveUpWaiting)
			}
			return true
		}
	}
	return false
}

// giveUpWaiting stops waiting for busy priorities that did not ask, and offers the slots to those that did.
func (w *Worker) giveUpWaiting() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range core.Priorities {
		w.gate.busy[p] = w.gate.busy[p] && w.gate.waiting[p] > 0
	}
	w.gate.patient = nil
	w.offerLocked()
}

// grantLocked grants p its share of the free slots. Slots reserved for p are not charged.
func (w *Worker) grantLocked(p core.Priority, open, reserved int) {
	if w.gate.peeking[p] {
		w.gate.waiting[p] = 0
		w.gate.granted[p] <- 1
		return
	}
	part, all := w.opts.Weights.Of(p), 0
	for _, other := range core.Priorities { // p waits: all is not 0
		if w.gate.waiting[other] > 0 || w.gate.busy[other] {
			all += w.opts.Weights.Of(other)
		}
	}
	n := open * part / all
	if p == core.Critical {
		n += reserved
	}
	n = min(max(n, 1), w.gate.waiting[p])
	charged := n
	if p == core.Critical {
		charged = max(n-reserved, 0)
	}
	w.gate.clock = max(w.gate.clock, w.gate.had[p])
	w.gate.had[p] += float64(charged) / float64(part)
	w.gate.waiting[p] = 0
	w.promised[p] += n
	w.gate.granted[p] <- n
}
