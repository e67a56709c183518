package work

import (
	"context"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/internal/wait"
)

const (
	maxBeats   = 2_000 // refs of one heartbeat call
	beatsDown  = 2     // failed heartbeats in a row, after which the worker claims nothing
	marginPart = 10    // handlers are stopped 1/marginPart of a lease before its end
)

// beats is the state of the heartbeat loop. The loop owns the fields that mu does not guard.
type beats struct {
	pokeC chan struct{}
	mu    sync.Mutex
	poked []int64
	fails int  // heartbeats that failed in a row
	lost  bool // leases were lost: register again before the next claim
	names int  // ids used so far
}

func (b *beats) poke(id int64) {
	b.mu.Lock()
	b.poked = append(b.poked, id)
	b.mu.Unlock()
	signal(b.pokeC)
}

// down reports whether the worker must not claim: its heartbeats fail, or it lost leases and needs a new id.
func (b *beats) down() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fails >= beatsDown || b.lost
}

// leaseMargin is how long before its lease's end a handler is stopped.
func (w *Worker) leaseMargin() time.Duration { return w.opts.Lease / marginPart }

// leaseLeft returns the rest, at now, of a lease that counts from the local moment from.
func (w *Worker) leaseLeft(from, now time.Time) time.Duration {
	return w.leaseAfter(now.Sub(from), now.Round(0).Sub(from.Round(0)))
}

// leaseAfter returns the rest of a lease after a time that two clocks measured. The monotonic clock stops while a machine
// sleeps, and the wall clock can be set: the longer time counts.
func (w *Worker) leaseAfter(monotonic, wall time.Duration) time.Duration {
	return w.opts.Lease - max(monotonic, wall)
}

// beatLoop extends the leases of all attempts until done ends: those that run and those whose end is not
// recorded yet, so that no buffer outlives its leases.
func (w *Worker) beatLoop(done context.Context) {
	timer := time.NewTimer(w.opts.Heartbeat)
	defer timer.Stop()
	full := time.Now().Add(w.opts.Heartbeat)
	var busy []*attempt // locked by others at the last heartbeat
	for {
		select {
		case <-done.Done():
			return
		case <-timer.C:
		case <-w.beats.pokeC:
		}
		again, now := busy, time.Now()
		if !now.Before(full) || w.beats.needsName() && !w.beats.failing() {
			ok := false
			busy, ok = w.beatAll()
			full = now.Add(w.beatWait(ok))
		} else {
			locked, _ := w.beat(append(w.takePoked(), again...))
			busy = locked
		}
		next := time.Until(full)
		if len(busy) > 0 {
			next = min(next, wait.Pause(1, w.opts.Heartbeat/16, w.opts.Heartbeat/8, w.opts.Chance()))
		}
		timer.Reset(max(next, 0))
	}
}

// beatWait is the wait before the next heartbeat of all attempts: shorter while heartbeats fail.
func (w *Worker) beatWait(ok bool) time.Duration {
	if ok {
		return w.opts.Heartbeat
	}
	w.beats.mu.Lock()
	defer w.beats.mu.Unlock()
	return wait.Pause(w.beats.fails, w.opts.Heartbeat/16, w.opts.Heartbeat/2, w.opts.Chance())
}

// beatAll extends all leases. If there are none, it calls the store only while the store was down.
func (w *Worker) beatAll() (busy []*attempt, ok bool) {
	w.mu.Lock()
	all := append([]*attempt(nil), w.held...)
	w.mu.Unlock()
	busy, err := w.beat(all)
	if err == nil && (w.beats.failing() && len(all) == 0 || w.beats.needsName()) {
		err = w.register()
	}
	w.beats.note(w, err)
	return busy, err == nil
}

// failing reports whether the last heartbeat failed.
func (b *beats) failing() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fails > 0
}

func (b *beats) needsName() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lost
}

// note counts failures in a row and reports when they become an outage and when the outage ends.
func (b *beats) note(w *Worker, err error) {
	b.mu.Lock()
	before := b.fails
	if err != nil {
		b.fails++
	} else {
		b.fails = 0
	}
	b.mu.Unlock()
	switch {
	case err != nil && before+1 == beatsDown:
		w.event(Event{Kind: StoreLost, Err: err})
	case err == nil && before >= beatsDown:
		w.event(Event{Kind: StoreBack})
	}
	if err == nil && before > 0 {
		w.Wake()
	}
}

// beat extends the leases of these attempts and returns those whose rows were locked. After an error the leases of later
// calls are not extended.
func (w *Worker) beat(attempts []*attempt) (busy []*attempt, err error) {
	for len(attempts) > 0 {
		n := min(len(attempts), maxBeats)
		refs := make([]core.Ref, n)
		for i, a := range attempts[:n] {
			refs[i] = a.ref
		}
		sent := time.Now()
		ctx, cancel := context.WithTimeout(w.calls, min(w.opts.StoreTimeout, w.opts.Lease/4))
		answers, err := w.store.Heartbeat(ctx, refs, w.opts.Lease)
		cancel()
		if err != nil {
			return busy, err
		}
		busy = append(busy, w.beaten(attempts[:n], answers, sent)...)
		attempts = attempts[n:]
	}
	return busy, nil
}

// beaten applies the answers of one heartbeat that was sent at a local moment.
func (w *Worker) beaten(attempts []*attempt, answers []core.Beat, sent time.Time) (busy []*attempt) {
	var lost, cancelled, extended []*attempt
	w.mu.Lock()
	for i, a := range attempts {
		if a.phase == phaseGone || i >= len(answers) {
			continue
		}
		switch beat := answers[i]; {
		case beat.Busy:
			busy = append(busy, a)
		case beat.Stale:
			if a.phase == phaseRunning && a.lost.IsZero() {
				a.lost, a.stale = time.Now(), true
				w.counts.LostLeases++
				lost = append(lost, a)
			}
		default:
			a.lease = sent
			if a.delivery != nil {
				extended = append(extended, a)
			}
			if beat.CancelWanted && a.phase == phaseRunning {
				cancelled = append(cancelled, a)
			}
		}
	}
	w.mu.Unlock()
	for _, a := range lost {
		a.ctx.end(core.ErrLeaseLost)
		w.eventOf(LeaseLost, a, core.ErrStale)
	}
	for _, a := range cancelled {
		a.ctx.end(core.ErrCancelWanted)
	}
	w.extendAll(extended)
	return busy
}

// takePoked returns the attempts of the jobs given to Poke.
func (w *Worker) takePoked() []*attempt {
	w.beats.mu.Lock()
	ids := w.beats.poked
	w.beats.poked = nil
	w.beats.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	asked := make(map[int64]bool, len(ids))
	for _, id := range ids {
		asked[id] = true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var poked []*attempt
	for _, a := range w.held {
		if asked[a.ref.ID] {
			poked = append(poked, a)
		}
	}
	return poked
}
