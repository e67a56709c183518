package recurrence

import (
	"math/bits"
	"time"
)

// The functions here know no zones. A wall time is the number of seconds from 1970-01-01 00:00:00 to the time a clock shows,
// on a calendar without jumps. steps counts the months that they check.

// next returns the first wall time in [from, end) that matches.
func (f *fields) next(from, end int64, steps *int) (int64, bool) {
	if from >= end {
		return 0, false
	}
	midnight := floor(from, day)
	year, number, today := time.Unix(midnight, 0).UTC().Date()
	if f.month>>number&1 != 0 {
		m := monthAt(year, number)
		*steps++
		found := f.days.matches(m)
		if found>>today&1 != 0 {
			if second, ok := f.nextSecond(int(from - midnight)); ok {
				return within(midnight+int64(second), end)
			}
		}
		if later := found &^ (1<<(today+1) - 1); later != 0 {
			return within(f.firstOn(m, bits.TrailingZeros64(later)), end)
		}
	}
	for {
		year, number = after(year, number, f.month)
		m := monthAt(year, number)
		if m.first*day >= end {
			return 0, false
		}
		*steps++
		if found := f.days.matches(m); found != 0 {
			return within(f.firstOn(m, bits.TrailingZeros64(found)), end)
		}
	}
}

// last returns the last wall time in [begin, end) that matches.
func (f *fields) last(begin, end int64, steps *int) (int64, bool) {
	if begin >= end {
		return 0, false
	}
	midnight := floor(end-1, day)
	year, number, today := time.Unix(midnight, 0).UTC().Date()
	if f.month>>number&1 != 0 {
		m := monthAt(year, number)
		*steps++
		found := f.days.matches(m)
		if found>>today&1 != 0 {
			if second, ok := f.lastSecond(int(end - 1 - midnight)); ok {
				wall := midnight + int64(second)
				return wall, wall >= begin
			}
		}
		if earlier := found & (1<<today - 1); earlier != 0 {
			wall := f.lastOn(m, bits.Len64(earlier)-1)
			return wall, wall >= begin
		}
	}
	for {
		year, number = before(year, number, f.month)
		m := monthAt(year, number)
		if (m.first+int64(m.length))*day <= begin {
			return 0, false
		}
		*steps++
		if found := f.days.matches(m); found != 0 {
			wall := f.lastOn(m, bits.Len64(found)-1)
			return wall, wall >= begin
		}
	}
}

// count returns how many wall times in [from, end) match.
func (f *fields) count(from, end int64, steps *int) int64 {
	if from >= end {
		return 0
	}
	first, last := floor(from, day)/day, floor(end, day)/day
	if first == last {
		return f.countWithin(first, from-first*day, end-last*day, steps)
	}
	perDay := f.before(day)
	return f.countWithin(first, from-first*day, day, steps) +
		f.countDays(first+1, last, steps)*perDay +
		f.countWithin(last, 0, end-last*day, steps)
}

// countWithin returns how many seconds in [from, end) of one day match.
func (f *fields) countWithin(date, from, end int64, steps *int) int64 {
	if f.countDays(date, date+1, steps) == 0 {
		return 0
	}
	return f.before(end) - f.before(from)
}

// countDays returns how many days in [from, end) match, counted from 1970-01-01.
func (f *fields) countDays(from, end int64, steps *int) int64 {
	total := 0
	year, number, _ := time.Unix(from*day, 0).UTC().Date()
	for m := monthAt(year, number); m.first < end; m = monthAt(year, number) {
		if f.month>>number&1 != 0 {
			*steps++
			found := f.days.matches(m)
			if from > m.first {
				found = found >> (from - m.first + 1) << (from - m.first + 1)
			}
			if past := end - m.first + 1; past < 32 {
				found &= 1<<past - 1
			}
			total += bits.OnesCount64(found)
		}
		year, number = after(year, number, f.month)
	}
	return int64(total)
}

// before returns how many matching seconds of a day come before the given one.
func (f *fields) before(second int64) int64 {
	h, m, s := second/3600, second/60%60, second%60
	minutes, seconds := int64(bits.OnesCount64(f.minute)), int64(bits.OnesCount64(f.second))
	total := int64(bits.OnesCount64(f.hour&(1<<h-1))) * minutes * seconds
	if f.hour>>h&1 != 0 {
		total += int64(bits.OnesCount64(f.minute&(1<<m-1))) * seconds
		if f.minute>>m&1 != 0 {
			total += int64(bits.OnesCount64(f.second & (1<<s - 1)))
		}
	}
	return total
}

// nextSecond returns the first second of a day at or after the given one that matches.
func (f *fields) nextSecond(second int) (int, bool) {
	h, m, s := second/3600, second/60%60, second%60
	if f.hour>>h&1 != 0 {
		if f.minute>>m&1 != 0 {
			if later := f.second >> s << s; later != 0 {
				return h*3600 + m*60 + bits.TrailingZeros64(later), true
			}
		}
		if later := f.minute &^ (2<<m - 1); later != 0 {
			return h*3600 + bits.TrailingZeros64(later)*60 + bits.TrailingZeros64(f.second), true
		}
	}
	if later := f.hour &^ (2<<h - 1); later != 0 {
		return bits.TrailingZeros64(later)*3600 + bits.TrailingZeros64(f.minute)*60 + bits.TrailingZeros64(f.second), true
	}
	return 0, false
}

// lastSecond returns the last second of a day at or before the given one that matches.
func (f *fields) lastSecond(second int) (int, bool) {
	h, m, s := second/3600, second/60%60, second%60
	if f.hour>>h&1 != 0 {
		if f.minute>>m&1 != 0 {
			if earlier := f.second & (2<<s - 1); earlier != 0 {
				return h*3600 + m*60 + highest(earlier), true
			}
		}
		if earlier := f.minute & (1<<m - 1); earlier != 0 {
			return h*3600 + highest(earlier)*60 + highest(f.second), true
		}
	}
	if earlier := f.hour & (1<<h - 1); earlier != 0 {
		return highest(earlier)*3600 + highest(f.minute)*60 + highest(f.second), true
	}
	return 0, false
}

func (f *fields) firstOn(m month, n int) int64 {
	second, _ := f.nextSecond(0)
	return (m.first+int64(n)-1)*day + int64(second)
}

func (f *fields) lastOn(m month, n int) int64 {
	second, _ := f.lastSecond(day - 1)
	return (m.first+int64(n)-1)*day + int64(second)
}

// after returns the first month of the set after the given one.
func after(year int, number time.Month, set uint64) (int, time.Month) {
	if later := set &^ (2<<number - 1); later != 0 {
		return year, time.Month(bits.TrailingZeros64(later))
	}
	return year + 1, time.Month(bits.TrailingZeros64(set))
}

// before returns the last month of the set before the given one.
func before(year int, number time.Month, set uint64) (int, time.Month) {
	if earlier := set & (1<<number - 1); earlier != 0 {
		return year, time.Month(highest(earlier))
	}
	return year - 1, time.Month(highest(set))
}

func highest(set uint64) int { return bits.Len64(set) - 1 }

func within(wall, end int64) (int64, bool) { return wall, wall < end }

// floor returns the largest multiple of unit that is not above n.
func floor(n, unit int64) int64 {
	rest := n % unit
	if rest < 0 {
		rest += unit
	}
	return n - rest
}
