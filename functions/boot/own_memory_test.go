package boot

import (
	"math"
	"testing"
)

// A function or a container that is smaller than the default and what is beside it gets a default that fits.
func TestRequestMemoryFitsTheProcess(t *testing.T) {
	for own, want := range map[int]int{0: 32, 64: 32, 128: 32, 256: 156, 300: 200, 356: 256, 512: 256, 10_240: 256, math.MaxInt: 256} {
		if got := requestMemory(256, own); got != want {
			t.Errorf("of %d MiB requests get %d, want %d", own, got, want)
		}
	}
	for lambda, want := range map[string]int{"128": 32, "256": 156, "1769": 256, "": 256} {
		clean(t)
		t.Setenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", lambda)
		s, err := ReadSettings()
		if err != nil || s.RequestMemory != want {
			t.Errorf("a function of %q MiB: %d MiB for requests, %v, want %d", lambda, s.RequestMemory, err, want)
		}
		t.Setenv("BELFRY_REQUEST_MEMORY", "64")
		if s, err = ReadSettings(); err != nil || s.RequestMemory != 64 {
			t.Errorf("a function of %q MiB with 64 set: %d, %v", lambda, s.RequestMemory, err)
		}
	}
	if own := ownMemory(""); own < 32 || own > 1<<30 {
		t.Errorf("this process has %d MiB", own)
	}
}
