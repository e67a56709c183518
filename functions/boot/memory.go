package boot

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	memorySlack = 56 << 20        // bytes beside requests and what else lives, before the collector hurries
	memoryBase  = 24 << 20        // bytes of other live memory that the slack has room for
	memoryBeat  = time.Second / 2 // between looks
	memoryStep  = 4 << 20         // bytes: smaller changes are left
)

// BoundMemory keeps what this process takes of memory close to what it uses, until ctx ends: requests may hold size bytes,
// of which they hold held just now. The collector of Go waits by itself until as much again is garbage as lives; with many
// requests in flight that would double what they hold. What lives beside requests may double as ever. Where the operator
// has set GOMEMLIMIT, that counts.
func BoundMemory(ctx context.Context, size int64, held func() int64) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	defer debug.SetMemoryLimit(math.MaxInt64)
	beat := time.NewTicker(memoryBeat)
	defer beat.Stop()
	for set := int64(0); ; {
		if limit := memoryLimit(size, held(), liveBytes()); limit < set-memoryStep || limit > set+memoryStep {
			debug.SetMemoryLimit(limit) // stops all goroutines for a moment
			set = limit
		}
		select {
		case <-beat.C:
		case <-ctx.Done():
			return
		}
	}
}

// memoryLimit is how much memory a process may have whose requests may hold size bytes, and hold so many, while so many live.
func memoryLimit(size, held, live int64) int64 {
	other := max(live-held, 0)
	return size + memorySlack + 2*max(other-memoryBase, 0)
}

// liveBytes is what lived when the collector looked last, and all stacks.
func liveBytes() int64 {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	var sum uint64
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			sum += s.Value.Uint64()
		}
	}
	return int64(min(sum, math.MaxInt64/4))
}
