package recurrence

import (
	"encoding/binary"
	"errors"
	"strings"
)

var errZoneData = errors.New("zone data that is not a TZif file of version 2 or later")

// readChanges reads the changes of offset in a TZif file (RFC 9636), and the footer's rule for the time after them. It
// leaves out entries that change only the name.
func readChanges(data string) (z zoneTable, err error) {
	const header = 44
	body, err := skipBlock(data, 4) // version 1's block, with 4-byte numbers, comes first
	if err != nil {
		return z, err
	}
	rest, err := skipBlock(body, 8)
	if err != nil {
		return z, err
	}
	times, kinds := count(body, 32), count(body, 36)
	at := body[header:]
	index := at[times*8:]
	kind := index[times:]
	offset := func(i int) int64 { return int64(int32(binary.BigEndian.Uint32([]byte(kind[i*6:])))) }
	if kinds == 0 {
		return z, errZoneData
	}
	z.first = offset(0)
	now := z.first
	for i := range times {
		if int(index[i]) >= kinds {
			return z, errZoneData
		}
		z.listed = int64(binary.BigEndian.Uint64([]byte(at[i*8:])))
		if next := offset(int(index[i])); next != now {
			z.changes = append(z.changes, change{z.listed, next})
			now = next
		}
	}
	footer, ok := strings.CutPrefix(rest, "\n")
	footer, ok2 := strings.CutSuffix(footer, "\n")
	if !ok || !ok2 {
		return z, errZoneData
	}
	z.tail, err = parseTail(footer)
	return z, err
}

// skipBlock returns the bytes after a header and its data. size is the number of bytes per time.
func skipBlock(data string, size int) (string, error) {
	const header = 44
	if len(data) < header || data[:4] != "TZif" || data[4] < '2' {
		return "", errZoneData
	}
	length := header + count(data, 32)*(size+1) + count(data, 36)*6 + count(data, 40) +
		count(data, 28)*(size+4) + count(data, 24) + count(data, 20)
	if length > len(data) {
		return "", errZoneData
	}
	return data[length:], nil
}

// count reads a number from a TZif header.
func count(data string, at int) int { return int(binary.BigEndian.Uint32([]byte(data[at : at+4]))) }
