package wire

import (
	"encoding/binary"
	"math"
	"time"
)

// Object ids of the built-in types that parameters may have.
const (
	oidBool             = 16
	oidInt8             = 20
	oidInt2             = 21
	oidText             = 25
	oidJSON             = 114
	oidBoolArray        = 1000
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

// Int8 adds a bigint.
func (a *Args) Int8(v int64) *Args {
	return a.add(oidInt8, binary.BigEndian.AppendUint64(nil, uint64(v)))
}

// Int2 adds a smallint.
func (a *Args) Int2(v int16) *Args {
	return a.add(oidInt2, binary.BigEndian.AppendUint16(nil, uint16(v)))
}

// Bool adds a boolean.
func (a *Args) Bool(v bool) *Args { return a.add(oidBool, appendBool(nil, v)) }

// Text adds a text.
func (a *Args) Text(v string) *Args { return a.add(oidText, []byte(v)) }

// TextOrNull adds a text; nil is NULL.
func (a *Args) TextOrNull(v *string) *Args {
	if v == nil {
		return a.add(oidText, nil)
	}
	return a.Text(*v)
}

// Interval adds an interval, to the microsecond.
func (a *Args) Interval(d time.Duration) *Args {
	return a.add(oidInterval, appendInterval(nil, d))
}

// Time adds a timestamptz; the zero Time is NULL.
func (a *Args) Time(t time.Time) *Args {
	if t.IsZero() {
		return a.add(oidTimestamptz, nil)
	}
	return a.add(oidTimestamptz, binary.BigEndian.AppendUint64(nil, uint64(micros(t))))
}

// array is an array of n elements under construction, in the server's binary form.
type array struct {
	b []byte
}

func newArray(element uint32, n, bytes int) *array {
	b := make([]byte, 0, 20+4*n+bytes)
	dimensions := uint32(1)
	if n == 0 {
		dimensions = 0
	}
	b = binary.BigEndian.AppendUint32(b, dimensions)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, element)
	if n > 0 {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
		b = binary.BigEndian.AppendUint32(b, 1)
	}
	return &array{b: b}
}

func (a *array) null() {
	a.b[7] = 1
	a.b = binary.BigEndian.AppendUint32(a.b, math.MaxUint32)
}

func (a *array) uint64(v uint64) {
	a.b = binary.BigEndian.AppendUint32(a.b, 8)
	a.b = binary.BigEndian.AppendUint64(a.b, v)
}

func (a *array) text(s string) {
	a.b = binary.BigEndian.AppendUint32(a.b, uint32(len(s)))
	a.b = append(a.b, s...)
}

func (a *array) bytes(s []byte) {
	a.b = binary.BigEndian.AppendUint32(a.b, uint32(len(s)))
	a.b = append(a.b, s...)
}

// Int8s adds a bigint[] with one element per item.
func Int8s[T any](a *Args, items []T, of func(*T) int64) *Args {
	arr := newArray(oidInt8, len(items), 8*len(items))
	for i := range items {
		arr.uint64(uint64(of(&items[i])))
	}
	return a.add(oidInt8Array, arr.b)
}

// Int8sOrNull adds a bigint[] with one element per item; zeros are NULL.
func Int8sOrNull[T any](a *Args, items []T, of func(*T) int64) *Args {
	arr := newArray(oidInt8, len(items), 0)
	for i := range items {
		if v := of(&items[i]); v != 0 {
			arr.uint64(uint64(v))
		} else {
			arr.null()
		}
	}
	return a.add(oidInt8Array, arr.b)
}

// Int4s adds an integer[] with one element per item; what does not fit becomes the nearest that does.
func Int4s[T any](a *Args, items []T, of func(*T) int) *Args {
	arr := newArray(oidInt4, len(items), 4*len(items))
	for i := range items {
		arr.b = binary.BigEndian.AppendUint32(arr.b, 4)
		arr.b = binary.BigEndian.AppendUint32(arr.b, uint32(int32(min(max(of(&items[i]), math.MinInt32), math.MaxInt32))))
	}
	return a.add(oidInt4Array, arr.b)
}

// Intervals adds an interval[] with one element per item.
func Intervals[T any](a *Args, items []T, of func(*T) time.Duration) *Args {
	arr := newArray(oidInterval, len(items), 16*len(items))
	for i := range items {
		arr.b = binary.BigEndian.AppendUint32(arr.b, 16)
		arr.b = appendInterval(arr.b, of(&items[i]))
	}
	return a.add(oidIntervalArray, arr.b)
}

// Int2s adds a smallint[] with one element per item.
func Int2s[T any](a *Args, items []T, of func(*T) int16) *Args {
	arr := newArray(oidInt2, len(items), 2*len(items))
	for i := range items {
		arr.b = binary.BigEndian.AppendUint32(arr.b, 2)
		arr.b = binary.BigEndian.AppendUint16(arr.b, uint16(of(&items[i])))
	}
	return a.add(oidInt2Array, arr.b)
}

// Bools adds a boolean[] with one element per item.
func Bools[T any](a *Args, items []T, of func(*T) bool) *Args {
	arr := newArray(oidBool, len(items), len(items))
	for i := range items {
		arr.b = binary.BigEndian.AppendUint32(arr.b, 1)
		arr.b = appendBool(arr.b, of(&items[i]))
	}
	return a.add(oidBoolArray, arr.b)
}

// Texts adds a text[] with one element per item.
func Texts[T any](a *Args, items []T, of func(*T) string) *Args {
	arr := newArray(oidText, len(items), 16*len(items))
	for i := range items {
		arr.text(of(&items[i]))
	}
	return a.add(oidTextArray, arr.b)
}

// TextsOrNull adds a text[] with one element per item; empty texts are NULL.
func TextsOrNull[T any](a *Args, items []T, of func(*T) string) *Args {
	arr := newArray(oidText, len(items), 0)
	for i := range items {
		if s := of(&items[i]); s != "" {
			arr.text(s)
		} else {
			arr.null()
		}
	}
	return a.add(oidTextArray, arr.b)
}

// JSONs adds a json[] with one element per item; an empty one is NULL.
func JSONs[T any](a *Args, items []T, of func(*T) []byte) *Args {
	arr := newArray(oidJSON, len(items), 16*len(items))
	for i := range items {
		if s := of(&items[i]); len(s) > 0 {
			arr.bytes(s)
		} else {
			arr.null()
		}
	}
	return a.add(oidJSONArray, arr.b)
}

// Times adds a timestamptz[] with one element per item; the zero Time is NULL.
func Times[T any](a *Args, items []T, of func(*T) time.Time) *Args {
	arr := newArray(oidTimestamptz, len(items), 8*len(items))
	for i := range items {
		if t := of(&items[i]); !t.IsZero() {
			arr.uint64(uint64(micros(t)))
		} else {
			arr.null()
		}
	}
	return a.add(oidTimestamptzArray, arr.b)
}

// TimesOrPast adds a timestamptz[] with one element per item; the zero Time is minus infinity.
func TimesOrPast[T any](a *Args, items []T, of func(*T) time.Time) *Args {
	arr := newArray(oidTimestamptz, len(items), 8*len(items))
	for i := range items {
		if t := of(&items[i]); !t.IsZero() {
			arr.uint64(uint64(micros(t)))
		} else {
			arr.uint64(1 << 63)
		}
	}
	return a.add(oidTimestamptzArray, arr.b)
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
