package recurrence

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"time"
)

// Jitter is how much later than its instant a run starts: from 0 to below most, spread evenly over schedules and
// instants. It depends on nothing but its arguments (the instant to the microsecond), so every machine, and
// every repetition, gets the same. 0 for most ≤ 0.
func Jitter(schedule string, at time.Time, most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	text := binary.BigEndian.AppendUint64(nil, uint64(at.UnixMicro()))
	sum := sha256.Sum256(append(text, schedule...))
	part, _ := bits.Mul64(binary.BigEndian.Uint64(sum[:8]), uint64(most))
	return time.Duration(part).Truncate(time.Microsecond)
}
