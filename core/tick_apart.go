package core

import (
	"context"
	"fmt"
)

// tellApart tells of rows that were set apart since the last pass, by whichever process.
func (t *Ticker) tellApart(ctx context.Context, res TickResult) error {
	if !res.Untold || !holds(res.Held, 0) {
		return nil
	}
	faults, err := t.store.TellApart(ctx)
	if err != nil {
		return fmt.Errorf("tick: %w", err)
	}
	for _, f := range faults {
		t.event(TickEvent{Kind: RowSetApart, Fault: f})
	}
	return nil
}
