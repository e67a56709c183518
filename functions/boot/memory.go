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
	memorySlack = 56 << 20        // bytes beside requests and other live memory, before the collector runs more often
	memoryBase  = 24 << 20        // bytes of other live memory that the slack has room for
	memoryBeat  = time.Second / 2 // between measurements
	memoryStep  = 4 << 20         // bytes: smaller changes are ignored
)

// BoundMemory keeps the memory of this process close to what it uses, until ctx ends. Requests may hold size bytes and hold
// held() now. By default Go's collector runs when there is as much garbage as live memory; with many requests in flight that
// would double their memory. Other live memory may still double. If the operator has set GOMEMLIMIT, that applies instead.
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

// memoryLimit returns the memory limit of a process whose requests may hold size bytes, hold held now, and that has live
// bytes in all.
func memoryLimit(size, held, live int64) int64 {
	other := max(live-held, 0)
	return size + memorySlack + 2*max(other-memoryBase, 0)
}

// liveBytes returns the live memory at the last collection, and all stacks.
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
