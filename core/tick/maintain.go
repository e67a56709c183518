package tick

import (
	"context"
	"fmt"
	"time"
)

// maintain starts the store's upkeep in the background.
func (t *Ticker) maintain(_ context.Context, p *pass) error {
	t.maintaining.Store(true)
	t.background.Go(func() {
		defer t.maintaining.Store(false)
		done, err := t.store.Maintain(p.beside, t.opts.Maintain)
		switch {
		case err == nil:
			t.event(Event{Kind: Maintained, Upkeep: done})
		case p.beside.Err() == nil:
			t.event(Event{Kind: MaintainFailed, Err: fmt.Errorf("maintain: %w", err)})
		}
	})
	return nil
}

// MaintainNext returns the time before which no upkeep is due. Pass it to the next Ticker as MaintainNext. Call it after Run
// or Pass.
func (t *Ticker) MaintainNext() time.Time { return t.next[upkeep] }
