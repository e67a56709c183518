package recurrence

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestDescribe(t *testing.T) {
	start := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"30 2 * * *":               "At 02:30 every day, Europe/Berlin",
		"0 8,18 * * *":             "At 08:00 and 18:00 every day, Europe/Berlin",
		"59 59 23 * * *":           "At 23:59:59 every day, Europe/Berlin",
		"* * * * *":                "Every minute every day, Europe/Berlin",
		"* * * * * *":              "Every second every day, Europe/Berlin",
		"*/15 * * * *":             "Every 15 minutes every day, Europe/Berlin",
		"0/20 * * * * *":           "Every 20 seconds every day, Europe/Berlin",
		"*/13 * * * *":             "At minutes 0, 13, 26, 39 and 52 every hour every day, Europe/Berlin",
		"0 * * * *":                "Every hour, on the hour, every day, Europe/Berlin",
		"0 */4 * * *":              "Every 4 hours, on the hour from 00:00, every day, Europe/Berlin",
		"0 */6 * * *":              "At 00:00, 06:00, 12:00 and 18:00 every day, Europe/Berlin",
		"5 * * * *":                "At minute 5 every hour every day, Europe/Berlin",
		"5,20 8-17 * * MON-FRI":    "At minutes 5 and 20 in hours 08 to 17 on Monday to Friday, Europe/Berlin",
		"*/7 */5 2 * * *":          "At seconds 0, 7, 14, 21, 28, 35, 42, 49 and 56 every 5 minutes in hour 02 every day, Europe/Berlin",
		"0 9 1,15 * *":             "At 09:00 on days 1 and 15 of every month, Europe/Berlin",
		"0 9 L * *":                "At 09:00 on the last day of every month, Europe/Berlin",
		"0 9 L-1,L-3 * *":          "At 09:00 on the day before the last and the day 3 days before the last of every month, Europe/Berlin",
		"0 9 LW,15W * *":           "At 09:00 on the weekday nearest to day 15 and the last weekday of every month, Europe/Berlin",
		"0 0 13 * FRI":             "At 00:00 on day 13 of every month, and also on Friday, Europe/Berlin",
		"0 0 */10 * 3":             "At 00:00 on days 1, 11, 21 and 31 of every month if it is also Wednesday, Europe/Berlin",
		"0 12 * * FRI#2,5L,SUN":    "At 12:00 on Sunday, the second Friday of the month or the last Friday of the month, Europe/Berlin",
		"0 0 1-31 * 1":             "At 00:00 every day, Europe/Berlin",
		"0 0 13 * 0-6":             "At 00:00 every day, Europe/Berlin",
		"0 0 31 6-8 sun-sat":       "At 00:00 every day in June, July and August, Europe/Berlin",
		"0 0 1-31 * *":             "At 00:00 every day, Europe/Berlin",
		"0 0 */1 * 1":              "At 00:00 on Monday, Europe/Berlin",
		"5 * * * * *":              "At second 5 of every minute every day, Europe/Berlin",
		"0-9 * 3 * * *":            "At seconds 0 to 9 of every minute in hour 03 every day, Europe/Berlin",
		"0 0 29 2 *":               "At 00:00 on day 29 in February, Europe/Berlin",
		"0 0 * 6-8 SAT,SUN":        "At 00:00 on Sunday or Saturday in June, July and August, Europe/Berlin",
		"TZ=Asia/Tokyo 30 2 * * *": "At 02:30 every day, Asia/Tokyo",
		"@every 90s":               "Every 90 seconds, counted from 2026-01-15T13:00:00+01:00",
		"@every 24h":               "Every day, counted from 2026-01-15T13:00:00+01:00",
		"@every 1h30m":             "Every 90 minutes, counted from 2026-01-15T13:00:00+01:00",
		"@every 1.5s":              "Every 1.5s, counted from 2026-01-15T13:00:00+01:00",
	} {
		zone := "Europe/Berlin"
		if strings.HasPrefix(text, "TZ=") {
			zone = ""
		}
		rule, err := Parse(text, zone, Options{Anchor: start})
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := rule.Describe(); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
	rule, err := Parse("30 2 * * *", "Europe/Berlin", Options{StartsAt: start, EndsAt: start.AddDate(0, 6, 0)})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rule.Describe(), "At 02:30 every day, Europe/Berlin, from 2026-01-15T13:00:00+01:00, until before 2026-07-15T14:00:00+02:00"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestWarnings(t *testing.T) {
	now := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	end := now.AddDate(0, 0, 3)
	for _, c := range []struct {
		text    string
		options Options
		want    []string // each is contained in one warning
	}{
		{"0 12 * * *", Options{}, nil},
		{"* * * * *", Options{}, nil},
		{"30 2 * * *", Options{}, nil}, // moves, and the occurrence's mark says so
		{"30 2 * * *", Options{DSTGap: Shift, DSTOverlap: Last}, nil},
		{"0,30 2 * * *", Options{}, []string{"2026-03-29 02:00:00 does not exist in Europe/Berlin, one of 2 such times; with dst_gap run_at_transition one run stands for them, at 2026-03-29T03:00:00+02:00"}},
		{"0 2,3 * * *", Options{}, []string{"it becomes one with the run at 2026-03-29T03:00:00+02:00"}},
		{"30 2 * * *", Options{DSTOverlap: Both}, []string{"2026-10-25 02:30:00 comes twice in Europe/Berlin; with dst_overlap both it runs both times"}},
		{"30 2 * * *", Options{DSTGap: SkipGap, DSTOverlap: Last}, []string{"2026-03-29 02:30:00 does not exist in Europe/Berlin; with dst_gap skip it does not run"}},
		{"*/30 2 * * *", Options{}, []string{"2026-03-29 02:00:00 does not exist in Europe/Berlin; second, minute or hour begins with *, so nothing is made up", "so it runs both times"}},
		{"0 0 13 * FRI", Options{}, []string{"either matches is enough; the next times are Fri 2026-01-16T00:00:00+01:00, Fri 2026-01-23T00:00:00+01:00 and Fri 2026-01-30T00:00:00+01:00"}},
		{"0 0 */2 * 3", Options{}, []string{"both must match, because one of them begins with * or ?; the next times are Wed 2026-01-21"}},
		{"0 0 1-31 * 1", Options{}, []string{"one of them matches every day; the next times are Fri 2026-01-16T00:00:00+01:00, Sat"}},
		{"0 0 31 * 0-6", Options{}, []string{"one of them matches every day"}},
		{"0 0 1-31 * 0-6", Options{}, nil}, {"0 0 1-31 * *", Options{}, nil}, {"0 0 */1 * 0-6", Options{}, nil},
		{"0 0 31 * */1", Options{}, []string{"day 31 does not exist in February"}},
		{"0 0 29 2 *", Options{}, []string{"29 February exists in leap years only", "more than a year ahead, on 2028-02-29"}},
		{"0 0 29 * *", Options{}, []string{"day 29 does not exist in February except in leap years"}},
		{"0 0 31 * *", Options{}, []string{"day 31 does not exist in February, April, June, September and November"}},
		{"0 0 30 1,2 *", Options{}, []string{"day 30 does not exist in February"}},
		{"*/13 12 * * *", Options{}, []string{"minute: */13 starts again at 0, so its last interval is 8 and not 13"}},
		{"*/60 12 * * *", Options{}, []string{"minute: */60 selects 0 alone"}},
		{"0 12 * * *", Options{EndsAt: end}, []string{"3 occurrences are left, the next at 2026-01-16T12:00:00+01:00"}},
		{"0 12 * * *", Options{EndsAt: now}, []string{"the schedule has ended"}},
		{"0 12 1 2 *", Options{EndsAt: end}, []string{"there is no occurrence from now on"}},
		{"30 2 25-31 3 */7", Options{DSTGap: SkipGap}, []string{"both must match", "selects 0 alone", "does not exist", "there is no occurrence from now on"}},
		{"@every 1h", Options{Anchor: now}, nil},
		{"0/15 12 * * *", Options{}, []string{"minute: 0/15 goes from 0 to the end by steps; classic cron takes 0 alone"}},
		{"0 6,7/4 * JAN/3 *", Options{}, []string{"hour: 7/4 goes from 7", "month: JAN/3 goes from JAN"}},
		{"0 12 ? * 2-6", Options{}, []string{"day of week: 2-6 counts from 0, which is Sunday, as cron does; Quartz counts from 1: write names"}},
		{"0 12 * * 2#1", Options{}, []string{"day of week: 2#1 counts from 0"}},
		{"0 12 ? * 6L", Options{}, []string{"day of week: 6L counts from 0"}},
		{"0 12 ? * MON-FRI", Options{}, nil}, {"0 12 * * MON#2", Options{}, nil}, {"0 12 * * 1-5", Options{}, nil}, {"0 12 1-5/2 * *", Options{}, nil}, {"0 12 ? * *", Options{}, nil},
	} {
		rule, err := Parse(c.text, "Europe/Berlin", c.options)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		got := rule.Warnings(now)
		if len(got) != len(c.want) || !reflect.DeepEqual(got, rule.Warnings(now)) {
			t.Errorf("%q: %q", c.text, got)
			continue
		}
		for i, part := range c.want {
			if !strings.Contains(got[i], part) {
				t.Errorf("%q: %q, not %q", c.text, got[i], part)
			}
		}
	}
}
