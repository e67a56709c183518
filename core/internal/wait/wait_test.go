package wait

import (
	"testing"
	"time"
)

func TestPauseDoublesAndIsCapped(t *testing.T) {
	for try, ms := range map[int]int{1: 100, 2: 200, 3: 400, 6: 3200, 7: 5000, 8: 5000, 1 << 40: 5000} {
		want := time.Duration(ms) * time.Millisecond
		if got := Pause(try, 100*time.Millisecond, 5*time.Second, 1); got != want {
			t.Errorf("try %d: %s, want %s", try, got, want)
		}
		if got := Pause(try, 100*time.Millisecond, 5*time.Second, 0); got != want/2 {
			t.Errorf("try %d, least chance: %s, want %s", try, got, want/2)
		}
	}
}
