package rulestest

import (
	"slices"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func attemptCases() []Case {
	attempts := func(name, field string, n int) Case {
		return say("max_attempts "+name, field, func(j *core.NewJob) { j.MaxAttempts = n })
	}
	return []Case{
		attempts("1", "", 1), attempts("100", "", core.MaxAttempts), attempts("101", "max_attempts", core.MaxAttempts+1), attempts("negative", "max_attempts", -1),
		attempts("beyond 32 bits", "max_attempts", 1<<40).badValue(),
		sayBoth("max_attempts 0", "max_attempts", `"max_attempts":0`, `max_attempts => 0`),
		sayHTTP("max_attempts a fraction", "max_attempts", `"max_attempts":1.5`),
		sayHTTP("max_attempts a text", "max_attempts", `"max_attempts":"5"`),
		saySQL("max_attempts a text", "max_attempts", `max_attempts => 'five'`).badValue(),
		sayHTTP("max_attempts null", "max_attempts", `"max_attempts":null`),
		saySQL("max_attempts null", "", `max_attempts => NULL`),
	}
}

func timeoutCases() []Case {
	timeout := func(name, field string, d time.Duration) Case {
		return say("timeout "+name, field, func(j *core.NewJob) { j.Timeout = d })
	}
	return []Case{
		timeout("shortest", "", core.MinTimeout), timeout("longest", "", core.MaxTimeout), timeout("to the microsecond", "", 1500001*time.Microsecond),
		timeout("short", "timeout", core.MinTimeout-time.Microsecond), timeout("short by a nanosecond", "timeout", core.MinTimeout-1).without("sql"),
		timeout("long", "timeout", core.MaxTimeout+time.Microsecond), timeout("negative", "timeout", -time.Hour),
		sayBoth("timeout 0", "timeout", `"timeout":"0s"`, `timeout => '0'`),
		sayHTTP("timeout a number", "timeout", `"timeout":90`), sayHTTP("timeout without unit", "timeout", `"timeout":"90"`), sayHTTP("timeout a word", "timeout", `"timeout":"soon"`),
		saySQL("timeout a word", "timeout", `timeout => 'soon'`).badValue(),
		saySQL("timeout of a day", "", `timeout => '1 day'`), saySQL("timeout of a day and a bit", "timeout", `timeout => '1 day 1 microsecond'`),
		saySQL("timeout of a month", "timeout", `timeout => '1 month'`), saySQL("timeout of a year", "timeout", `timeout => '1 year'`), saySQL("timeout null", "", `timeout => NULL`),
		saySQL("timeout that days and hours make", "", `timeout => '2 days -47 hours'`),
	}
}

func backoffCases() []Case {
	waits := func(name, field string, waits ...time.Duration) Case {
		return say("backoff "+name, field, func(j *core.NewJob) { j.Backoff = append([]time.Duration{}, waits...) })
	}
	second := []time.Duration{time.Second}
	return []Case{
		waits("of 20", "", slices.Repeat([]time.Duration{0, core.MaxBackoffWait}, core.MaxBackoff/2)...), waits("of 21", "backoff", slices.Repeat(second, core.MaxBackoff+1)...),
		waits("of none", "backoff"), waits("longest", "", core.MaxBackoffWait), waits("to the microsecond", "", time.Microsecond, 90*time.Second),
		waits("one too long", "backoff[1]", time.Second, core.MaxBackoffWait+time.Microsecond), waits("one negative", "backoff[0]", -time.Microsecond), waits("negative by a nanosecond", "backoff[0]", -1).without("sql"), waits("of a nanosecond", "backoff[0]", 1).without("sql"),
		waits("several bad", "backoff[0]", -time.Second, time.Second, -time.Second),
		sayHTTP("backoff a text", "backoff", `"backoff":"30s"`), sayHTTP("backoff one null", "backoff[0]", `"backoff":[null]`), sayHTTP("backoff of numbers", "backoff[0]", `"backoff":[30]`),
		sayHTTP("backoff of thousands", "backoff", `"backoff":["1s"`+strings.Repeat(`,"1s"`, 5000)+`]`),
		saySQL("backoff a text", "backoff", `backoff => '30s'`).badValue(), saySQL("backoff one null", "backoff[1]", `backoff => ARRAY['30s', NULL]::interval[]`),
		saySQL("backoff of days", "", `backoff => '{1 day,30 days}'`), saySQL("backoff of a month", "backoff[0]", `backoff => '{1 month}'`),
		saySQL("backoff in backoff", "backoff", `backoff => '{{1s,2s},{3s,4s}}'`), saySQL("backoff counted from 0", "", `backoff => '[0:1]={1s,2s}'`),
		saySQL("backoff null", "", `backoff => NULL`),
	}
}
