package recurrence

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestRefused: each error names the schedule's field, and its message the part and the reason.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ text, zone, field, message string }{
		{"", "", "cron", "5 fields, or 6"},
		{"   ", "", "cron", "5 fields, or 6"},
		{"* * * *", "", "cron", "it has 4"},
		{"* * * * * * *", "", "cron", "it has 7"},
		{"0 0 1 1 * 2026 UTC", "", "cron", "it has 7"},
		{"60 * * * *", "", "cron", `minute: "60" is not within 0-59`},
		{"60 * * * * *", "", "cron", `second: "60" is not within 0-59`},
		{"* 24 * * *", "", "cron", `hour: "24" is not within 0-23`},
		{"* * 0 * *", "", "cron", `day of month: "0" is not within 1-31`},
		{"* * 32 * *", "", "cron", `day of month: "32"`},
		{"* * * 0 *", "", "cron", `month: "0"`},
		{"* * * 13 *", "", "cron", `month: "13"`},
		{"* * * * 8", "", "cron", `day of week: "8" is not within 0-7`},
		{"-1 * * * *", "", "cron", "minute: a value is missing"},
		{"1- * * * *", "", "cron", "minute: a value is missing"},
		{"1-2-3 * * * *", "", "cron", `minute: "2-3"`},
		{"1,,2 * * * *", "", "cron", "minute: a value is missing"},
		{", * * * *", "", "cron", "minute: a value is missing"},
		{"1/2/3 * * * *", "", "cron", `minute: step "2/3"`},
		{"*/ * * * *", "", "cron", `minute: step ""`},
		{"*/-5 * * * *", "", "cron", `minute: step "-5"`},
		{"*/+5 * * * *", "", "cron", `minute: step "+5"`},
		{"*/0 * * * *", "", "cron", "minute: step 0"},
		{"*/61 * * * *", "", "cron", "minute: step \"61\" is larger than the field, which has 60"},
		{"* */25 * * *", "", "cron", "hour: step"},
		{"* * */32 * *", "", "cron", "day of month: step"},
		{"* * * */13 *", "", "cron", "month: step"},
		{"* * * * */8", "", "cron", "day of week: step"},
		{"*5 * * * *", "", "cron", `minute: "*5"`},
		{"** * * * *", "", "cron", `minute: "**"`},
		{"? * * * *", "", "cron", `minute: "?"`},
		{"* * ?/2 * *", "", "cron", `day of month: "?"`},
		{"* * ?,5 * *", "", "cron", `day of month: "?"`},
		{"005 * * * *", "", "cron", `minute: "005" has more than two digits`},
		{"0x5 * * * *", "", "cron", `minute: "0x5"`},
		{"5.0 * * * *", "", "cron", `minute: "5.0"`},
		{"1e1 * * * *", "", "cron", `minute: "1e1"`},
		{"99999999999999999999999999 * * * *", "", "cron", "minute:"},
		{"*/99999999999999999999999999 * * * *", "", "cron", "minute: step"},
		{"MON * * * *", "", "cron", `minute: "MON"`},
		{"* * * MON *", "", "cron", `month: "MON"`},
		{"* * * * JAN", "", "cron", `day of week: "JAN"`},
		{"* * * january *", "", "cron", `month: "january"`},
		{"* * * * mond", "", "cron", `day of week: "mond"`},
		{"* * * * L", "", "cron", "day of week: a lone L is ambiguous"},
		{"* * * * FRI-MON#2", "", "cron", "day of week:"},
		{"* * * * FRI#0", "", "cron", "day of week:"},
		{"* * * * FRI#6", "", "cron", "day of week:"},
		{"* * * * #1", "", "cron", "day of week:"},
		{"* * * * 8#1", "", "cron", "day of week:"},
		{"* * * * FRI#1/2", "", "cron", "day of week:"},
		{"* * L-0 * *", "", "cron", "day of month:"},
		{"* * L-31 * *", "", "cron", "day of month:"},
		{"* * L-3W * *", "", "cron", "day of month:"},
		{"* * 32W * *", "", "cron", "day of month:"},
		{"* * W * *", "", "cron", "day of month:"},
		{"* * 1-5W * *", "", "cron", "day of month:"},
		{"* * WL * *", "", "cron", "day of month:"},
		{"* * L/2 * *", "", "cron", "day of month:"},
		{"L * * * *", "", "cron", `minute: "L"`},
		{"0 0 30 2 *", "", "cron", "pause"},
		{"0 0 31 2,4,6,9,11 *", "", "cron", "no such date"},
		{"0 0 30 2 */2", "", "cron", "no such date"},
		{"0 0 31W 2 *", "", "cron", "no such date"},
		{"0 0 */31 2 MON#5", "", "cron", "no such date"},
		{"@reboot", "", "cron", `"@reboot" is none of`},
		{"@", "", "cron", "is none of"},
		{"@daily 5", "", "cron", `"5" is left over`},
		{"@every", "", "cron", "one duration"},
		{"@every 5m 3s", "", "cron", "one duration"},
		{"@every 0s", "", "cron", "at least 1s"},
		{"@every -5m", "", "cron", "at least 1s"},
		{"@every 999ms", "", "cron", "at least 1s"},
		{"@every 1.0000005s", "", "cron", "microseconds"},
		{"@every 5", "", "cron", "not a duration"},
		{"@every 1d", "", "cron", "not a duration"},
		{"@every 99999999h", "", "cron", "not a duration"},
		{"@every NaNs", "", "cron", "not a duration"},
		{"TZ=", "", "cron", "is missing"},
		{"TZ=UTC", "", "cron", "5 fields"},
		{"CRON_TZ=UTC", "", "cron", "5 fields"},
		{"TZ=UTC TZ=UTC * * * * *", "", "cron", "second"},
		{"tz=UTC * * * * *", "", "cron", "second"},
		{"TZ=Local * * * * *", "", "cron", `"Local" is no time zone`},
		{"TZ=../../etc/passwd * * * * *", "", "cron", "is no time zone"},
		{"TZ=europe/berlin * * * * *", "", "cron", "Europe/Berlin is"},
		{"TZ=UTC * * * * *", "Europe/Berlin", "time_zone", "another zone"},
		{"* * * * *", "Local", "time_zone", "is no time zone"},
		{"* * * * *", "europe/berlin", "time_zone", "Europe/Berlin is"},
		{"* * * * *", "Europe", "time_zone", "is no time zone"},
		{"* * * * *", "Europe/", "time_zone", "is no time zone"},
		{"* * * * *", "Europe/Berlin ", "time_zone", "is no time zone"},
		{"* * * * *", "+02:00", "time_zone", "is no time zone"},
		{"* * * * *", "Europe/Berlin\x00", "time_zone", "is no time zone"},
		{"*\t* * * *", "", "cron", "byte 2"},
		{"* * * * *\n", "", "cron", "byte 10"},
		{"* * * * *\x00", "", "cron", "byte 10"},
		{"\xff * * * *", "", "cron", "byte 1"},
		{"* * * * \u0661", "", "cron", "byte 9"},
		{"*\u00a0* * * *", "", "cron", "byte 2"},
		{"\u202e* * * * *", "", "cron", "byte 1"},
		{strings.Repeat("0,", 600) + "0 * * * *", "", "cron", "at most 1000"},
		{strings.Repeat("* ", 499), "", "cron", "it has 499"},
		{strings.Repeat("-", 990) + " * * * *", "", "cron", "minute:"},
	} {
		rule, err := Parse(c.text, c.zone, Options{Anchor: time.Unix(0, 0)})
		var field *FieldError
		if !errors.As(err, &field) || rule != nil {
			t.Errorf("%q in %q: accepted", c.text, c.zone)
			continue
		}
		if field.Field != c.field || !strings.Contains(field.Message, c.message) || len(err.Error()) > 300 {
			t.Errorf("%q in %q: %v", c.text, c.zone, err)
		}
	}
}

