package recurrence

import (
	"errors"
	"fmt"
	"strings"
)

// specialMonthDay reads the items of the day of month that are no numbers: L (the last day), L-3 (three days
// before it), LW (the last weekday), 15W (the weekday nearest to the 15th, in the same month).
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

// specialWeekDay reads the items of the day of week that are no plain days: 5L or FRIL (the month's last
// Friday), 5#2 or FRI#2 (its second).
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
