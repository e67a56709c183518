package wire

import (
	"encoding/binary"
	"math"
	"time"
)

// Object ids of the built-in types that parameters may have.
const (
	oidBool             = 16
	oidBytea            = 17
	oidInt8             = 20
	oidInt2             = 21
	oidText             = 25
	oidJSON             = 114
	oidBoolArray        = 1000
	oidByteaArray       = 1001
	oidInt2Array        = 1005
	oidTextArray        = 1009
	oidInt8Array        = 1016
	oidTimestamptz      = 1184
	oidTimestamptzArray = 1185
	oidInterval         = 1186
	oidIntervalArray    = 1187
	oidInt4             = 23
	oidInt4Array        = 1007
	oidJSONArray        = 199
)

// Args are the parameters of one statement, $1 first. Each method adds one and returns the same Args.
type Args struct {
	values [][]byte
	oids   []uint32
	room   []byte // the values lie in it one behind the other; what is behind its end is free
}

// NewArgs returns room for n parameters.
func NewArgs(n int) *Args {
	return &Args{values: make([][]byte, 0, n), oids: make([]uint32, 0, n)}
}

func (a *Args) add(oid uint32, value []byte) *Args {
	a.values = append(a.values, value)
	a.oids = append(a.oids, oid)
	return a
}

// valueRoom is about what the value of a parameter takes that is no list.
const valueRoom = 32

// free is an empty slice with room for size bytes, which the next call of free returns again unless keep was called.
func (a *Args) free(size int) []byte {
	if a.room == nil || cap(a.room)-len(a.room) < size {
		a.room = make([]byte, 0, size+valueRoom*(cap(a.values)-len(a.values)))
	}
	return a.room[len(a.room):]
}

// keep adds a value that was appended to what free returned.
func (a *Args) keep(oid uint32, value []byte) *Args {
	if n := len(a.room) + len(value); n <= cap(a.room) { // else it outgrew the room, and lies elsewhere
		a.room = a.room[:n]
	}
	return a.add(oid, value[:len(value):len(value)])
}

// Int8 adds a bigint.
func (a *Args) Int8(v int64) *Args {
	return a.keep(oidInt8, binary.BigEndian.AppendUint64(a.free(8), uint64(v)))
}

// Int2 adds a smallint.
func (a *Args) Int2(v int16) *Args {
	return a.keep(oidInt2, binary.BigEndian.AppendUint16(a.free(2), uint16(v)))
}

// Bool adds a boolean.
func (a *Args) Bool(v bool) *Args { return a.keep(oidBool, appendBool(a.free(1), v)) }

// Text adds a text.
func (a *Args) Text(v string) *Args { return a.keep(oidText, append(a.free(len(v)), v...)) }

// Bytes adds a bytea.
func (a *Args) Bytes(v []byte) *Args { return a.keep(oidBytea, append(a.free(len(v)), v...)) }

// TextOrNull adds a text; nil is NULL.
func (a *Args) TextOrNull(v *string) *Args {
	if v == nil {
		return a.add(oidText, nil)
	}
	return a.Text(*v)
}

// JSON adds a json; nil is NULL.
func (a *Args) JSON(v []byte) *Args { return a.add(oidJSON, v) }

// BoolOrNull adds a boolean; nil is NULL.
func (a *Args) BoolOrNull(v *bool) *Args {
	if v == nil {
		return a.add(oidBool, nil)
	}
	return a.Bool(*v)
}

// Interval adds an interval, to the microsecond.
func (a *Args) Interval(d time.Duration) *Args {
	return a.keep(oidInterval, appendInterval(a.free(16), d))
}

// Time adds a timestamptz; the zero Time is NULL.
func (a *Args) Time(t time.Time) *Args {
	if t.IsZero() {
		return a.add(oidTimestamptz, nil)
	}
	return a.keep(oidTimestamptz, binary.BigEndian.AppendUint64(a.free(8), uint64(micros(t))))
}

