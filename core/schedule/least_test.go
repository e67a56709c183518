package schedule

import (
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// TestErrorsNameTheLeastDuration: an error about a too short duration names the shortest accepted one.
func TestErrorsNameTheLeastDuration(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	acts := NewActs(nil, Options{}, nil)
	for field, c := range map[string]struct {
		set   func(r *core.ScheduleRule, d core.ScheduleLength)
		least time.Duration
		rule  string
	}{
		"missed_grace":  {func(r *core.ScheduleRule, d core.ScheduleLength) { r.MissedGrace = d }, acts.opts.MinGrace(), acts.GraceRule()},
		"missed_window": {func(r *core.ScheduleRule, d core.ScheduleLength) { r.MissedWindow = d }, time.Microsecond, "must lie between 1µs and 876000h (100 years)"},
		"jitter":        {func(r *core.ScheduleRule, d core.ScheduleLength) { r.Jitter = d }, 0, "must lie between 0s and "},
		"expect_within": {func(r *core.ScheduleRule, d core.ScheduleLength) { r.ExpectWithin = d }, core.MinExpectWithin, "must lie between 1s and 9600h (400 days)"},
		"expires_after": {func(r *core.ScheduleRule, d core.ScheduleLength) { r.ExpiresAfter = d }, core.MinExpiresAfter, core.ExpiresAfterRule},
		"timeout":       {func(r *core.ScheduleRule, d core.ScheduleLength) { r.Timeout = d }, core.MinTimeout, "must lie between 1s and 24h"},
		"every":         {func(r *core.ScheduleRule, d core.ScheduleLength) { r.Cron, r.Every = "", d }, MinEvery, "must lie between 1s and "},
	} {
		for _, d := range []time.Duration{-time.Second, c.least - time.Microsecond, c.least} {
			rule := core.ScheduleRule{Cron: "0 0 * * *", Type: "a"}
			c.set(&rule, core.ScheduleLength(d))
			err := acts.Check("", "s", &rule, now)
			switch {
			case d >= c.least:
				if err != nil {
					t.Errorf("%s %s: %v", field, d, err)
				}
			case d != 0 && (err == nil || strings.Count(err.Error(), field+": ") != 1 || !strings.Contains(err.Error(), field+": "+c.rule)):
				t.Errorf("%s %s: %v, want %s", field, d, err, c.rule)
			}
		}
	}
}
