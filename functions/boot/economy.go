package boot

import "time"

// rareTakeover is how late an occurrence may be, with a tick each minute, before it counts as missed.
const rareTakeover = 2 * time.Minute

// Takeover is how long there may be no tick before an occurrence counts as missed.
func (s Settings) Takeover() time.Duration {
	if s.Economy || s.TickIdle > 0 {
		return max(rareTakeover, 2*s.TickIdle)
	}
	return s.BucketLease + s.Tick
}

// checkIdle checks the settings of a tick that ends when idle.
func (s Settings) checkIdle(bad tellFault) {
	if s.TickIdle != 0 {
		bad.within("BELFRY_TICK_IDLE", s.TickIdle, 10*time.Second, time.Hour)
	}
	bad.within("BELFRY_TICK_SLEEP", s.TickSleep, 0, time.Hour)
	if s.TickSleep > 0 && s.TickIdle == 0 {
		bad("BELFRY_TICK_SLEEP", "is set, and BELFRY_TICK_IDLE is not")
	}
	if s.TickIdle > 0 && s.Economy {
		bad("BELFRY_TICK_IDLE", "is set, and BELFRY_ECONOMY is true: set one of them")
	}
}
