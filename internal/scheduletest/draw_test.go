package scheduletest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Zones whose clocks change in every way there is: by an hour, by half of one, at midnight, in the other hemisphere.
var zones = []string{"UTC", "Europe/Berlin", "Europe/Berlin", "Europe/London", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Africa/Cairo", "Asia/Kolkata", "America/Havana"}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

// drawPolicies gives a rule policies of every kind.
func drawPolicies(rng *rand.Rand, r *core.ScheduleRule) {
	r.Type = "work"
	r.Missed = pick(rng, "all", "once", "skip")
	r.Overlap = pick(rng, core.OverlapAllow, core.OverlapSkip, core.OverlapQueueOne, core.OverlapCancelRunning)
	if r.Every == 0 {
		r.TimeZone = pick(rng, zones...)
		r.DSTGap, r.DSTOverlap = pick(rng, "run_at_transition", "shift", "skip"), pick(rng, "first", "last", "both")
	}
	if rng.IntN(4) == 0 {
		r.MissedWindow = core.ScheduleLength(pick(rng, time.Minute, time.Hour, 5*time.Hour))
	}
	if rng.IntN(4) == 0 {
		r.MissedLimit = pick(rng, 1, 10, 500)
	}
	if rng.IntN(4) == 0 {
		r.Jitter = core.ScheduleLength(10 * time.Second)
	}
	if rng.IntN(4) == 0 {
		r.ExpectWithin = core.ScheduleLength(pick(rng, time.Minute, time.Hour))
	}
}

// drawOften draws a rule that fires every few seconds to every few hours.
func drawOften(rng *rand.Rand, kind int) core.ScheduleRule {
	var r core.ScheduleRule
	switch {
	case kind < 1:
		r.Cron = "* * * * * *"
	case kind < 2:
		r.Every = core.ScheduleLength(time.Second + time.Duration(rng.IntN(4_000_000))*time.Microsecond)
	case kind < 4:
		r.Cron = fmt.Sprintf("%d/%d * * * * *", rng.IntN(5), 5+rng.IntN(20))
	case kind < 20:
		r.Cron = pick(rng, "* * * * *", "*/5 * * * *", "30 */2 * * * *", "*/7 1-4 * * *")
	case kind < 60:
		r.Cron = fmt.Sprintf("%d-%d/%d * * * *", rng.IntN(20), 30+rng.IntN(30), 3+rng.IntN(9))
	default:
		r.Every = core.ScheduleLength(time.Minute * time.Duration(5+rng.IntN(300)))
	}
	drawPolicies(rng, &r)
	return r
}

// drawSeldom draws a rule that fires every hour to every year, mostly near the hours at which clocks change.
func drawSeldom(rng *rand.Rand) core.ScheduleRule {
	var r core.ScheduleRule
	minute, hour := rng.IntN(60), pick(rng, 0, 1, 1, 2, 2, 2, 3, rng.IntN(24))
	switch rng.IntN(8) {
	case 0:
		r.Cron = fmt.Sprintf("%d * * * *", minute)
	case 1:
		r.Cron = fmt.Sprintf("%d,%d %d-%d * * *", minute/2, 30+minute/2, hour, min(hour+2, 23))
	case 2, 3:
		r.Cron = fmt.Sprintf("%d %d * * *", minute, hour)
	case 4:
		r.Cron = fmt.Sprintf("%d %d * * %s", minute, hour, pick(rng, "SUN", "SAT,SUN", "MON-FRI", "7", "SUN#2"))
	case 5:
		r.Cron = fmt.Sprintf("%d %d %s * *", minute, hour, pick(rng, "1", "L", "29", "1,15", "15W"))
	case 6:
		r.Cron = fmt.Sprintf("%d %d %d %s *", minute, hour, 25+rng.IntN(4), pick(rng, "3", "10", "MAR,OCT", "4"))
	default:
		r.Every = core.ScheduleLength(time.Hour * time.Duration(1+rng.IntN(1000)))
	}
	drawPolicies(rng, &r)
	return r
}
