// Package wait holds the waits of loops that go on until their context ends.
package wait

import (
	"context"
	"time"
)

// Pause is the wait before the nth try in a row (1 is the first) of something the worker itself must repeat,
// a call to a store that is down for instance: it doubles from least to most, and half of it is chance.
func Pause(try int, least, most time.Duration, chance float64) time.Duration {
	d := least
	for i := 1; i < try && d < most; i++ {
		d *= 2
	}
	d = min(d, most)
	return d/2 + time.Duration(float64(d/2)*chance)
}

// Sleep waits for d or for ctx to end.
func Sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
