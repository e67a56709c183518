package recurrence

import (
	"testing"
	"time"
)

// hard are rules that are expensive to search.
var hard = []string{
	"30 2 8-14 3 */7",        // in the gap of America/New_York every year
	"0 0 2 8-14 3 */7",       // the same with seconds
	"0-59 0-59 2 8-14 3 */7", // thousands of matches in each gap
	"30 2 25-31 3 */7",       // in the gap of Europe/Berlin
	"30 2 8-14 3 SUN#2",      // often, except for the gap
	"0 0 29 2 */7",           // every 28 or 40 years
	"0 0 29 2 ?",
	"0 0 31W 2-11/9 MON#5",
	"0 0 L-30 * */7",
	"0 0 1W 1 SAT#1",
	"0 0 31 12 */7",
	"59 59 23 31 12 ?",
	"* * * * * *",
	"0-59 0-59 0-23 * * *",
	"0 0 1 1 *",
}

func TestWorkIsBounded(t *testing.T) {
	most := 0
	check := func(rule *Rule, steps, limit int) {
		most = max(most, steps)
		if steps > limit {
			t.Errorf("%d steps for %s in %s, more than %d", steps, rule, rule.ZoneName(), limit)
		}
	}
	var zones Cache
	for _, text := range hard {
		for _, name := range []string{"America/New_York", "Europe/Berlin", "Africa/Casablanca", "Pacific/Apia", "Australia/Lord_Howe", "Antarctica/Troll", "Asia/Gaza", "UTC"} {
			for _, gap := range []GapPolicy{RunAtTransition, Shift, SkipGap} {
				rule, err := Parse(text, name, Options{DSTGap: gap, Cache: &zones})
				if err != nil {
					continue // a date that never comes
				}
				for year := MinYear - 1; year <= MaxYear+1; year += 25 {
					from, steps := time.Date(year, 3, 30, 0, 0, 0, 0, time.UTC), 0
					rule.nextAt(rule.floor(from), false, &steps)
					check(rule, steps, MaxSteps)
					steps = 0
					rule.prevAt(rule.floor(from), &steps)
					check(rule, steps, MaxSteps)
				}
			}
		}
	}
	t.Logf("at most %d steps", most)
	if most < 600 {
		t.Errorf("no search took more than %d steps: the hard rules are not hard", most)
	}
}

// BenchmarkWorstNext searches a rule whose every match is in a skipped gap.
func BenchmarkWorstNext(b *testing.B) {
	for _, text := range hard {
		rule, err := Parse(text, "America/New_York", Options{DSTGap: SkipGap})
		if err != nil {
			continue
		}
		from := time.Date(2007, 4, 1, 0, 0, 0, 0, time.UTC) // today's American rule is valid from here on
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				rule.Next(from)
			}
		})
	}
}

func BenchmarkNext(b *testing.B) {
	rule, err := Parse("30 2 * * *", "Europe/Berlin", Options{})
	if err != nil {
		b.Fatal(err)
	}
	from := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	for b.Loop() {
		rule.Next(from)
	}
}

func BenchmarkParse(b *testing.B) {
	for name, cache := range map[string]*Cache{"kept": {}, "parsed anew": nil} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Parse("30 2 * * MON-FRI", "Europe/Berlin", Options{Cache: cache}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
