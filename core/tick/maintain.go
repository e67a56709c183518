package tick

import (
	"context"
	"fmt"
	"time"
)

// maintain begins the store's upkeep beside the passes.
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

// MaintainNext is before when no upkeep is due: what the MaintainNext of a following Ticker is. Call it after Run or Pass.
func (t *Ticker) MaintainNext() time.Time { return t.next[upkeep] }
