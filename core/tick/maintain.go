package tick

import (
	"context"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// maintain begins the store's upkeep where it is due: once a period, by whoever holds bucket 0, beside the
// passes and never more than one at a time, because dropping a day's partition may take longer than a lease.
func (t *Ticker) maintain(ctx context.Context, held []core.Held) {
	now := time.Now()
	if now.Before(t.maintainNext) || !holds(held, 0) || !t.maintaining.CompareAndSwap(false, true) {
		return
	}
	period := t.opts.MaintainPeriod
	t.maintainNext = now.Add(period*3/4 + time.Duration(t.opts.Chance()*float64(period)/2))
	t.background.Go(func() {
		defer t.maintaining.Store(false)
		done, err := t.store.Maintain(ctx, t.opts.Maintain)
		switch {
		case err == nil:
			t.event(Event{Kind: Maintained, Upkeep: done})
		case ctx.Err() == nil:
			t.event(Event{Kind: MaintainFailed, Err: fmt.Errorf("maintain: %w", err)})
		}
	})
}

// MaintainNext is before when no upkeep is due: what the MaintainNext of a following Ticker is. Call it after Run or Pass.
func (t *Ticker) MaintainNext() time.Time { return t.maintainNext }

// holds reports whether bucket is among those held.
func holds(held []core.Held, bucket int) bool {
	for _, h := range held {
		if h.Bucket == bucket {
			return true
		}
	}
	return false
}
