package work

import (
	"context"
	"errors"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
	"github.com/belfry-dev/belfry/core/internal/wait"
)

const (
	finishers        = 2                      // batches of ends written at once
	maxFinish        = 2_000                  // ends of one batch
	manyEnds         = 256                    // if this many jobs end within manyWithin, their ends are gathered
	manyWithin       = 100 * time.Millisecond // for a moment before they are written
	gatherFor        = 2 * time.Millisecond   // the moment, at most
	gatherBehind     = 25 * time.Millisecond  // the same while due jobs wait to be claimed: starting them comes first
	maxEndingPerSlot = 4                      // ends per slot that may wait before slots wait for them
	maxFinishTries   = 10                     // of one end that the store refuses because of its content
)

// finishLoop records ended attempts in batches until done ends. A batch is written as soon as a finisher is free. If many
// jobs end at once, the next batch is gathered for a moment, because one large write costs far less than many small ones.
func (w *Worker) finishLoop(done context.Context) {
	batch := make([]*attempt, 0, 64)
	for {
		select {
		case <-done.Done():
			return
		case <-w.endedC:
		}
		w.gather(done)
		batch = w.takeEnded(batch)
		w.record(batch)
		clear(batch)
	}
}

// gather waits while many jobs end: until there is a full batch, nothing runs, or a moment has passed.
func (w *Worker) gather(done context.Context) {
	w.mu.Lock()
	idle := w.running == [core.Bulk + 1]int{}
	wait := len(w.ended) < maxFinish && !idle && w.rate.many(time.Now())
	moment := gatherFor
	if w.helping {
		moment = gatherBehind
	}
	select {
	case <-w.fullC: // of an earlier batch
	default:
	}
	w.mu.Unlock()
	if !wait {
		return
	}
	timer := time.NewTimer(moment)
	defer timer.Stop()
	select {
	case <-done.Done():
	case <-w.fullC:
	case <-timer.C:
	}
}

// endRate measures whether many jobs end. Guarded by Worker.mu.
type endRate struct {
	since  time.Time // when the count began
	n      int
	before bool // the count before reached manyEnds
}

func (r *endRate) add(n int, now time.Time) {
	if age := now.Sub(r.since); age >= manyWithin {
		r.before = r.n >= manyEnds && age < 2*manyWithin
		r.since, r.n = now, 0
	}
	r.n += n
}

func (r *endRate) many(now time.Time) bool {
	age := now.Sub(r.since)
	return age < 2*manyWithin && r.n >= manyEnds || age < manyWithin && r.before
}

// takeEnded moves up to a batch of ended attempts into batch.
func (w *Worker) takeEnded(batch []*attempt) []*attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.ended), maxFinish)
	w.rate.add(n, time.Now())
	batch = append(batch[:0], w.ended[:n]...)
	rest := copy(w.ended, w.ended[n:])
	clear(w.ended[rest:])
	if w.ended = w.ended[:rest]; rest > 0 {
		signal(w.endedC)
	}
	return batch
}

// record writes the ends of a batch and settles its attempts. While the store cannot be reached it tries again
// with growing pauses; nothing else could be recorded meanwhile. A batch refused for another reason is divided
// until the end at fault is alone, so that its neighbours are not held up.
func (w *Worker) record(batch []*attempt) {
	if len(batch) == 0 {
		return
	}
	ends := make([]core.End, len(batch))
	for i, a := range batch {
		ends[i] = a.end
	}
	for try := 1; ; try++ {
		ctx, cancel := w.call()
		answers, err := w.store.Finish(ctx, ends)
		cancel()
		if err == nil && len(answers) != len(ends) {
			err = errors.New("finish: the store answered another number of ends")
		}
		if err == nil {
			w.settleEnds(batch, answers)
			return
		}
		if w.calls.Err() != nil {
			return // out of time at stop: the leases run out
		}
		if core.CertainlyUnwritten(err) {
			w.refused(batch, err)
			return
		}
		wait.Sleep(w.calls, wait.Pause(try, 50*time.Millisecond, 2*time.Second, w.opts.Chance()))
	}
}

// refused divides a batch that the store refused, or puts its only end aside.
func (w *Worker) refused(batch []*attempt, err error) {
	if half := len(batch) / 2; half > 0 {
		w.record(batch[:half])
		w.record(batch[half:])
		return
	}
	a := batch[0]
	if a.tries == 0 {
		w.eventOf(EndRefused, a, err)
		w.endApart(a, err)
	}
	w.mu.Lock()
	dropped := a.tries >= maxFinishTries
	if dropped {
		w.dropLocked(a)
	} else {
		w.againLocked(a)
	}
	w.mu.Unlock()
	if dropped {
		w.eventOf(EndDropped, a, err)
		w.endApart(a, err)
	}
	signal(w.againC)
}

// endApart sets the row of an end apart that the store refuses: it is named, and not reaped and run again in vain before long.
// If that fails the row is met again sooner.
func (w *Worker) endApart(a *attempt, err error) {
	if !errors.Is(err, core.ErrRow) {
		return
	}
	ctx, cancel := w.call()
	defer cancel()
	_ = w.store.SetApart(ctx, []core.RowFault{{Kind: core.ApartJob, ID: a.ref.ID, About: a.typ, Act: core.ActFinish, Error: apart.Text(err)}})
}

// againLocked puts an end aside, to be sent separately after a pause. Worker.mu is held.
func (w *Worker) againLocked(a *attempt) {
	a.tries++
	a.tryAt = time.Now().Add(wait.Pause(a.tries, 100*time.Millisecond, 5*time.Second, w.opts.Chance()))
	w.again = append(w.again, a)
}

// settleEnds applies the store's answers to a batch of ends: it acknowledges messages, counts, and drops the attempts.
func (w *Worker) settleEnds(batch []*attempt, answers []core.EndAnswer) {
	w.countEnds(batch, answers)
	for i, a := range batch {
		if answers[i].Stale && a.end.Outcome != core.EndHandBack && a.end.Outcome != core.EndAccepted {
			// (If the target's own end came before EndAccepted, that is no fault.)
			w.eventOf(EndStale, a, core.ErrStale)
		}
		if a.delivery != nil && !answers[i].Busy {
			w.acknowledge(a.delivery)
		}
	}
	busy := false
	w.mu.Lock()
	for i, a := range batch {
		if answers[i].Busy {
			w.againLocked(a)
			busy = true
		} else {
			w.dropLocked(a)
		}
	}
	w.mu.Unlock()
	if busy {
		signal(w.againC)
	}
}

// againLoop sends ends again whose rows were locked or which the store refused, separately from other ends.
func (w *Worker) againLoop(done context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-done.Done():
			return
		case <-w.againC:
		case <-timer.C:
		}
		batch, next := w.takeAgain(time.Now())
		w.record(batch)
		if len(batch) > 0 {
			_, next = w.takeAgain(time.Time{})
		}
		timer.Reset(next)
	}
}

// takeAgain returns the ends whose pause is over, and the time until the next one's is.
func (w *Worker) takeAgain(now time.Time) (due []*attempt, next time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	next = time.Hour
	waiting := w.again[:0]
	for _, a := range w.again {
		if len(due) < maxFinish && !a.tryAt.After(now) {
			due = append(due, a)
			continue
		}
		waiting = append(waiting, a)
		next = min(next, max(time.Until(a.tryAt), 0))
	}
	clear(w.again[len(waiting):])
	w.again = waiting
	return due, next
}