// each adds an array with one element per item: value appends the element's bytes, or says that it is NULL. An array of
// nulls only is sent empty: unnest beside longer arrays fills it up again.
func each[T any](a *Args, array, element uint32, size int, items []T, value func(b []byte, item *T) ([]byte, bool)) *Args {
	const header = 20
	b := a.free(header + len(items)*(4+size))[:header]
	some, nulls := false, uint32(0)
	for i := range items {
		at := len(b)
		b = append(b, 0, 0, 0, 0)
		var ok bool
		if b, ok = value(b, &items[i]); ok {
			binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
			some = true
		} else {
			binary.BigEndian.PutUint32(b[at:], math.MaxUint32)
			nulls = 1
		}
	}
	dimensions := uint32(1)
	if !some {
		dimensions, nulls, b = 0, 0, b[:12]
	}
	binary.BigEndian.PutUint32(b, dimensions)
	binary.BigEndian.PutUint32(b[4:], nulls)
	binary.BigEndian.PutUint32(b[8:], element)
	if some {
		binary.BigEndian.PutUint32(b[12:], uint32(len(items)))
		binary.BigEndian.PutUint32(b[16:], 1)
	}
	return a.keep(array, b)
}

// Int8s adds a bigint[] with one element per item.
func Int8s[T any](a *Args, items []T, of func(*T) int64) *Args {
	return each(a, oidInt8Array, oidInt8, 8, items, func(b []byte, item *T) ([]byte, bool) {
		return binary.BigEndian.AppendUint64(b, uint64(of(item))), true
	})
}

// Int8sOrNull adds a bigint[] with one element per item; zeros are NULL.
func Int8sOrNull[T any](a *Args, items []T, of func(*T) int64) *Args {
	return each(a, oidInt8Array, oidInt8, 8, items, func(b []byte, item *T) ([]byte, bool) {
		if v := of(item); v != 0 {
			return binary.BigEndian.AppendUint64(b, uint64(v)), true
		}
		return b, false
	})
}

// Int4s adds an integer[] with one element per item; what does not fit becomes the nearest that does.
func Int4s[T any](a *Args, items []T, of func(*T) int) *Args {
	return each(a, oidInt4Array, oidInt4, 4, items, func(b []byte, item *T) ([]byte, bool) {
		return binary.BigEndian.AppendUint32(b, uint32(int32(min(max(of(item), math.MinInt32), math.MaxInt32)))), true
	})
}

// Int2s adds a smallint[] with one element per item.
func Int2s[T any](a *Args, items []T, of func(*T) int16) *Args {
	return each(a, oidInt2Array, oidInt2, 2, items, func(b []byte, item *T) ([]byte, bool) {
		return binary.BigEndian.AppendUint16(b, uint16(of(item))), true
	})
}

// Bools adds a boolean[] with one element per item.
func Bools[T any](a *Args, items []T, of func(*T) bool) *Args {
	return each(a, oidBoolArray, oidBool, 1, items, func(b []byte, item *T) ([]byte, bool) { return appendBool(b, of(item)), true })
}

// BoolsOrNull adds a boolean[] with one element per item; false is NULL.
func BoolsOrNull[T any](a *Args, items []T, of func(*T) bool) *Args {
	return each(a, oidBoolArray, oidBool, 1, items, func(b []byte, item *T) ([]byte, bool) {
		if of(item) {
			return append(b, 1), true
		}
		return b, false
	})
}

// Texts adds a text[] with one element per item.
func Texts[T any](a *Args, items []T, of func(*T) string) *Args {
	return each(a, oidTextArray, oidText, 16, items, func(b []byte, item *T) ([]byte, bool) { return append(b, of(item)...), true })
}

// TextsOrNull adds a text[] with one element per item; empty texts are NULL.
func TextsOrNull[T any](a *Args, items []T, of func(*T) string) *Args {
	return each(a, oidTextArray, oidText, 0, items, func(b []byte, item *T) ([]byte, bool) {
		s := of(item)
		return append(b, s...), s != ""
	})
}

