package work

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Where slots come free all the time, messages are received for many of them at once.
func TestBoundGathersSlots(t *testing.T) {
	for name, c := range map[string]struct {
		slots, taken int
		freed        time.Duration // since when a slot came free
		want         int
	}{
		"many taken, coming free": {1000, 900, 0, 1000},
		"few taken":               {1000, 400, 0, 600},
		"few slots":               {50, 40, 0, 10},
		"standing still":          {1000, 900, time.Second / 2, 100},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &Worker{opts: Options{Slots: c.slots}}
				w.gate.init(1)
				w.running[core.Default] = c.taken
				w.freedAt = time.Now().Add(-c.freed)
				time.AfterFunc(2*gatherTurn-1, func() {
					w.mu.Lock()
					defer w.mu.Unlock()
					w.running[core.Default] = 0
				})
				if got := w.bound(t.Context(), core.Default); got != c.want {
					t.Errorf("bound answers %d, want %d", got, c.want)
				}
				time.Sleep(2 * gatherTurn)
			})
		})
	}
}
