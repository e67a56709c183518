package recurrence_test

import (
	"cmp"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core/recurrence"
)

// table is a period of time in one zone, checked instant by instant: every full minute or second on the zone's clock. It is
// the reference for the search. It shares only time's answer to "what is the offset at this instant" with it.
type table struct {
	from, to int64 // the requested period
	entries  []entry
	found    []due // result of the last wish; its memory is reused
	hours    []hour
	jumps    []leap
	firstDay int64
	dates    []date
}

type entry struct {
	at           int64
	second, pass uint8 // pass 1 or 2 of a repeated hour
	minute, hour uint8
	day          int32
}

// hour lists the entries of one hour of one day on the clock, so that a wish that excludes the hour can skip them all.
type hour struct {
	first, last int
	day         int32
	hour        uint8
}

// leap is a change of the clock.
type leap struct {
	at            int64
	before, after int64
}

const margin = 2 * 86400 // seconds around a table in which changes of the clock are searched

func makeTable(location *time.Location, from, to, unit int64) *table {
	t := &table{from: from, to: to, firstDay: from/86400 - 4, entries: make([]entry, 0, (to-from)/unit+10)}
	for day := t.firstDay; day <= to/86400+4; day++ {
		t.dates = append(t.dates, dateOf(day))
	}
	t.jumps = leaps(location, from-margin, to+margin)
	for i := 0; i <= len(t.jumps); i++ {
		begin, end, offset := from, to+1, offsetAt(location, from)
		if i < len(t.jumps) {
			end, offset = min(end, t.jumps[i].at), t.jumps[i].before
		}
		if i > 0 {
			begin, offset = max(begin, t.jumps[i-1].at), t.jumps[i-1].after
		}
		for at := begin; at < end; at++ {
			if wall := at + offset; wall%unit == 0 {
				t.add(at, wall)
				at += unit - 1
			}
		}
	}
	return t
}

func (t *table) add(at, wall int64) {
	day := wall / 86400
	for day*86400 > wall {
		day--
	}
	of := wall - day*86400
	e := entry{at: at, day: int32(day - t.firstDay), hour: uint8(of / 3600), minute: uint8(of / 60 % 60), second: uint8(of % 60)}
	for _, j := range t.jumps {
		back := j.before - j.after
		if back <= 0 || back >= 3*3600 {
			continue
		}
		if j.at-back <= at && at < j.at {
			e.pass = 1
		}
		if j.at <= at && at < j.at+back {
			e.pass = 2
		}
	}
	if n := len(t.hours); n == 0 || t.hours[n-1].day != e.day || t.hours[n-1].hour != e.hour {
		t.hours = append(t.hours, hour{first: len(t.entries), day: e.day, hour: e.hour})
	}
	t.hours[len(t.hours)-1].last = len(t.entries)
	t.entries = append(t.entries, e)
}

func offsetAt(location *time.Location, at int64) int64 {
	_, offset := time.Unix(at, 0).In(location).Zone()
	return int64(offset)
}

// leaps compares the offset every quarter of an hour, then finds the exact second of each change.
func leaps(location *time.Location, from, to int64) []leap {
	var found []leap
	for at, before := from, offsetAt(location, from); at < to; at += 900 {
		after := offsetAt(location, at+900)
		if before != after {
			low, high := at, at+900
			for high-low > 1 {
				if middle := (low + high) / 2; offsetAt(location, middle) == before {
					low = middle
				} else {
					high = middle
				}
			}
			found = append(found, leap{high, before, after})
		}
		before = after
	}
	return found
}

// due is one expected instant.
type due struct {
	at      int64
	dropped drop
}

// drop says whether and why an instant is left out.
type drop uint8

const (
	inGap drop = iota + 1
	inOverlap
)

func (d drop) reason() recurrence.Reason {
	return [...]recurrence.Reason{"", recurrence.ReasonDSTGap, recurrence.ReasonDSTOverlap}[d]
}

// expect returns the due instants of a wish from t.from (excluded) to t.to (included), with the rules of daylight saving
// applied instant by instant. The result is valid until the next call.
func (t *table) expect(w *wish, options recurrence.Options) []due {
	days := make([]bool, len(t.dates))
	for i, d := range t.dates {
		days[i] = w.onDate(d)
	}
	found := t.found[:0]
	for _, h := range t.hours {
		if !days[h.day] || !w.hour[h.hour] {
			continue
		}
		for _, e := range t.entries[h.first : h.last+1] {
			if !w.minute[e.minute] || !w.second[e.second] {
				continue
			}
			d := due{at: e.at}
			if w.fixed && (e.pass == 2 && options.DSTOverlap == recurrence.First || e.pass == 1 && options.DSTOverlap == recurrence.Last) {
				d.dropped = inOverlap
			}
			found = append(found, d)
		}
	}
	real := len(found)
	t.found = found
	if w.fixed {
		for _, j := range t.jumps {
			if gap := j.after - j.before; gap > 0 && gap < 3*3600 {
				found = append(found, t.madeUp(w, days, j, options.DSTGap)...)
			}
		}
	}
	if len(found) == real {
		return t.asked(found)
	}
	slices.SortStableFunc(found, func(a, b due) int { return cmp.Compare(a.at, b.at) })
	found = slices.CompactFunc(found, func(a, b due) bool { return a.at == b.at }) // the real match comes first
	return t.asked(found)
}

// asked removes instants outside the requested period.
func (t *table) asked(found []due) []due {
	return slices.DeleteFunc(found, func(d due) bool { return d.at <= t.from || d.at > t.to })
}

func (t *table) madeUp(w *wish, days []bool, j leap, policy recurrence.GapPolicy) []due {
	var found []due
	for wall := j.at + j.before; wall < j.at+j.after; wall++ {
		day := wall / 86400
		for day*86400 > wall {
			day--
		}
		of := wall - day*86400
		index := day - t.firstDay
		if index < 0 || index >= int64(len(days)) || !days[index] || !w.second[of%60] || !w.minute[of/60%60] || !w.hour[of/3600] {
			continue
		}
		switch policy {
		case recurrence.Shift:
			found = append(found, due{at: wall - j.before})
		case recurrence.SkipGap:
			return []due{{at: j.at, dropped: inGap}}
		default:
			return []due{{at: j.at}}
		}
	}
	return found
}
