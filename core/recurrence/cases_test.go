package recurrence

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// row is one line of testdata: fire times that other programs computed by brute force.
type row struct {
	ID, Kind, Expr, TZ, From, Until string
	Want                            json.RawMessage
	Other                           []struct {
		Gap     GapPolicy       `json:"dst_gap"`
		Overlap RepeatPolicy    `json:"dst_overlap"`
		Want    json.RawMessage `json:"want"`
	} `json:"other_policies"`
}

func rows(t *testing.T, file string) []row {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var all []row
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestReportedCases(t *testing.T) {
	for file, want := range map[string]int{"cron.json": 52, "cron_random.json": 149} {
		all := rows(t, file)
		if len(all) != want {
			t.Errorf("%s has %d rows, not %d", file, len(all), want)
		}
		for _, c := range all {
			t.Run(c.ID, func(t *testing.T) {
				checkRow(t, c, Options{}, c.Want)
				for _, other := range c.Other {
					checkRow(t, c, Options{DSTGap: other.Gap, DSTOverlap: other.Overlap}, other.Want)
				}
			})
		}
	}
}

func checkRow(t *testing.T, c row, options Options, want json.RawMessage) {
	t.Helper()
	options.Anchor = time.Unix(0, 0)
	// If the schedule names no zone, the rows name UTC.
	zone := c.TZ
	if strings.Contains(c.Expr, "TZ=") {
		zone = ""
	}
	rule, err := Parse(c.Expr, zone, options)
	switch c.Kind {
	case "reject", "never":
		var field *FieldError
		if !errors.As(err, &field) || field.Field == "" || field.Message == "" {
			t.Errorf("%q was not refused with a field: %v", c.Expr, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	from := instant(t, c.From)
	if c.Kind == "count" {
		checkCount(t, rule, from, instant(t, c.Until), want)
		return
	}
	var times []string
	if err := json.Unmarshal(want, &times); err != nil {
		t.Fatal(err)
	}
	at := from
	for i, next := range times {
		got, ok := rule.Next(at)
		if text := strings.Replace(got.At.Format(time.RFC3339), "Z", "+00:00", 1); !ok || text != next {
			t.Fatalf("%s in %s, %s %s: occurrence %d after %s is %s, not %s", c.Expr, c.TZ, options.DSTGap, options.DSTOverlap, i+1, c.From, text, next)
		}
		if i > 0 {
			if back, ok := rule.Prev(got.At); !ok || !back.At.Equal(at) {
				t.Fatalf("before %s comes %s, not %s", got.At, back.At, at)
			}
		}
		at = got.At
	}
}

func checkCount(t *testing.T, rule *Rule, from, until time.Time, raw json.RawMessage) {
	t.Helper()
	var want int64
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for next, ok := rule.Next(from); ok && !next.At.After(until); next, ok = rule.Next(next.At) {
		n++
	}
	if counted := rule.Count(from, until); n != want || counted != want {
		t.Errorf("%d occurrences by Next, %d by Count, not %d", n, counted, want)
	}
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
