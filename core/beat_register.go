package core

import (
	"context"
	"fmt"
	"time"
)

// register announces the types of this worker; after lost leases under a new name, so that what still carries
// the old one is known to be given up.
func (w *Worker) register() error {
	name := *w.name.Load()
	anew := w.beats.needsName()
	if anew {
		w.beats.names++
		name = fmt.Sprintf("%s~%d", w.opts.ID, w.beats.names+1)
	}
	types, _ := w.current()
	if err := w.announceTypes(types); err != nil {
		return err
	}
	if anew {
		w.name.Store(&name)
		w.beats.mu.Lock()
		w.beats.lost = false
		w.beats.mu.Unlock()
		w.event(WorkEvent{Kind: Registered})
		w.Wake()
	}
	return nil
}

// announce registers at the start, however long the store takes to answer.
func (w *Worker) announce(ctx context.Context) {
	for try := 1; ctx.Err() == nil; try++ {
		err := w.register()
		if err == nil {
			if try > 1 {
				w.event(WorkEvent{Kind: StoreBack})
			}
			return
		}
		if try == 1 {
			w.event(WorkEvent{Kind: StoreLost, Err: err})
		}
		sleep(ctx, pause(try, 100*time.Millisecond, 5*time.Second, w.opts.Chance()))
	}
}
