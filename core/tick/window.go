package tick

import (
	"cmp"
	"time"
)

// Bounds of the window, the number of jobs of one priority that may be queued at once.
const (
	WindowFloor   = 100    // minimum, even for an idle consumer with unknown concurrency
	WindowCeiling = 10_000 // jobs beyond this are backlog and stay in the table
	windowSpan    = 10 * time.Second
)

// Window decides how many jobs of one priority may be queued at once: max(100, 2 × declared concurrency, starts in the last
// 10 s). It doubles while consumers empty it, up to a ceiling. Further jobs stay in the table, where priority, fairness and
// cancel still apply, and where no message can expire or be duplicated. It learns from two numbers per pass: the jobs queued
// before it, and those it added. The starts follow from them. A Window is pure: it reads no clock.
type Window struct {
	floor, ceiling int

	flows  []flow // starts seen in the last span
	queued int    // rows queued after the last pass
	known  bool   // queued was observed
	filled bool   // the last pass filled the window and left a backlog
	grown  int    // size reached by doubling; 0: not doubled yet
	since  time.Time
}

// flow is the number of starts between two passes.
type flow struct {
	at     time.Time
	length time.Duration // since the previous pass
	n      int
}

// NewWindow makes the window of a priority whose consumers run up to concurrency jobs at once; 0 means unknown. Ceiling zero
// means WindowCeiling.
func NewWindow(concurrency, ceiling int) Window {
	ceiling = cmp.Or(ceiling, WindowCeiling)
	return Window{floor: min(ceiling, max(WindowFloor, 2*concurrency)), ceiling: ceiling}
}

// Size returns the current window.
func (w *Window) Size() int {
	return min(w.ceiling, max(w.floor, w.starts(), w.grown))
}

// Credit returns how many more jobs may be queued when elapsed has passed since the last pass. It assumes that jobs kept
// starting at the last rate, but no more than half of the queued ones. So consumers that stop find at most one and a half
// windows. Before the first pass it is 0, because the number of queued jobs is unknown.
func (w *Window) Credit(elapsed time.Duration) int {
	if !w.known {
		return 0
	}
	started := min(int(w.rate()*elapsed.Seconds()), w.queued/2)
	return max(0, w.Size()-(w.queued-started))
}

// Observe records one pass: its time by the store's clock, the jobs queued before it, the jobs it added, and whether a
// backlog was left. A window that was full and comes back nearly empty doubles. One that was not emptied for a span halves.
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

// HalfIn returns when half of the queued jobs will have started at the recent rate, or 0 while none starts.
func (w *Window) HalfIn() time.Duration {
	if rate := w.rate(); rate > 0 {
		return time.Duration(float64(w.queued) / 2 / rate * float64(time.Second))
	}
	return 0
}

// Added records n jobs that submitters queued since the last pass; their starts count too.
func (w *Window) Added(n int) { w.queued += n }

// Forget drops the knowledge of the queue, because another scheduler fills it now.
func (w *Window) Forget() { w.known, w.filled, w.flows = false, false, nil }

// starts returns the starts in the last span.
func (w *Window) starts() int {
	n := 0
	for _, f := range w.flows {
		n += f.n
	}
	return n
}

// rate returns the recent starts per second: over the last second, or the last pass if that is longer ago.
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