func TestEveryFaultIsNamed(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	_, err := Parse("* * * * 9", "Nowhere", Options{DSTGap: "later", DSTOverlap: "never", StartsAt: at, EndsAt: at, Anchor: time.Unix(1<<50, 0)})
	var all FieldErrors
	if !errors.As(err, &all) {
		t.Fatal(err)
	}
	var fields []string
	for _, f := range all {
		fields = append(fields, f.Field)
	}
	if got := strings.Join(fields, " "); got != "cron time_zone dst_gap dst_overlap anchor ends_at" {
		t.Errorf("faults in %s", got)
	}
}

// TestAccepted compares pairs of expressions that mean the same.
func TestAccepted(t *testing.T) {
	for text, same := range map[string]string{
		"  0   0 * * *  ":       "0 0 * * *",
		"00 09 01 01 *":         "0 9 1 1 *",
		"@yearly":               "0 0 1 1 *",
		"@Annually":             "0 0 1 1 *",
		"@monthly":              "0 0 1 * *",
		"@weekly":               "0 0 * * 7",
		"@daily":                "0 0 * * *",
		"@midnight":             "0 0 0 * * *",
		"@HOURLY":               "0 * * * *",
		"0 0 * * 7":             "0 0 * * SUN",
		"0 0 * * 5-7":           "0 0 * * 0,5,6",
		"0 0 * * FRI-MON":       "0 0 * * 0,1,5,6",
		"0 0 * * fri-SUN":       "0 0 * * 0,5,6",
		"0 0 * * 7-2":           "0 0 * * 0,1,2",
		"0 0 * * 7-7":           "0 0 * * 0",
		"0 0 * * 7-1/2":         "0 0 * * 0",
		"0 0 * * 0-7":           "0 0 * * 0-6",
		"0 0 * * 0-7/7":         "0 0 * * 0",
		"0 0 * * 6-2/2":         "0 0 * * 6,1",
		"0 0 * * 5/1":           "0 0 * * 5,6",
		"0 0 * * 7/2":           "0 0 * * 0,2,4,6",
		"0 22-2 * * *":          "0 22,23,0,1,2 * * *",
		"0 22-2/3 * * *":        "0 22,1 * * *",
		"50-10/10 * * * *":      "50,0,10 * * * *",
		"5/20 * * * *":          "5,25,45 * * * *",
		"0 0 28-3 * *":          "0 0 28,29,30,31,1,2,3 * *",
		"0 0 1 NOV-FEB *":       "0 0 1 11,12,1,2 *",
		"0 0 1 jAn,DEC *":       "0 0 1 1,12 *",
		"0 0 ? * MON":           "0 0 * * MON",
		"0 0 l * *":             "0 0 L * *",
		"0 0 * * 5L":            "0 0 * * friL",
		"0 0 * * 7#1":           "0 0 * * SUN#1",
		"0 0 1w * *":            "0 0 1W * *",
		"CRON_TZ=UTC 0 0 * * *": "0 0 * * *",
		"TZ=UTC @daily":         "0 0 * * *",
		"0 0 * * *,1":           "0 0 * * *",
	} {
		a, err := parseExpression(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		b, err := parseExpression(same)
		if err != nil {
			t.Errorf("%q: %v", same, err)
			continue
		}
		if x, y := *a.fields, *b.fields; x != y {
			x.days.monthDayStar, x.days.weekDayStar = y.days.monthDayStar, y.days.weekDayStar
			if x != y {
				t.Errorf("%q is %+v, but %q is %+v", text, x, same, y)
			}
		}
	}
}

func TestAllValuesWrittenOutFit(t *testing.T) {
	longest := func(low, high int) string {
		var items []string
		for n := low; n <= high; n++ {
			items = append(items, string(rune('0'+n/10))+string(rune('0'+n%10)))
		}
		return strings.Join(items, ",")
	}
	text := strings.Join([]string{longest(0, 59), longest(0, 59), longest(0, 23), longest(1, 31), longest(1, 12), longest(0, 7)}, " ")
	if rule, err := Parse(text, "", Options{}); err != nil || !rule.Fixed() {
		t.Errorf("%d bytes: %v", len(text), err)
	}
}

func TestRuleTellsWhatItIs(t *testing.T) {
	rule, err := Parse(" CRON_TZ=Europe/Berlin   30  2 * * MON ", "Europe/Berlin", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if rule.String() != "30 2 * * MON" || rule.ZoneName() != "Europe/Berlin" || !rule.Fixed() {
		t.Errorf("%q in %s", rule, rule.ZoneName())
	}
	if gap, overlap := rule.Choices(); gap != RunAtTransition || overlap != First {
		t.Errorf("the defaults are %s and %s", gap, overlap)
	}
	for _, text := range []string{"*/5 2 * * *", "5 * * * *", "* 5 2 * * *", "@every 1h", "@hourly"} {
		if rule, err := Parse(text, "", Options{Anchor: time.Unix(0, 0)}); err != nil || rule.Fixed() {
			t.Errorf("%s is fixed-time, %v", text, err)
		}
	}
}

// FuzzParse: every accepted expression can be searched within the bound, moves forward, and reads the same after it is
// written out again.
func FuzzParse(f *testing.F) {
	for _, text := range hard {
		f.Add(text, "America/New_York")
	}
	f.Add("CRON_TZ=Pacific/Apia 0 0 * * *", "")
	f.Add("@every 1h30m", "Europe/Berlin")
	f.Add("TZ=Australia/Lord_Howe\t0 2 L-3,15W * FRI#2,7L", "")
	anchor := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var zones Cache
	f.Fuzz(func(t *testing.T, text, zone string) {
		rule, err := Parse(text, zone, Options{Anchor: anchor, Cache: &zones})
		if err != nil {
			var field *FieldError
			if !errors.As(err, &field) || field.Message == "" {
				t.Fatalf("refused without a field: %v", err)
			}
			return
		}
		again, err := Parse(rule.String(), rule.ZoneName(), Options{Anchor: anchor, Cache: &zones})
		if err != nil {
			t.Fatalf("%q was accepted, %q is not: %v", text, rule, err)
		}
		steps := 0
		at := rule.floor(anchor)
		for range 5 {
			m, ok := rule.nextAt(at+1, true, &steps)
			if !ok {
				break
			}
			if n, ok := again.nextAt(at+1, true, &steps); !ok || n != m || m.at <= at {
				t.Fatalf("%q: after %d comes %+v, and %+v when it is written %q", text, at, m, n, again)
			}
			at = m.at
		}
		if steps > 10*MaxSteps {
			t.Fatalf("%d steps", steps)
		}
		if rule.Describe() == "" {
			t.Fatal("no description")
		}
		rule.Warnings(anchor)
	})
}
