package tick

import (
	"context"
	"fmt"

	"github.com/belfry-dev/belfry/core"
)

// unservedAtOnce is the maximum number of reported lanes that no queue serves.
const unservedAtOnce = 100

// reportUnserved reports lanes with due jobs of a priority that does not exist: no worker claims them, and no error is raised.
func (t *Ticker) reportUnserved(ctx context.Context, p *pass) error {
	var faults []core.RowFault
	for _, lane := range p.res.Unserved[:min(len(p.res.Unserved), unservedAtOnce)] {
		if lane.DueIn <= 0 {
			faults = append(faults, core.RowFault{
				Kind: core.ApartType, Name: fmt.Sprintf("%d/%s", lane.Priority, lane.Type), About: lane.Type, Act: "claim",
				Error: fmt.Sprintf("jobs have the priority %d, which does not exist, so none is ever claimed: it must be 1, 2 or 3", lane.Priority),
			})
		}
	}
	if err := t.store.SetApart(ctx, faults); err != nil {
		return fmt.Errorf("tick: %w", err)
	}
	return nil
}

// nameDamaged names rows that nothing is ever done with.
func (t *Ticker) nameDamaged(ctx context.Context, _ *pass) error {
	if err := t.store.NameDamaged(ctx); err != nil {
		return fmt.Errorf("tick: %w", err)
	}
	return nil
}

// reportApart reports rows that any process has set apart since the last pass.
func (t *Ticker) reportApart(ctx context.Context, _ *pass) error {
	faults, err := t.store.TellApart(ctx)
	if err != nil {
		return fmt.Errorf("tick: %w", err)
	}
	for _, f := range faults {
		t.event(Event{Kind: RowSetApart, Fault: f})
	}
	return nil
}
