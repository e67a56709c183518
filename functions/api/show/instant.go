package show

import "time"

// TimeFormat is how times go out: RFC 3339 in UTC, always with microseconds.
const TimeFormat = "2006-01-02T15:04:05.000000Z07:00"

// The ends of what RFC 3339 has a form for. A time beyond them, which only SQL can have stored, goes out as the end, so that
// no reader of dates fails on it; out_of_range has what it is.
var (
	firstInstant = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	lastInstant  = time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)
)

// infiniteYear is behind the last year that a database keeps: what is there or later is its infinity.
const infiniteYear = 294_278

// AppendTime appends a time field, unless it has none.
func AppendTime(b []byte, name string, t time.Time) []byte {
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
	return append(t.UTC().AppendFormat(b, TimeFormat), '"')
}

// TimeField is a time of a document.
type TimeField struct {
	Name string
	Time time.Time
}

// AppendOutOfRange appends what those times are that go out as an end of the range; nothing where there is none.
func AppendOutOfRange(b []byte, fields ...TimeField) []byte {
	n := 0
	for _, f := range fields {
		if !f.Time.After(lastInstant) && !f.Time.Before(firstInstant) {
			continue
		}
		if n++; n == 1 {
			b = append(b, `,"out_of_range":{`...)
		} else {
			b = append(b, ',')
		}
		text := f.Time.UTC().Format(TimeFormat)
		switch {
		case f.Time.Year() >= infiniteYear:
			text = "infinity"
		case f.Time.Year() <= -infiniteYear:
			text = "-infinity"
		}
		b = append(AppendString(b, f.Name), ':')
		b = AppendString(b, text)
	}
	if n == 0 {
		return b
	}
	return append(b, '}')
}
