package host

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestHostWakes: with the first request after a time without any, connections are not trusted.
func TestHostWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Host{last: time.Now()}
		begin := func(want bool) {
			t.Helper()
			if got := h.wakes(); got != want {
				t.Errorf("wakes: %v", got)
			}
		}
		begin(false)
		time.Sleep(time.Minute) // the first one is at work
		begin(false)
		h.ended()
		h.ended()
		time.Sleep(time.Second / 2)
		begin(false)
		h.ended()
		time.Sleep(2 * time.Second)
		begin(true)
		begin(false)
	})
}
