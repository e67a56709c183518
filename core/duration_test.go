package core

import (
	"math"
	"testing"
	"time"
)

func TestReadDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "0s": 0, "-1s": -time.Second, ".5s": 500 * time.Millisecond, "1.s": time.Second, "+2ms": 2 * time.Millisecond,
		"9999999h": math.MaxInt64, "-9999999h": math.MinInt64, "99999999999999999999s": math.MaxInt64,
	} {
		if got, ok := ReadDuration(text); !ok || got != want {
			t.Errorf("%s: %s, %t", text, got, ok)
		}
	}
	for _, text := range []string{"", "0", "+0", "-0", "5", "s", "1d", "1 s", "1S", "1h 30m", "--1s", "1e3s", "9999999"} {
		if got, ok := ReadDuration(text); ok {
			t.Errorf("%q is taken as %s", text, got)
		}
	}
}
