package api

import "time"

// timeFormat is how times go out: RFC 3339 in UTC, always with microseconds.
const timeFormat = "2006-01-02T15:04:05.000000Z07:00"

// The ends of what RFC 3339 has a form for. A time beyond them, which only SQL can have stored, goes out as the end, so that
// no reader of dates fails on it; out_of_range has what it is.
var (
	firstInstant = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	lastInstant  = time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)
)

// infiniteYear is behind the last year that a database keeps: what is there or later is its infinity.
const infiniteYear = 294_278

// appendTime appends a time field, unless it has none.
func appendTime(b []byte, name string, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":"`...)
	switch {
	case t.After(lastInstant):
		t = lastInstant
	case t.Before(firstInstant):
		t = firstInstant
	}
	return append(t.UTC().AppendFormat(b, timeFormat), '"')
}

// timeField is a time of a document.
type timeField struct {
	name string
	time time.Time
}

// appendOutOfRange appends what those times are that go out as an end of the range; nothing where there is none.
func appendOutOfRange(b []byte, fields ...timeField) []byte {
	n := 0
	for _, f := range fields {
		if !f.time.After(lastInstant) && !f.time.Before(firstInstant) {
			continue
		}
		if n++; n == 1 {
			b = append(b, `,"out_of_range":{`...)
		} else {
			b = append(b, ',')
		}
		text := f.time.UTC().Format(timeFormat)
		switch {
		case f.time.Year() >= infiniteYear:
			text = "infinity"
		case f.time.Year() <= -infiniteYear:
			text = "-infinity"
		}
		b = append(appendString(b, f.name), ':')
		b = appendString(b, text)
	}
	if n == 0 {
		return b
	}
	return append(b, '}')
}
