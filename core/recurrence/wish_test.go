package recurrence_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// wish is an expression together with its meaning, which its generator knows without parsing.
type wish struct {
	text                        string
	seconds                     bool // six fields
	second, minute, hour, month [64]bool
	monthDay, weekDay           []func(date) bool // one must match
	both                        bool              // day of month and day of week must both match
	fixed                       bool
}

type date struct {
	year    int
	month   time.Month
	day     int
	weekDay int
	length  int // of the month
}

func dateOf(dayNumber int64) date {
	t := time.Unix(dayNumber*86400, 0).UTC()
	return date{t.Year(), t.Month(), t.Day(), int(t.Weekday()), time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()}
}

func (w *wish) onDate(d date) bool {
	if !w.month[d.month] {
		return false
	}
	a, b := anyOf(w.monthDay, d), anyOf(w.weekDay, d)
	if w.both {
		return a && b
	}
	return a || b
}

func anyOf(checks []func(date) bool, d date) bool {
	for _, check := range checks {
		if check(d) {
			return true
		}
	}
	return false
}

// everHappens checks every day of the 28 years after which the calendar repeats.
func (w *wish) everHappens() bool {
	for n := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / 86400; n < 365*30+7+10227; n++ {
		if w.onDate(dateOf(n)) {
			return true
		}
	}
	return false
}

var monthNames = strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")
var weekDayNames = strings.Fields("sun mon tue wed thu fri sat")

// makeWish makes a random expression. Most are due now and then, usually in the small hours.
func makeWish(rng *rand.Rand, seconds bool) *wish {
	w := &wish{seconds: seconds}
	var texts []string
	if seconds {
		texts = append(texts, plain(rng, 0, 59, 0.15, &w.second))
	} else {
		w.second[0] = true
	}
	texts = append(texts, plain(rng, 0, 59, 0.15, &w.minute))
	if rng.IntN(3) == 0 {
		h := rng.IntN(4)
		w.hour[h] = true
		texts = append(texts, fmt.Sprint(h))
	} else {
		texts = append(texts, plain(rng, 0, 23, 0.25, &w.hour))
	}
	days := makeMonthDay(rng, w)
	month := "*"
	if rng.IntN(4) == 0 {
		month = plain(rng, 1, 12, 0.2, &w.month)
		for i, name := range monthNames {
			if month == fmt.Sprint(i+1) && rng.IntN(2) == 0 {
				month = mixCase(rng, name)
			}
		}
	} else {
		for i := 1; i <= 12; i++ {
			w.month[i] = true
		}
	}
	weekDays := makeWeekDay(rng, w)
	texts = append(texts, days, month, weekDays)
	w.text = strings.Join(texts, " ")
	w.both = strings.ContainsAny(days[:1]+weekDays[:1], "*?")
	w.fixed = true
	for _, text := range texts[:len(texts)-3] {
		w.fixed = w.fixed && text[0] != '*'
	}
	return w
}

// plain makes a random field of numbers.
func plain(rng *rand.Rand, low, high int, stars float64, set *[64]bool) string {
	if rng.Float64() < stars {
		mark(set, low, high, low, high, 1)
		return "*"
	}
	var items []string
	for range 1 + rng.IntN(3) {
		a, b, step := low+rng.IntN(high-low+1), low+rng.IntN(high-low+1), 1+rng.IntN(high-low+1)
		switch rng.IntN(8) {
		case 0:
			mark(set, low, high, low, high, step)
			items = append(items, fmt.Sprintf("*/%d", step))
		case 1:
			mark(set, low, high, a, high, step)
			items = append(items, fmt.Sprintf("%d/%d", a, step))
		case 2:
			mark(set, low, high, a, b, step)
			items = append(items, fmt.Sprintf("%d-%d/%d", a, b, step))
		case 3:
			mark(set, low, high, a, b, 1)
			items = append(items, fmt.Sprintf("%02d-%d", a, b))
		default:
			set[a] = true
			items = append(items, fmt.Sprint(a))
		}
	}
	return strings.Join(items, ",")
}

// mark steps from one value to another, past the end if necessary, and marks each step-th value.
func mark(set *[64]bool, low, high, from, to, step int) {
	for n, at := 0, from; ; n++ {
		if n%step == 0 {
			set[at] = true
		}
		if at == to {
			return
		}
		if at++; at > high {
			at = low
		}
	}
}

func makeMonthDay(rng *rand.Rand, w *wish) string {
	always := func(date) bool { return true }
	switch rng.IntN(10) {
	case 0:
		w.monthDay = append(w.monthDay, func(d date) bool { return d.day == d.length })
		return "L"
	case 1:
		n := 1 + rng.IntN(12)
		w.monthDay = append(w.monthDay, func(d date) bool { return d.day == d.length-n })
		return fmt.Sprintf("l-%d", n)
	case 2:
		w.monthDay = append(w.monthDay, func(d date) bool { return d.day == nearestWorkday(d, d.length) })
		return "LW"
	case 3:
		n, m := 1+rng.IntN(31), 1+rng.IntN(31)
		w.monthDay = append(w.monthDay, func(d date) bool {
			return d.day == m || n <= d.length && d.day == nearestWorkday(d, n)
		})
		return fmt.Sprintf("%dW,%d", n, m)
	case 4, 5, 6:
		var set [64]bool
		text := plain(rng, 1, 31, 0, &set)
		w.monthDay = append(w.monthDay, func(d date) bool { return set[d.day] })
		return text
	}
	w.monthDay = append(w.monthDay, always)
	return []string{"*", "?"}[rng.IntN(2)]
}

// nearestWorkday tries every day of the month.
func nearestWorkday(d date, n int) int {
	best, distance := 0, 99
	for day := 1; day <= d.length; day++ {
		if on := (d.weekDay + day - d.day + 70) % 7; on == 0 || on == 6 {
			continue
		}
		if away := max(day-n, n-day); away < distance {
			best, distance = day, away
		}
	}
	return best
}

func makeWeekDay(rng *rand.Rand, w *wish) string {
	n := rng.IntN(7)
	name := fmt.Sprint(n)
	switch {
	case rng.IntN(2) == 0:
		name = mixCase(rng, weekDayNames[n])
	case n == 0 && rng.IntN(2) == 0:
		name = "7"
	}
	switch rng.IntN(10) {
	case 0:
		w.weekDay = append(w.weekDay, func(d date) bool { return d.weekDay == n && d.day > d.length-7 })
		return name + "L"
	case 1:
		k := 1 + rng.IntN(5)
		w.weekDay = append(w.weekDay, func(d date) bool { return d.weekDay == n && (d.day+6)/7 == k })
		return fmt.Sprintf("%s#%d", name, k)
	case 2:
		w.weekDay = append(w.weekDay, func(d date) bool { return d.weekDay == n })
		return name
	case 3:
		to := rng.IntN(7)
		var set [64]bool
		mark(&set, 0, 6, n, to, 1)
		w.weekDay = append(w.weekDay, func(d date) bool { return set[d.weekDay] })
		return fmt.Sprintf("%s-%d", name, to)
	case 4:
		var set [64]bool
		text := plain(rng, 0, 6, 0, &set)
		w.weekDay = append(w.weekDay, func(d date) bool { return set[d.weekDay] })
		return text
	}
	w.weekDay = append(w.weekDay, func(date) bool { return true })
	return "*"
}

func mixCase(rng *rand.Rand, name string) string {
	text := []byte(name)
	for i := range text {
		if rng.IntN(2) == 0 {
			text[i] -= 'a' - 'A'
		}
	}
	return string(text)
}
