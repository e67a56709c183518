package recurrence

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// tail is the yearly rule for the time after a zone's list of changes: the footer of a TZif file.
type tail struct {
	standard, summer   int64 // offsets
	toSummer, fromThat yearly
	changes            bool // false: standard time for ever
}

// yearly is "the week-th weekDay of the month (5 is the last) at this second on the clock".
type yearly struct {
	month         time.Month
	week, weekDay int
	second        int64
}

var errTail = errors.New("a footer of zone data that is not understood")

// parseTail reads "CET-1CEST,M3.5.0,M10.5.0/3". Days given by their number in the year do not occur in the database and are
// not supported.
func parseTail(text string) (t tail, err error) {
	text = skipName(text)
	if t.standard, text, err = parseClock(text); err != nil {
		return t, err
	}
	t.standard = -t.standard // POSIX counts westward
	t.summer = t.standard + 3600
	if text == "" {
		return t, nil
	}
	text = skipName(text)
	if text != "" && text[0] != ',' {
		if t.summer, text, err = parseClock(text); err != nil {
			return t, err
		}
		t.summer = -t.summer
	}
	rules := strings.Split(text, ",")
	if len(rules) != 3 || rules[0] != "" {
		return t, errTail
	}
	if t.toSummer, err = parseYearly(rules[1]); err != nil {
		return t, err
	}
	t.fromThat, err = parseYearly(rules[2])
	t.changes = t.summer != t.standard
	return t, err
}

// skipName skips an abbreviation, "CET" or "<+03>".
func skipName(text string) string {
	if strings.HasPrefix(text, "<") {
		_, rest, _ := strings.Cut(text, ">")
		return rest
	}
	return strings.TrimLeft(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
}

// parseClock reads "-1", "5:30" or "50" at the beginning of the text, in seconds.
func parseClock(text string) (seconds int64, rest string, err error) {
	end := len(text) - len(strings.TrimLeft(text, "+-:0123456789"))
	sign, digits := int64(1), text[:end]
	if strings.HasPrefix(digits, "-") {
		sign = -1
	}
	parts := strings.Split(strings.TrimLeft(digits, "+-"), ":")
	for i, size := range []int64{3600, 60, 1} {
		if i < len(parts) {
			n, err := strconv.ParseInt(parts[i], 10, 32)
			if err != nil {
				return 0, "", errTail
			}
			seconds += sign * n * size
		}
	}
	return seconds, text[end:], nil
}

// parseYearly reads "M3.5.0/3".
func parseYearly(text string) (y yearly, err error) {
	date, clock, timed := strings.Cut(text, "/")
	y.second = 2 * 3600
	if timed {
		if y.second, clock, err = parseClock(clock); err != nil || clock != "" {
			return y, errTail
		}
	}
	parts := strings.Split(strings.TrimPrefix(date, "M"), ".")
	if len(parts) != 3 || date[0] != 'M' {
		return y, errTail
	}
	var numbers [3]int
	for i, part := range parts {
		if numbers[i], err = strconv.Atoi(part); err != nil {
			return y, errTail
		}
	}
	y.month, y.week, y.weekDay = time.Month(numbers[0]), numbers[1], numbers[2]
	if y.month < 1 || y.month > 12 || y.week < 1 || y.week > 5 || y.weekDay < 0 || y.weekDay > 6 {
		return y, errTail
	}
	return y, nil
}

// wall returns the wall time of the change in a year.
func (y yearly) wall(year int) int64 {
	m := monthAt(year, y.month)
	n := (y.weekDay-m.weekDay+7)%7 + 7*(y.week-1)
	if n >= m.length {
		n -= 7
	}
	return (m.first+int64(n))*day + y.second
}

// in returns the two changes of a year, in order.
func (t *tail) in(year int) [2]change {
	a := change{t.toSummer.wall(year) - t.standard, t.summer}
	b := change{t.fromThat.wall(year) - t.summer, t.standard}
	if b.at < a.at {
		return [2]change{b, a}
	}
	return [2]change{a, b}
}

// changesNear returns the changes of a year and its neighbours, in order.
func (t *tail) changesNear(year int) [6]change {
	a, b, c := t.in(year-1), t.in(year), t.in(year+1)
	return [6]change{a[0], a[1], b[0], b[1], c[0], c[1]}
}