// JSONs adds a json[] with one element per item; an empty one is NULL.
func JSONs[T any](a *Args, items []T, of func(*T) []byte) *Args {
	return each(a, oidJSONArray, oidJSON, 16, items, func(b []byte, item *T) ([]byte, bool) {
		s := of(item)
		return append(b, s...), len(s) > 0
	})
}

// Byteas adds a bytea[] with one element per item.
func Byteas[T any](a *Args, items []T, of func(*T) []byte) *Args {
	return each(a, oidByteaArray, oidBytea, 32, items, func(b []byte, item *T) ([]byte, bool) { return append(b, of(item)...), true })
}

// Intervals adds an interval[] with one element per item.
func Intervals[T any](a *Args, items []T, of func(*T) time.Duration) *Args {
	return each(a, oidIntervalArray, oidInterval, 16, items, func(b []byte, item *T) ([]byte, bool) { return appendInterval(b, of(item)), true })
}

// IntervalsOrNull adds an interval[] with one element per item; zeros are NULL.
func IntervalsOrNull[T any](a *Args, items []T, of func(*T) time.Duration) *Args {
	return each(a, oidIntervalArray, oidInterval, 16, items, func(b []byte, item *T) ([]byte, bool) {
		if d := of(item); d != 0 {
			return appendInterval(b, d), true
		}
		return b, false
	})
}

// Times adds a timestamptz[] with one element per item; the zero Time is NULL.
func Times[T any](a *Args, items []T, of func(*T) time.Time) *Args {
	return each(a, oidTimestamptzArray, oidTimestamptz, 8, items, func(b []byte, item *T) ([]byte, bool) {
		if t := of(item); !t.IsZero() {
			return binary.BigEndian.AppendUint64(b, uint64(micros(t))), true
		}
		return b, false
	})
}

// TimesOrPast adds a timestamptz[] with one element per item; the zero Time is minus infinity.
func TimesOrPast[T any](a *Args, items []T, of func(*T) time.Time) *Args {
	return each(a, oidTimestamptzArray, oidTimestamptz, 8, items, func(b []byte, item *T) ([]byte, bool) {
		if t := of(item); !t.IsZero() {
			return binary.BigEndian.AppendUint64(b, uint64(micros(t))), true
		}
		return binary.BigEndian.AppendUint64(b, 1<<63), true
	})
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// appendInterval appends microseconds, no days and no months.
func appendInterval(b []byte, d time.Duration) []byte {
	return append(binary.BigEndian.AppendUint64(b, uint64(d.Microseconds())), 0, 0, 0, 0, 0, 0, 0, 0)
}

// micros counts microseconds from the server's epoch, the year 2000, cutting what is finer.
func micros(t time.Time) int64 {
	const epoch = 946_684_800
	return (t.Unix()-epoch)*1e6 + int64(t.Nanosecond()/1000)
}

// Types are the names of the parameters' types, $1 first.
func (a *Args) Types() []string {
	names := map[uint32]string{
		oidBool: "boolean", oidBytea: "bytea", oidInt8: "bigint", oidInt2: "smallint", oidInt4: "integer", oidText: "text", oidJSON: "json",
		oidTimestamptz: "timestamptz", oidInterval: "interval", oidBoolArray: "boolean[]", oidInt2Array: "smallint[]",
		oidInt4Array: "integer[]", oidTextArray: "text[]", oidInt8Array: "bigint[]", oidTimestamptzArray: "timestamptz[]",
		oidJSONArray: "json[]", oidByteaArray: "bytea[]", oidIntervalArray: "interval[]",
	}
	if a == nil {
		return nil
	}
	list := make([]string, len(a.oids))
	for i, oid := range a.oids {
		list[i] = names[oid]
	}
	return list
}
