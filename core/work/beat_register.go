package work

import (
	"context"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/internal/wait"
)

const (
	announceRetry    = time.Second // after an announcement that failed
	announceRetryMax = 5 * time.Second
)

// register announces this worker, which also shows whether the store answers. After lost leases it uses a new id, so that
// rows with the old one are known to be given up.
func (w *Worker) register() error {
	name := *w.name.Load()
	anew := w.beats.needsName()
	if anew {
		w.beats.names++
		name = fmt.Sprintf("%s~%d", w.opts.ID, w.beats.names+1)
	}
	if err := w.announceNow(true); err != nil {
		return err
	}
	if anew {
		w.name.Store(&name)
		w.beats.mu.Lock()
		w.beats.lost = false
		w.beats.mu.Unlock()
		w.event(Event{Kind: Registered})
		w.Wake()
	}
	return nil
}

// announceNow announces this worker and what it handles, or only if that was not done a moment ago.
func (w *Worker) announceNow(always bool) error {
	ctx, cancel := w.call()
	defer cancel()
	p := core.Presence{Queues: w.queues, SlotUse: core.SlotUse{Slots: w.opts.Slots}}
	p.Types, p.Delivers = w.announced()
	if counter, ok := w.opts.Deliver.(core.SlotCounter); ok {
		p.DeliverySlots, p.Deliveries = counter.DeliverySlots()
	}
	w.mu.Lock()
	for _, n := range w.running {
		p.Busy += n
	}
	w.mu.Unlock()
	return w.announcer.announce(ctx, p, always)
}

// announce announces at the start and waits for the store without a limit.
func (w *Worker) announce(ctx context.Context) {
	for try := 1; ctx.Err() == nil; try++ {
		err := w.announceNow(false)
		if err == nil {
			if try > 1 {
				w.event(Event{Kind: StoreBack})
			}
			return
		}
		if try == 1 {
			w.event(Event{Kind: StoreLost, Err: err})
		}
		wait.Sleep(ctx, wait.Pause(try, 100*time.Millisecond, 5*time.Second, w.opts.Chance()))
	}
}

// announceLoop repeats the announcement until ctx ends, because announcements expire, and makes the worker claim types that
// get a target. The heartbeats report an outage.
func (w *Worker) announceLoop(ctx context.Context) {
	timer := time.NewTimer(slotsLook)
	defer timer.Stop()
	var changed <-chan struct{} // the delivered types have changed
	if w.delivers() {
		changed = w.opts.Types.Changed()
	}
	for try := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			changed = w.opts.Types.Changed()
			w.Wake()
			if !w.restricted() {
				continue
			}
		case <-timer.C:
		case <-w.announceC:
		}
		if err := w.announceNow(false); err != nil {
			try++
			timer.Reset(wait.Pause(try, announceRetry, announceRetryMax, w.opts.Chance()))
			continue
		}
		try = 0
		timer.Reset(w.announcer.next(time.Now()))
	}
}

// withdraw records that this worker takes no more jobs.
func (w *Worker) withdraw() {
	ctx, cancel := context.WithTimeout(w.base, w.flushGrace())
	defer cancel()
	w.announcer.withdraw(ctx)
}
