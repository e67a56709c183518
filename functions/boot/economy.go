package boot

import "time"

// economyTakeover is how late an occurrence may be, with a tick each minute, without counting as missed.
const economyTakeover = 2 * time.Minute

// Takeover is how long nobody may tick without an occurrence of a schedule counting as missed.
func (s Settings) Takeover() time.Duration {
	if s.Economy {
		return economyTakeover
	}
	return s.BucketLease + s.Tick
}
