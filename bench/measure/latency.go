package measure

import (
	"slices"
	"sync/atomic"
	"time"
)

// Latencies keeps one duration per sequence number, written from any number of goroutines.
type Latencies struct {
	nanos []atomic.Int64 // 0 means not seen; a duration of 0 is kept as 1
}

// NewLatencies has room for sequence numbers 0 … n-1.
func NewLatencies(n int) *Latencies { return &Latencies{nanos: make([]atomic.Int64, n)} }

// Put records the first duration of seq; it reports false for a second one or a number out of range.
func (l *Latencies) Put(seq int, d time.Duration) bool {
	if seq < 0 || seq >= len(l.nanos) {
		return false
	}
	return l.nanos[seq].CompareAndSwap(0, max(int64(d), 1))
}

// Quantiles answers each q (0 … 1) over the numbers from first on, in milliseconds: the smallest latency that
// at least that share does not exceed. Numbers that were never put are left out.
func (l *Latencies) Quantiles(first int, qs ...float64) []float64 {
	seen := make([]int64, 0, len(l.nanos)-first)
	for i := first; i < len(l.nanos); i++ {
		if n := l.nanos[i].Load(); n > 0 {
			seen = append(seen, n)
		}
	}
	slices.Sort(seen)
	out := make([]float64, len(qs))
	for i, q := range qs {
		if len(seen) > 0 {
			out[i] = float64(seen[min(int(q*float64(len(seen))), len(seen)-1)]) / 1e6
		}
	}
	return out
}

// Median is the middle value, or the mean of the two in the middle. None answers 0.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
