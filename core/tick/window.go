package tick

import (
	"cmp"
	"time"
)

// Bounds of the window: jobs of one priority that may be queued at once.
const (
	WindowFloor   = 100    // even an idle, undeclared consumer is worth this many
	WindowCeiling = 10_000 // more in the queue than this is backlog, and backlog belongs in the table
	windowSpan    = 10 * time.Second
)

// Window decides how many jobs of one priority may be queued at once: max(100, 2 × declared concurrency,
// starts in the last 10 s), doubling while consumers empty it, up to a ceiling. What is beyond stays in the
// table, where priority, fairness and cancel still apply to it, and where no message expires and multiplies.
// It learns from two numbers per pass, what was queued before and what the pass added; starts are the rest.
// A Window is pure: it has no clock of its own.
type Window struct {
	floor, ceiling int

	flows  []flow // starts seen in the last span
	queued int    // rows queued after the last pass
	known  bool   // queued has been seen at all
	filled bool   // the last pass left the window full and a backlog beyond it
	grown  int    // what doubling has reached; 0 means it has not begun
	since  time.Time
}

// flow is a number of starts seen at one pass.
type flow struct {
	at     time.Time
	length time.Duration // since the pass before
	n      int
}

// NewWindow makes the window of a priority whose consumers run up to concurrency jobs at once, as far as that
// is known (0 means unknown). Ceiling zero means WindowCeiling.
func NewWindow(concurrency, ceiling int) Window {
	ceiling = cmp.Or(ceiling, WindowCeiling)
	return Window{floor: min(ceiling, max(WindowFloor, 2*concurrency)), ceiling: ceiling}
}

// Size is the window now.
func (w *Window) Size() int {
	return min(w.ceiling, max(w.floor, w.starts(), w.grown))
}

// Credit is how many more jobs may be queued, elapsed after the last pass. It counts on jobs being started
// since then at the rate seen, but on no more than half of the queued ones, so that consumers which stop find
// at most one and a half windows. Before the first pass there is none: what is queued is not known.
func (w *Window) Credit(elapsed time.Duration) int {
	if !w.known {
		return 0
	}
	started := min(int(w.rate()*elapsed.Seconds()), w.queued/2)
	return max(0, w.Size()-(w.queued-started))
}

// Observe takes in one pass: when it was by the store's clock, what was queued before it, what it added, and
// whether a backlog was left. A window that was full and comes back nearly empty doubles; one that has
// not emptied for a span halves.
func (w *Window) Observe(now time.Time, before, added int, backlog bool) {
	size := w.Size()
	seen := flow{at: now}
	if n := len(w.flows); n > 0 {
		seen.length, seen.n = max(0, now.Sub(w.flows[n-1].at)), max(0, w.queued-before)
	}
	w.flows = append(w.flows, seen)
	old := 0
	for old < len(w.flows)-1 && now.Sub(w.flows[old].at) >= windowSpan {
		old++
	}
	w.flows = append(w.flows[:0], w.flows[old:]...)
	switch {
	case w.filled && before < size/4:
		w.grown, w.since = min(w.ceiling, 2*size), now
	case now.Sub(w.since) >= windowSpan:
		w.grown, w.since = w.grown/2, now
	}
	w.queued, w.known = before+added, true
	w.filled = backlog && w.queued >= size*3/4
}

// HalfIn is when half of what is queued will have been started at the rate of late; 0 while nothing is.
func (w *Window) HalfIn() time.Duration {
	if rate := w.rate(); rate > 0 {
		return time.Duration(float64(w.queued) / 2 / rate * float64(time.Second))
	}
	return 0
}

// Added takes in n jobs queued by others since the last pass: they too will be started.
func (w *Window) Added(n int) { w.queued += n }

// Forget drops what is known of the queue, because another scheduler fills it now.
func (w *Window) Forget() { w.known, w.filled, w.flows = false, false, nil }

// starts counts the starts of the last span.
func (w *Window) starts() int {
	n := 0
	for _, f := range w.flows {
		n += f.n
	}
	return n
}

// rate is starts per second of late: over the last second, or the last pass if that is longer ago.
func (w *Window) rate() float64 {
	var n int
	var span time.Duration
	for i := len(w.flows) - 1; i >= 0 && span < time.Second; i-- {
		n, span = n+w.flows[i].n, span+w.flows[i].length
	}
	if span <= 0 {
		return 0
	}
	return float64(n) / span.Seconds()
}
