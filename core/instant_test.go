package core

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestParseInstant(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-03-01T12:00:00Z": at, "2026-03-01t12:00:00z": at, "2026-03-01T12:00:00z": at, "2026-03-01t12:00:00Z": at,
		"2026-03-01T14:00:00+02:00": at, "2026-03-01t14:00:00.0+02:00": at, "2026-03-01T12:00:00-00:00": at, "2026-03-02T11:59:00+23:59": at,
		"2026-03-01T12:00:00.5Z": at.Add(time.Second / 2), "2026-03-01T12:00:00.123456789Z": at.Add(123456789),
		"2026-03-01T12:00:00." + strings.Repeat("0", 43) + "Z": at, "0000-01-01T00:00:00Z": time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), "2024-02-29T23:59:59Z": time.Date(2024, 2, 29, 23, 59, 59, 0, time.UTC),
	} {
		if got, rule := ParseInstant(text); rule != "" || !got.Equal(want) {
			t.Errorf("%s: %s, %q", text, got, rule)
		}
	}
	for _, text := range []string{
		"", "Z", "2026-03-01", "2026-03-01T12:00Z", "2026-03-01T12:00:00", "2026-03-01 12:00:00Z", "2026-03-01T2:00:00Z", "2026-03-01T12:00:00,5Z", "2026-03-01T12:00:00.Z",
		"2026-03-01T12:00:00+24:00", "2026-03-01T12:00:00+00:60", "2026-03-01T12:00:00+0100", "2026-03-01T12:00:00+1:00", "2026-03-01T12:00:00+01", "2026-03-01T24:00:00Z", "2026-02-29T12:00:00Z",
		"2026-13-01T12:00:00Z", "2026-00-01T12:00:00Z", "2026-03-01T12:60:00Z", "2026-03-01T12:00:61Z", "-2026-03-01T12:00:00Z", "12026-03-01T12:00:00Z", "2026-03-01T12:00:00Zz", "２026-03-01T12:00:00Z",
		"2026-03-01T12:00:00 01:00", "2026-03-01T12:00:00." + strings.Repeat("0", 44) + "Z", "2026-03-01T12:00:00−01:00",
	} {
		if got, rule := ParseInstant(text); rule != instantRule {
			t.Errorf("%q is taken as %s, %q", text, got, rule)
		}
	}
	for _, text := range []string{"2026-12-31T23:59:60Z", "2026-06-30t12:00:60.25+02:00"} {
		if _, rule := ParseInstant(text); rule != leapRule {
			t.Errorf("%q: %q", text, rule)
		}
	}
}

// FuzzParseInstant: what is taken is what the standard library takes, and comes back the same.
func FuzzParseInstant(f *testing.F) {
	f.Add("2026-03-01T12:00:00Z")
	f.Add("2026-03-01t12:00:00.25+23:59")
	f.Fuzz(func(t *testing.T, text string) {
		got, rule := ParseInstant(text)
		if rule != "" {
			return
		}
		want, err := time.Parse(time.RFC3339Nano, strings.ToUpper(text))
		if err != nil || !got.Equal(want) {
			t.Fatalf("%q: %s, the library reads %s, %v", text, got, want, err)
		}
		if again, rule := ParseInstant(got.Format(time.RFC3339Nano)); got.Year() > 0 && (rule != "" || !again.Equal(got)) {
			t.Fatalf("%q does not come back: %s, %q", text, again, rule)
		}
	})
}

func BenchmarkParseInstant(b *testing.B) {
	for b.Loop() {
		if _, rule := ParseInstant("2026-03-01T12:00:00.123456Z"); rule != "" {
			b.Fatal(rule)
		}
	}
}

func TestReadDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "0s": 0, "-1s": -time.Second, ".5s": 500 * time.Millisecond, "1.s": time.Second, "+2ms": 2 * time.Millisecond,
		"9999999h": math.MaxInt64, "-9999999h": math.MinInt64, "99999999999999999999s": math.MaxInt64,
	} {
		if got, ok := ReadDuration(text); !ok || got != want {
			t.Errorf("%s: %s, %t", text, got, ok)
		}
	}
	for _, text := range []string{"", "0", "+0", "-0", "5", "s", "1d", "1 s", "1S", "1h 30m", "--1s", "1e3s", "9999999"} {
		if got, ok := ReadDuration(text); ok {
			t.Errorf("%q is taken as %s", text, got)
		}
	}
}
