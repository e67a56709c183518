package scheduletest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Rules over both changes of the clock in Berlin, under every policy: what a run is made for, and what the ledger says of
// the instants that the rule drops.
func TestClockChangesUnderEveryPolicy(t *testing.T) {
	forward, back := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC), time.Date(2026, 10, 24, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, cron string
		from       time.Time
		gap, over  string
		want       string // the hours of UTC in which it fires, from one o'clock of the night before the change on
	}{
		{"half past two", "30 2 * * *", forward, "run_at_transition", "first", "01:00"},
		{"half past two", "30 2 * * *", forward, "shift", "first", "01:30"},
		{"half past two", "30 2 * * *", forward, "skip", "first", ""},
		{"half past two", "30 2 * * *", back, "shift", "first", "00:30"},
		{"half past two", "30 2 * * *", back, "shift", "last", "01:30"},
		{"half past two", "30 2 * * *", back, "shift", "both", "00:30 01:30"},
		{"each half hour", "*/30 * * * *", forward, "skip", "first", "22:00 22:30 23:00 23:30 00:00 00:30 01:00 01:30 02:00 02:30 03:00"},
		{"each hour", "0 * * * *", back, "skip", "first", "22:00 23:00 00:00 01:00 02:00 03:00"},
		{"midnight and four", "0 0,4 * * *", forward, "skip", "last", "23:00 02:00"},
		{"midnight and four", "0 0,4 * * *", back, "skip", "last", "22:00 03:00"},
	} {
		t.Run(fmt.Sprintf("%s/%s/%s/%s", c.name, c.from.Month(), c.gap, c.over), func(t *testing.T) {
			w := newWorld(t, c.from)
			var names []string
			for _, missed := range []string{"all", "once", "skip"} {
				for _, overlap := range []string{core.OverlapAllow, core.OverlapSkip, core.OverlapQueueOne, core.OverlapCancelRunning} {
					name := missed + " " + overlap
					names = append(names, name)
					w.put(name, core.ScheduleRule{Cron: c.cron, TimeZone: "Europe/Berlin", DSTGap: c.gap, DSTOverlap: c.over, Missed: missed, Overlap: overlap})
				}
			}
			for end := c.from.Add(24 * time.Hour); w.now().Before(end); w.step(5 * time.Minute) {
				w.tick()
				w.finish("work")
			}
			w.tick()
			night := c.from.Add(9*time.Hour + 30*time.Minute) // half past nine in the evening
			for _, name := range names {
				w.exact(name)
				var got []string
				for _, job := range w.runs(name) {
					if at := job.Run.ScheduledFor; at.After(night) && at.Before(night.Add(5*time.Hour+31*time.Minute)) {
						got = append(got, at.Format("15:04"))
					}
				}
				if text := fmt.Sprint(got); text != fmt.Sprint(strings.Fields(c.want)) {
					t.Errorf("%s: fired at %v, want %s", name, got, c.want)
				}
			}
		})
	}
}
