package recurrence

import (
	"math/bits"
	"time"
)

const day = 86400 // seconds

// fields is an expression as sets: bit n of a set stands for the value n.
type fields struct {
	second, minute, hour, month uint64
	days                        days

	// fixed: none of second, minute and hour begins with a star. Only then do gaps get made-up runs and overlaps hold runs
	// back.
	fixed bool
}

// days holds the two fields for the day. If either begins with * or ?, both must match; otherwise one match is enough.
type days struct {
	monthDay    uint64    // 1 ... 31
	fromLast    uint64    // bit n: n days before the month's last
	nearest     uint64    // bit n: the weekday (Monday to Friday) nearest to day n, in the same month
	lastWeekday bool      // the month's last day from Monday to Friday
	weekDay     uint64    // 0 is Sunday
	lastOf      uint64    // bit n: the month's last weekday n
	nth         [6]uint64 // nth[k], bit n: the month's k-th weekday n

	monthDayStar, weekDayStar bool
}

// month holds the facts about a calendar month that matching days needs.
type month struct {
	first   int64 // days from 1970-01-01 to its first day
	length  int
	weekDay int // of its first day, 0 is Sunday
}

func monthAt(year int, number time.Month) month {
	first := daysTo(year, number)
	next := daysTo(year, number+1)
	return month{first: first, length: int(next - first), weekDay: int((first%7 + 11) % 7)} // 1970 began on a Thursday
}

// daysTo returns the number of days from 1970-01-01 to the first of a month, for years from 1 on. Month 13 is the next
// year's first. Years are counted from March, so that the leap day is a year's last day.
func daysTo(year int, number time.Month) int64 {
	y, m := int64(year), int64(number)-3
	if m < 0 {
		y, m = y-1, m+12
	}
	return y*365 + y/4 - y/100 + y/400 + (153*m+2)/5 - 719468
}

// matches returns the days of m that match, bit n for day n.
func (d *days) matches(m month) uint64 {
	byMonth, byWeek := d.byMonthDay(m), d.byWeekDay(m)
	if d.monthDayStar || d.weekDayStar {
		return byMonth & byWeek
	}
	return byMonth | byWeek
}

func (d *days) byMonthDay(m month) uint64 {
	found := d.monthDay & allDays(m)
	for set := d.fromLast; set != 0; set &= set - 1 {
		if n := m.length - bits.TrailingZeros64(set); n >= 1 {
			found |= 1 << n
		}
	}
	for set := d.nearest; set != 0; set &= set - 1 {
		if n := bits.TrailingZeros64(set); n <= m.length {
			found |= 1 << m.nearestWeekday(n)
		}
	}
	if d.lastWeekday {
		found |= 1 << m.nearestWeekday(m.length)
	}
	return found
}

func (d *days) byWeekDay(m month) uint64 {
	found := spread(d.weekDay, m) & allDays(m)
	if d.lastOf != 0 {
		found |= spread(d.lastOf, m) & allDays(m) &^ (1<<(m.length-6) - 1)
	}
	for k := 1; k <= 5; k++ {
		if d.nth[k] != 0 {
			week := uint64(0x7f) << (7*k - 6) // days 7k-6 to 7k
			found |= spread(d.nth[k], m) & allDays(m) & week
		}
	}
	return found
}

func allDays(m month) uint64 { return 1<<(m.length+1) - 2 }

// spread turns days of the week into days of the month; some bits lie past the month's end.
func spread(weekDays uint64, m month) uint64 {
	week := (weekDays>>m.weekDay | weekDays<<(7-m.weekDay)) & 0x7f
	return (week | week<<7 | week<<14 | week<<21 | week<<28) << 1
}

// nearestWeekday returns the day from Monday to Friday nearest to day n, in the same month.
func (m month) nearestWeekday(n int) int {
	switch (m.weekDay + n - 1) % 7 {
	case int(time.Saturday):
		if n == 1 {
			return 3
		}
		return n - 1
	case int(time.Sunday):
		if n == m.length {
			return n - 2
		}
		return n + 1
	}
	return n
}

// exists reports whether any day of any year matches. It checks the fourteen kinds of years, which recur for ever.
func (f *fields) exists() bool {
	for year := 2000; year < 2028; year++ {
		for number := time.January; number <= time.December; number++ {
			if f.month>>number&1 != 0 && f.days.matches(monthAt(year, number)) != 0 {
				return true
			}
		}
	}
	return false
}
