package tick

import (
	"context"
	"fmt"

	"github.com/belfry-dev/belfry/core"
)

// tellApart tells of rows that were set apart since the last pass, by whichever process.
func (t *Ticker) tellApart(ctx context.Context, res core.TickResult) error {
	if !res.Untold || !holds(res.Held, 0) {
		return nil
	}
	faults, err := t.store.TellApart(ctx)
	if err != nil {
		return fmt.Errorf("tick: %w", err)
	}
	for _, f := range faults {
		t.event(Event{Kind: RowSetApart, Fault: f})
	}
	return nil
}
