package rulestest

import (
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func timeCases(now time.Time) []Case {
	const margin = time.Hour // between the clocks of the sides, and longer than a run of the table
	at := func(name, field string, change func(*core.NewJob)) Case { return say(name, field, change) }
	runAt := func(name, field string, t time.Time) Case {
		return at("run_at "+name, field, func(j *core.NewJob) { j.RunAt = t })
	}
	expires := func(name, field string, t time.Time) Case {
		return at("expires_at "+name, field, func(j *core.NewJob) { j.ExpiresAt = t })
	}
	delay := func(name, field string, d time.Duration) Case {
		return at("delay "+name, field, func(j *core.NewJob) { j.Delay = d })
	}
	earliest, latest := now.AddDate(-core.PastYears, 0, 0), now.AddDate(core.FutureYears, 0, 0)
	year := func(y int) time.Time { return time.Date(y, 1, 2, 0, 0, 0, 0, time.UTC) }
	both := func(name, field string, runAt, expiresAt time.Time) Case {
		return at(name, field, func(j *core.NewJob) { j.RunAt, j.ExpiresAt = runAt, expiresAt })
	}
	all := []Case{
		runAt("now", "", now), runAt("ten years ago", "", earliest.Add(margin)), runAt("longer ago", "run_at", earliest.Add(-margin)), runAt("in a century", "", latest.Add(-margin)),
		runAt("beyond", "run_at", latest.Add(margin)), runAt("year 9999", "run_at", year(9999)), runAt("year 20231", "run_at", year(20231)), runAt("year 1", "run_at", year(1)),
		runAt("at the epoch", "run_at", time.Unix(0, 0).UTC()), runAt("to the microsecond", "", now.Add(123456*time.Microsecond)), runAt("of another zone", "", now.In(time.FixedZone("", 5*3600+45*60))),
		runAt("to the nanosecond", "", now.Truncate(time.Second).Add(123456789)).without("sql"),
		delay("of a microsecond", "", time.Microsecond), delay("of a century", "", core.MaxDelay), delay("beyond", "delay", core.MaxDelay+time.Microsecond), delay("negative", "delay", -time.Second),
		delay("negative by a nanosecond", "delay", -1).without("sql"),
		at("delay beside run_at", "delay", func(j *core.NewJob) { j.RunAt, j.Delay = now, time.Second }),
		expires("in an hour", "", now.Add(margin)), expires("past", "expires_at", now.Add(-margin)), expires("beyond", "expires_at", latest.Add(margin)), expires("year 1", "expires_at", year(1)),
		both("expires_at after run_at", "", now, now.Add(time.Microsecond)), both("expires_at at run_at", "expires_at", now, now), both("expires_at before run_at", "expires_at", now, now.Add(-1000)),
		both("expires_at and run_at out of bounds", "run_at", year(20231), year(20230)),
		at("expires_at within delay", "expires_at", func(j *core.NewJob) { j.Delay, j.ExpiresAt = 2*margin, now.Add(margin) }),
		at("expires_at after delay", "", func(j *core.NewJob) { j.Delay, j.ExpiresAt = margin, now.Add(3*margin) }),
		sayBoth("delay 0 beside run_at", "delay", fmt.Sprintf(`"run_at":%q,"delay":"0s"`, now.Format(time.RFC3339)), `run_at => now(), delay => '0'`),
		sayBoth("delay 0", "", `"delay":"0s"`, `delay => '0'`),
	}
	return append(all, timeTexts()...)
}

// timeTexts are what only one side can write.
func timeTexts() []Case {
	var all []Case
	for _, text := range []string{
		"2026-03-01", "2026-03-01T12:00:00", "2026-02-30T12:00:00Z", "2026-02-01T24:00:00Z", "10000-01-02T00:00:00Z", "-0044-03-15T00:00:00Z", "infinity", "now", "", "tomorrow",
	} {
		all = append(all, sayHTTP("run_at "+text, "run_at", `"run_at":`+quote(text)))
	}
	for _, text := range []string{"5", "0", "1d", "99999999999999999999h", "inf", "", "1 s", "P1D"} {
		all = append(all, sayHTTP("delay "+text, "delay", `"delay":`+quote(text)))
	}
	return append(all,
		sayHTTP("run_at a number", "run_at", `"run_at":1767225600`), sayHTTP("run_at null", "run_at", `"run_at":null`), sayHTTP("delay a number", "delay", `"delay":5`),
		saySQL("run_at a word", "run_at", `run_at => 'soon'`).badValue(), saySQL("run_at of no day", "run_at", `run_at => '2026-02-30'`).badValue(), saySQL("run_at null", "", `run_at => NULL`),
		saySQL("run_at infinity", "run_at", `run_at => 'infinity'`), saySQL("run_at -infinity", "run_at", `run_at => '-infinity'`), saySQL("run_at before Christ", "run_at", `run_at => '0044-03-15 BC'`),
		saySQL("expires_at infinity", "expires_at", `expires_at => 'infinity'`), saySQL("expires_at -infinity", "expires_at", `expires_at => '-infinity'`), saySQL("expires_at null", "", `expires_at => NULL`),
		saySQL("delay of days", "", `delay => '10 days'`), saySQL("delay of a month", "delay", `delay => '1 month'`), saySQL("delay of years", "delay", `delay => '100 years'`), saySQL("delay of 1 month -30 days", "delay", `delay => '1 month -30 days'`),
		saySQL("delay absurd", "delay", `delay => '2147483647 days'`), saySQL("delay absurdly negative", "delay", `delay => '-2147483648 days'`), saySQL("delay a word", "delay", `delay => 'soon'`).badValue(),
		saySQL("delay null", "", `delay => NULL`), saySQL("delay null beside run_at", "", `run_at => now(), delay => NULL`), saySQL("delay that days and hours make", "", `delay => '2 days -47 hours'`),
	)
}
