package recurrence

import (
	"errors"
	"fmt"
	"strings"
)

// field describes one of the six fields.
type field struct {
	name     string
	min, max int
	size     int      // number of different values
	names    []string // accepted instead of numbers; the first means min
	star     string   // characters that mean all values
}

// The fields in the order of an expression with seconds.
const (
	secondField = iota
	minuteField
	hourField
	monthDayField
	monthField
	weekDayField
)

var fieldTable = [...]field{
	{name: "second", max: 59, size: 60, star: "*"},
	{name: "minute", max: 59, size: 60, star: "*"},
	{name: "hour", max: 23, size: 24, star: "*"},
	{name: "day of month", min: 1, max: 31, size: 31, star: "*?"},
	{name: "month", min: 1, max: 12, size: 12, star: "*", names: []string{
		"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{name: "day of week", max: 6, size: 7, star: "*?", names: []string{
		"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// begins reports whether the text of the field begins with a star.
func (f *field) begins(text string) bool { return strings.ContainsRune(f.star, rune(text[0])) }

// set reads a list of items. It passes every item that is not plain to special, which may be nil.
func (f *field) set(text string, special func(item string) (known bool, err error)) (uint64, error) {
	if text == "?" && f.begins(text) {
		return f.all(), nil
	}
	set := uint64(0)
	for item := range strings.SplitSeq(text, ",") {
		if special != nil {
			if known, err := special(item); known || err != nil {
				if err != nil {
					return 0, err
				}
				continue
			}
		}
		values, err := f.item(item)
		if err != nil {
			return 0, err
		}
		set |= values
	}
	return set, nil
}

func (f *field) all() uint64 { return 1<<(f.max+1) - 1<<f.min }

// item reads "*", "5" or "1-5", with or without "/step". A value with a step continues to the field's end.
func (f *field) item(text string) (uint64, error) {
	values, stepText, stepped := strings.Cut(text, "/")
	step := 1
	if stepped {
		var err error
		if step, err = f.step(stepText); err != nil {
			return 0, err
		}
	}
	if values == "*" {
		return f.span(f.min, f.max, step), nil
	}
	first, last, ranged := strings.Cut(values, "-")
	low, err := f.value(first)
	if err != nil {
		return 0, err
	}
	seven := low > f.max // 7 means Sunday: 0 as a single value or the start of a range, the day after Saturday as its end
	if seven {
		low = f.min
	}
	high := low
	if ranged {
		if high, err = f.value(last); err != nil {
			return 0, err
		}
		if seven && high > f.max {
			high = f.min
		}
	} else if stepped {
		high = f.max
	}
	return f.span(low, high, step), nil
}

// span returns the values from low to high by step. If low is above high, the range wraps.
func (f *field) span(low, high, step int) uint64 {
	if high < low {
		high += f.size
	}
	set := uint64(0)
	for n := low; n <= high; n += step {
		set |= 1 << ((n-f.min)%f.size + f.min)
	}
	return set
}

func (f *field) step(text string) (int, error) {
	step, ok := digits(text)
	switch {
	case !ok:
		return 0, fmt.Errorf("step %s is not a whole number", shown(text))
	case step == 0:
		return 0, errors.New("step 0 never moves on")
	case step > f.size:
		return 0, fmt.Errorf("step %s is larger than the field, which has %d values", shown(text), f.size)
	case len(text) > 2:
		return 0, fmt.Errorf("step %s has more than two digits", shown(text))
	}
	return step, nil
}

// value reads a number or a name. Day of week accepts 7 for Sunday.
func (f *field) value(text string) (int, error) {
	most := f.max
	if f == &fieldTable[weekDayField] {
		most = 7
	}
	if n, ok := digits(text); ok {
		if n < f.min || n > most {
			return 0, fmt.Errorf("%s is not within %d-%d", shown(text), f.min, most)
		}
		if len(text) > 2 {
			return 0, fmt.Errorf("%s has more than two digits", shown(text))
		}
		return n, nil
	}
	for i, name := range f.names {
		if strings.EqualFold(text, name) {
			return f.min + i, nil
		}
	}
	switch {
	case text == "":
		return 0, errors.New("a value is missing")
	case f.names != nil:
		return 0, fmt.Errorf("%s is neither a number within %d-%d nor a name of three letters", shown(text), f.min, most)
	}
	return 0, fmt.Errorf("%s is not a number within %d-%d", shown(text), f.min, most)
}

// digits reads a number of digits only, of any length. Past four digits it only reports that the number is large.
func digits(text string) (int, bool) {
	n := 0
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+int(c-'0'), 9999)
	}
	return n, text != ""
}

// specialMonthDay reads the items of the day of month that are not numbers: L (the last day), L-3 (three days before it), LW
// (the last weekday), 15W (the weekday nearest to the 15th, in the same month).
func (d *days) specialMonthDay(item string) (bool, error) {
	text := strings.ToUpper(item)
	f := &fieldTable[monthDayField]
	switch {
	case text == "L":
		d.fromLast |= 1
	case text == "LW":
		d.lastWeekday = true
	case strings.HasPrefix(text, "L-"):
		n, ok := digits(text[2:])
		if !ok || n < 1 || n > 30 || len(text) > 4 {
			return true, fmt.Errorf("%s is not L-1 to L-30", shown(item))
		}
		d.fromLast |= 1 << n
	case strings.HasSuffix(text, "W") && !strings.HasPrefix(text, "L"):
		n, err := f.value(text[:len(text)-1])
		if err != nil {
			return true, fmt.Errorf("%s is not a day followed by W: %w", shown(item), err)
		}
		d.nearest |= 1 << n
	case strings.ContainsAny(text, "LW#"):
		return true, fmt.Errorf("%s is none of L, L-3, LW and 15W; they stand alone in their place of a list", shown(item))
	default:
		return false, nil
	}
	return true, nil
}

// specialWeekDay reads the items of the day of week that are not plain days: 5L or FRIL (the month's last Friday), 5#2 or
// FRI#2 (its second).
func (d *days) specialWeekDay(item string) (bool, error) {
	text := strings.ToUpper(item)
	f := &fieldTable[weekDayField]
	if name, number, ok := strings.Cut(text, "#"); ok {
		weekDay, err := f.value(name)
		if err != nil {
			return true, err
		}
		k, ok := digits(number)
		if !ok || k < 1 || k > 5 || len(number) > 1 {
			return true, fmt.Errorf("%s: after # comes 1 to 5", shown(item))
		}
		d.nth[k] |= 1 << (weekDay % 7)
		return true, nil
	}
	if text == "L" {
		return true, errors.New("a lone L is ambiguous here; write SAT, or 6L for the month's last Saturday")
	}
	if name, ok := strings.CutSuffix(text, "L"); ok {
		weekDay, err := f.value(name)
		if err != nil {
			return true, fmt.Errorf("%s is not a day of the week followed by L: %w", shown(item), err)
		}
		d.lastOf |= 1 << (weekDay % 7)
		return true, nil
	}
	return false, nil
}
