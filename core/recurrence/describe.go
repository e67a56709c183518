package recurrence

import (
	"fmt"
	"math/bits"
	"strings"
	"time"
)

// Describe says in plain English when the rule is due: "At 02:30 every day, Europe/Berlin".
func (r *Rule) Describe() string {
	var text string
	if r.every > 0 {
		text = "Every " + duration(r.every) + ", counted from " + r.time(r.anchor).Format(time.RFC3339Nano)
	} else {
		text = r.fields.describeTime() + " " + r.fields.describeDate() + ", " + r.zone.name
	}
	if !r.start.IsZero() && r.every == 0 {
		text += ", from " + r.start.In(r.zone.location).Format(time.RFC3339)
	}
	if !r.end.IsZero() {
		text += ", until before " + r.end.In(r.zone.location).Format(time.RFC3339)
	}
	return text
}

// duration writes d in words if it is a whole number of one unit ("90 seconds"), otherwise as Go does.
func duration(d time.Duration) string {
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}} {
		if n := int64(d / unit.size); d%unit.size == 0 && (n == 1 || n > 1 && (n <= 90 || unit.size == time.Second)) {
			if n == 1 {
				return unit.name
			}
			return fmt.Sprintf("%d %ss", n, unit.name)
		}
	}
	return d.String()
}

const (
	everySixty = 1<<60 - 1
	everyHour  = 1<<24 - 1
)

// describeTime describes the times on a matching day.
func (f *fields) describeTime() string {
	if times := f.times(); times != nil {
		return "At " + list(times, "and")
	}
	var parts []string
	switch {
	case f.second == 1:
	case f.second == everySixty:
		parts = append(parts, "every second")
	default:
		parts = append(parts, each(f.second, "second", 60))
		if f.minute == everySixty && stepOf(f.second, 60) == 0 {
			parts = append(parts, "of every minute")
		}
	}
	switch {
	case f.minute == everySixty && len(parts) > 0:
	case f.minute == everySixty:
		parts = append(parts, "every minute")
	case f.minute == 1 && f.second == 1 && f.hour == everyHour:
		return "Every hour, on the hour,"
	case f.minute == 1 && f.second == 1 && stepOf(f.hour, 24) > 0:
		return fmt.Sprintf("Every %d hours, on the hour from 00:00,", stepOf(f.hour, 24))
	default:
		parts = append(parts, each(f.minute, "minute", 60))
	}
	if f.hour == everyHour {
		if f.minute != everySixty && stepOf(f.minute, 60) == 0 {
			parts = append(parts, "every hour")
		}
	} else {
		parts = append(parts, "in hour"+plural(f.hour)+" "+list(numbers(f.hour, "%02d"), "and"))
	}
	text := strings.Join(parts, " ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// times returns the times of day if there are few.
func (f *fields) times() []string {
	const most = 4
	if bits.OnesCount64(f.hour)*bits.OnesCount64(f.minute)*bits.OnesCount64(f.second) > most {
		return nil
	}
	var found []string
	for second, ok := f.nextSecond(0); ok && second < day; second, ok = f.nextSecond(second + 1) {
		text := fmt.Sprintf("%02d:%02d", second/3600, second/60%60)
		if f.second != 1 {
			text += fmt.Sprintf(":%02d", second%60)
		}
		found = append(found, text)
		if second == day-1 {
			break
		}
	}
	return found
}

// describeDate describes the matching days.
func (f *fields) describeDate() string {
	byMonth, byWeek := f.days.describeMonthDays(), f.days.describeWeekDays()
	if f.days.everyDay() {
		byMonth, byWeek = "", ""
	}
	everyMonth := f.month == fieldTable[monthField].all()
	if byMonth != "" && everyMonth {
		byMonth += " of every month"
	}
	var text string
	switch {
	case byMonth == "" && byWeek == "":
		text = "every day"
	case byMonth == "":
		text = "on " + byWeek
	case byWeek == "":
		text = "on " + byMonth
	case f.days.monthDayStar || f.days.weekDayStar:
		text = "on " + byMonth + " if it is also " + byWeek
	default:
		text = "on " + byMonth + ", and also on " + byWeek
	}
	if !everyMonth {
		text += " in " + list(names(f.month, 12, func(n int) string { return time.Month(n).String() }), "and")
	}
	return text
}

// everyDay reports whether each day matches. If one field is enough, one of them must have all of its values.
func (d *days) everyDay() bool {
	byMonth, byWeek := d.describeMonthDays() == "", d.describeWeekDays() == ""
	if d.monthDayStar || d.weekDayStar {
		return byMonth && byWeek
	}
	return byMonth || byWeek
}

// describeMonthDays returns nothing if the day of month restricts nothing.
func (d *days) describeMonthDays() string {
	if d.monthDay == fieldTable[monthDayField].all() {
		return ""
	}
	var parts []string
	if d.monthDay != 0 {
		parts = append(parts, "day"+plural(d.monthDay)+" "+list(numbers(d.monthDay, "%d"), "and"))
	}
	for n := range 32 {
		switch {
		case d.fromLast>>n&1 == 0:
		case n == 0:
			parts = append(parts, "the last day")
		case n == 1:
			parts = append(parts, "the day before the last")
		default:
			parts = append(parts, fmt.Sprintf("the day %d days before the last", n))
		}
	}
	for n := range 32 {
		if d.nearest>>n&1 != 0 {
			parts = append(parts, fmt.Sprintf("the weekday nearest to day %d", n))
		}
	}
	if d.lastWeekday {
		parts = append(parts, "the last weekday")
	}
	return list(parts, "and")
}

// describeWeekDays returns nothing if the day of week restricts nothing.
func (d *days) describeWeekDays() string {
	if d.weekDay == fieldTable[weekDayField].all() {
		return ""
	}
	name := func(n int) string { return time.Weekday(n).String() }
	var parts []string
	if d.weekDay != 0 {
		const workdays = 0b0111110
		if d.weekDay == workdays {
			parts = append(parts, "Monday to Friday")
		} else {
			parts = append(parts, names(d.weekDay, 7, name)...)
		}
	}
	for k, ordinal := range [...]string{"", "first", "second", "third", "fourth", "fifth"} {
		for n := range 7 {
			if d.nth[k]>>n&1 != 0 {
				parts = append(parts, "the "+ordinal+" "+name(n)+" of the month")
			}
		}
	}
	for n := range 7 {
		if d.lastOf>>n&1 != 0 {
			parts = append(parts, "the last "+name(n)+" of the month")
		}
	}
	return list(parts, "or")
}
