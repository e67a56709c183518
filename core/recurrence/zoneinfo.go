package recurrence

import (
	_ "embed" // the zone database is part of every program
	"encoding/binary"
	"strings"
)

//go:generate ./zoneinfo_update.sh

// zoneinfo is the IANA database as Go publishes it: a zip archive of TZif files, stored without compression. It is the only
// source, never the machine's database, so that all processes of a release agree.
//
//go:embed zoneinfo.zip
var zoneinfo string

// zoneinfoVersion is the database's name and the archive's SHA-256.
//
//go:embed zoneinfo.version
var zoneinfoVersion string

// TZDataVersion names the time zone database in this binary, such as "2025c".
func TZDataVersion() string {
	name, _, _ := strings.Cut(zoneinfoVersion, " ")
	return name
}

// ZoneNames lists the zones of the database in its order.
func ZoneNames() []string {
	var names []string
	eachZone(func(name string, _ int) bool {
		names = append(names, name)
		return true
	})
	return names
}

// zoneData returns the TZif file of a zone. If no zone has the name, near is one that differs only in case.
func zoneData(name string) (data, near string, ok bool) {
	eachZone(func(found string, offset int) bool {
		if found == name {
			data, ok = storedFile(offset)
			return false
		}
		if near == "" && strings.EqualFold(found, name) {
			near = found
		}
		return true
	})
	return data, near, ok
}

// Sizes and offsets in a zip archive: the record at its end, the directory's entries, a file's header.
const (
	zipEnd       = 22
	zipEntry     = 46
	zipHeader    = 30
	zipEntrySign = 0x02014b50
)

// eachZone calls visit with each file of the archive and the offset of its header, until visit returns false.
func eachZone(visit func(name string, offset int) bool) {
	if len(zoneinfo) < zipEnd {
		return
	}
	at := number(zoneinfo[len(zoneinfo)-zipEnd+16:], 4)
	for at+zipEntry <= len(zoneinfo) && number(zoneinfo[at:], 4) == zipEntrySign {
		entry := zoneinfo[at:]
		nameLength := number(entry[28:], 2)
		name := entry[zipEntry : zipEntry+nameLength]
		if !strings.HasSuffix(name, "/") && !visit(name, number(entry[42:], 4)) {
			return
		}
		at += zipEntry + nameLength + number(entry[30:], 2) + number(entry[32:], 2)
	}
}

// storedFile returns the content of the file whose header is at offset, or false if it is compressed.
func storedFile(offset int) (string, bool) {
	header := zoneinfo[offset:]
	if number(header[8:], 2) != 0 {
		return "", false
	}
	start := zipHeader + number(header[26:], 2) + number(header[28:], 2)
	return header[start : start+number(header[22:], 4)], true
}

// number reads a little-endian number of 2 or 4 bytes.
func number(text string, size int) int {
	var bytes [8]byte
	copy(bytes[:], text[:size])
	return int(binary.LittleEndian.Uint64(bytes[:]))
}
