package core

import "time"

// LagBuckets is the number of buckets in a schedule lag histogram: one per bound, and one beyond the last.
const LagBuckets = len(LagBounds) + 1

// LagBounds are the upper bounds of the schedule lag histogram. They are fine around the tick's second, where
// the promise lies, and reach an hour.
var LagBounds = [...]time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
	time.Minute, 5 * time.Minute, time.Hour,
}

// MaxLagCounted is what one start adds to a sum of lags at most. A run_at may lie ten years back: without a bound
// a few thousand such jobs would carry the sum over its end.
const MaxLagCounted = 24 * time.Hour

// LagBucket returns the index of the histogram bucket that lag falls into. A negative lag counts as none.
func LagBucket(lag time.Duration) int {
	for i, bound := range LagBounds {
		if lag <= bound {
			return i
		}
	}
	return len(LagBounds)
}

// LagQuantile reads the q-quantile (0 … 1) off a histogram, interpolated within its bucket. An empty
// histogram answers 0; the bucket beyond the last bound answers that bound.
func LagQuantile(hist [LagBuckets]int64, q float64) time.Duration {
	var total int64
	for _, n := range hist {
		total += n
	}
	rank, seen := q*float64(total), int64(0)
	lower := time.Duration(0)
	for i, n := range hist {
		if i == len(LagBounds) {
			break
		}
		if n > 0 && float64(seen+n) >= rank {
			return lower + time.Duration((rank-float64(seen))/float64(n)*float64(LagBounds[i]-lower))
		}
		seen += n
		lower = LagBounds[i]
	}
	if total == 0 {
		return 0
	}
	return LagBounds[len(LagBounds)-1]
}
