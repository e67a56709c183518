package tick

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/functions/boot"
)

// economyTakeover is how late an occurrence may be, with a tick each minute, without counting as missed.
const economyTakeover = 2 * time.Minute

// Pass does what there is to do now and ends: one invocation in economy mode. It gives the leases up and closes the
// topics. A function makes one Run or Pass.
func (f *Function) Pass(ctx context.Context) error {
	defer f.close(context.WithoutCancel(ctx))
	return f.ticker.Pass(ctx)
}

// takeover is how long nobody may tick without an occurrence being missed. Zero means the scheduler's own.
func takeover(s boot.Settings) time.Duration {
	if s.Economy {
		return economyTakeover
	}
	return 0
}
