package recurrence_test

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core/recurrence"
)

// TestDescriptionsSayOnWhichDays parses the sentence of each rule as a reader would, and compares it with the days on which
// the rule is due.
func TestDescriptionsSayOnWhichDays(t *testing.T) {
	monthDays := []string{"*", "?", "*/2", "*/1", "1-31", "1-31/1", "1-15,16-31", "13", "31", "1,15", "L", "L-1,L-3", "LW", "15W", "10-14,L", "20/5"}
	weekDays := []string{"*", "?", "*/3", "*/1", "0-6", "sun-sat", "1-7", "MON-FRI", "1", "5-1", "6,7", "FRI#2", "5L", "SUN,WED#1,SAT#5"}
	months := []string{"*", "2", "6-8", "JAN,DEC", "1-12"}
	rng := rand.New(rand.NewPCG(newSeed(t), 0))
	from, told := on(t, "2027-01-01T00:00:00Z"), 0
	for _, monthDay := range monthDays {
		for _, weekDay := range weekDays {
			text := "0 0 " + monthDay + " " + months[rng.IntN(len(months))] + " " + weekDay
			r, err := recurrence.Parse(text, "", recurrence.Options{})
			if err != nil {
				continue // both are ?, or the date never comes
			}
			told++
			sentence := strings.TrimSuffix(strings.TrimPrefix(r.Describe(), "At 00:00 "), ", UTC")
			for at := from; at.Year() < 2029; at = at.AddDate(0, 0, 1) {
				next, ok := r.Next(at.Add(-time.Nanosecond))
				if is := ok && next.At.Equal(at); is != saysDay(t, sentence, at) {
					t.Errorf("%s is %q, and %s is due: %t", text, sentence, at.Format("Mon "+time.DateOnly), is)
					break
				}
			}
		}
	}
	if told < 180 {
		t.Errorf("%d rules were looked at", told)
	}
}

// saysDay reports whether a sentence such as "on day 13 of every month, and also on Friday" includes a day.
func saysDay(t *testing.T, sentence string, at time.Time) bool {
	t.Helper()
	if text, months, ok := strings.Cut(sentence, " in "); ok {
		sentence = text
		if !strings.Contains(months, at.Month().String()) {
			return false
		}
	}
	if sentence == "every day" {
		return true
	}
	sentence = strings.TrimPrefix(sentence, "on ")
	if a, b, ok := strings.Cut(sentence, ", and also on "); ok {
		return saysDay(t, a, at) || saysDay(t, b, at)
	}
	if a, b, ok := strings.Cut(sentence, " if it is also "); ok {
		return saysDay(t, a, at) && saysDay(t, b, at)
	}
	for part := range strings.SplitSeq(strings.NewReplacer(", ", "|", " and ", "|", " or ", "|").Replace(strings.TrimSuffix(sentence, " of every month")), "|") {
		if saysPart(t, part, at) {
			return true
		}
	}
	return false
}

var (
	dayNumbers  = regexp.MustCompile(`^(?:days? )?([0-9]+)(?: to ([0-9]+))?$`)
	daysToLast  = regexp.MustCompile(`^the day ([0-9]+) days before the last$`)
	nearestTo   = regexp.MustCompile(`^the weekday nearest to day ([0-9]+)$`)
	weekOfMonth = regexp.MustCompile(`^the (first|second|third|fourth|fifth|last) ([A-Z][a-z]+) of the month$`)
)

// saysPart reports whether one item of a list of days includes a day.
func saysPart(t *testing.T, part string, at time.Time) bool {
	t.Helper()
	last := time.Date(at.Year(), at.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%q: %v", part, err)
		}
		return n
	}
	switch m := []string(nil); {
	case part == "Monday to Friday":
		return at.Weekday() != time.Saturday && at.Weekday() != time.Sunday
	case part == "the last day":
		return at.Day() == last
	case part == "the day before the last":
		return at.Day() == last-1
	case part == "the last weekday":
		return at.Day() == nearestWeekday(at, last, last)
	case regexpInto(&m, dayNumbers, part):
		if m[2] == "" {
			return at.Day() == number(m[1])
		}
		return number(m[1]) <= at.Day() && at.Day() <= number(m[2])
	case regexpInto(&m, daysToLast, part):
		return at.Day() == last-number(m[1])
	case regexpInto(&m, nearestTo, part):
		return number(m[1]) <= last && at.Day() == nearestWeekday(at, number(m[1]), last)
	case regexpInto(&m, weekOfMonth, part):
		if m[1] == "last" {
			return at.Weekday().String() == m[2] && at.Day() > last-7
		}
		return at.Weekday().String() == m[2] && m[1] == []string{"first", "second", "third", "fourth", "fifth"}[(at.Day()-1)/7]
	}
	for n := range time.Saturday + 1 {
		if part == n.String() {
			return at.Weekday() == n
		}
	}
	t.Fatalf("%q is not a part that a reader would understand", part)
	return false
}

func regexpInto(m *[]string, pattern *regexp.Regexp, text string) bool {
	*m = pattern.FindStringSubmatch(text)
	return *m != nil
}

// nearestWeekday is the day from Monday to Friday of at's month that is nearest to n.
func nearestWeekday(at time.Time, n, last int) int {
	for _, by := range []int{0, -1, 1, -2, 2} {
		if day := n + by; day >= 1 && day <= last {
			if of := time.Date(at.Year(), at.Month(), day, 0, 0, 0, 0, time.UTC).Weekday(); of != time.Saturday && of != time.Sunday {
				return day
			}
		}
	}
	return 0
}
