package tick

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/functions/boot"
)

// slowUpkeep is a store whose upkeep takes longer than a pass.
type slowUpkeep struct {
	tick.Store
	done atomic.Int64
}

// takesLong ends by itself, or early when ctx does.
func takesLong(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(200 * time.Millisecond):
		return nil
	}
}

func (s *slowUpkeep) Maintain(ctx context.Context, req core.MaintainRequest) (core.MaintainResult, error) {
	if err := takesLong(ctx); err != nil {
		return core.MaintainResult{}, err
	}
	s.done.Add(1)
	return s.Store.Maintain(ctx, req)
}

// An invocation that finds nothing to do ends what it began beside its passes: upkeep, and the publishing of alerts.
func TestInvokeEndsWhatItBegan(t *testing.T) {
	for mode, set := range map[string]func(*boot.Settings){
		"idle":    func(*boot.Settings) {},
		"economy": func(s *boot.Settings) { s.Economy, s.TickIdle, s.TickSleep = true, 0, 0 },
	} {
		t.Run(mode, func(t *testing.T) {
			i := newIdle(t)
			set(&i.options.Settings)
			store := &slowUpkeep{Store: i.store}
			var published atomic.Int64
			i.options.Store = store
			i.options.Alerts = func(ctx context.Context, alerts []core.Alert) error {
				if err := takesLong(ctx); err != nil {
					return err
				}
				published.Add(int64(len(alerts)))
				return nil
			}
			if err := i.store.RaiseAlerts(t.Context(), []core.Alert{{Kind: core.AlertScheduleMissed, Subject: "a"}}); err != nil {
				t.Fatal(err)
			}
			<-i.begin(t)
			if store.done.Load() != 1 || published.Load() != 1 {
				t.Errorf("upkeep was done %d times, %d alerts were published", store.done.Load(), published.Load())
			}
			unsent, err := i.store.Alerts(t.Context(), core.AlertQuery{Unsent: true, Limit: 10})
			if err != nil || len(unsent) != 0 {
				t.Errorf("not marked as published: %+v, %v", unsent, err)
			}
		})
	}
}
