package wire

import (
	"encoding/binary"
	"math"
	"time"
)

// Row is one row as received, in binary. It is valid only while it is being read: what is kept is copied.
// NULL reads as the zero value.
type Row [][]byte

// Null reports whether column i is NULL.
func (r Row) Null(i int) bool { return r[i] == nil }

// Int reads a smallint, an integer or a bigint.
func (r Row) Int(i int) int64 {
	switch b := r[i]; len(b) {
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	case 8:
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// Bool reads a boolean.
func (r Row) Bool(i int) bool { return len(r[i]) == 1 && r[i][0] != 0 }

// Text reads a text.
func (r Row) Text(i int) string { return string(r[i]) }

// Same reads a text that is often that of the row before, which is then not copied again.
func (r Row) Same(i int, before string) string {
	if string(r[i]) == before {
		return before
	}
	return string(r[i])
}

// Bytes copies the bytes of a text, json or bytea; NULL is nil.
func (r Row) Bytes(i int) []byte {
	if r[i] == nil {
		return nil
	}
	return append(make([]byte, 0, len(r[i])), r[i]...)
}

// The ends of time as read from a row: what the server calls infinity is beyond every other instant here too.
var (
	Future = time.Unix(math.MaxInt32*int64(1e6), 0).UTC()
)

// Time reads a timestamptz, in UTC. NULL and minus infinity are the zero Time; infinity is Future.
func (r Row) Time(i int) time.Time {
	if len(r[i]) != 8 {
		return time.Time{}
	}
	us := int64(binary.BigEndian.Uint64(r[i]))
	switch us {
	case math.MinInt64:
		return time.Time{}
	case math.MaxInt64:
		return Future
	}
	const epoch = 946_684_800
	return time.Unix(epoch+floorDiv(us, 1e6), (us-floorDiv(us, 1e6)*1e6)*1000).UTC()
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Elements calls f with each element of an array of one dimension; a damaged one yields fewer.
func (r Row) Elements(i int, f func(element []byte)) {
	b := r[i]
	if len(b) < 20 || binary.BigEndian.Uint32(b) != 1 {
		return
	}
	n := binary.BigEndian.Uint32(b[12:])
	b = b[20:]
	for ; n > 0 && len(b) >= 4; n-- {
		size := int32(binary.BigEndian.Uint32(b))
		b = b[4:]
		if size < 0 {
			f(nil)
			continue
		}
		if int(size) > len(b) {
			return
		}
		f(b[:size])
		b = b[size:]
	}
}

// Ints reads a bigint[].
func (r Row) Ints(i int) (list []int64) {
	r.Elements(i, func(e []byte) {
		if len(e) == 8 {
			list = append(list, int64(binary.BigEndian.Uint64(e)))
		}
	})
	return list
}

// Texts reads a text[].
func (r Row) Texts(i int) (list []string) {
	r.Elements(i, func(e []byte) { list = append(list, string(e)) })
	return list
}
