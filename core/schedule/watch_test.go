package schedule

import (
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// The alert of a schedule whose row was damaged says what is so, and names no length or instant that nobody wrote.
func TestAlertsOfDamagedSchedulesSayWhatIsSo(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		sched core.Schedule
		want  string
	}{
		"a rule that cannot be read": {core.Schedule{Rule: core.ScheduleRule{Cron: "x"}, State: core.ScheduleState{Expected: now}}, "the rule cannot be read"},
		"an instant beyond the calendar": {core.Schedule{Rule: core.ScheduleRule{Cron: "@daily", ExpectWithin: core.ScheduleLength(time.Hour)},
			State: core.ScheduleState{Expected: time.Date(68053017, 9, 27, 0, 0, 0, 0, time.UTC)}}, "beyond the year 9999"},
		"a sound one": {core.Schedule{Rule: core.ScheduleRule{Cron: "@daily", ExpectWithin: core.ScheduleLength(time.Hour)}, State: core.ScheduleState{Expected: now}},
			"no success of the instant 2026-03-01T09:00:00Z was recorded within 1h0m0s"},
	} {
		var p Plan
		p.Watch(&c.sched, core.Success{}, now, Options{})
		if len(p.Alerts) != 1 || !strings.Contains(p.Alerts[0].Detail, c.want) || strings.HasSuffix(p.Alerts[0].Detail, "within 0s") {
			t.Errorf("%s: %+v, want %q", name, p.Alerts, c.want)
		}
	}
}
