package recurrence

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"
)

// Zones keeps zones once they are loaded; there are only as many as the database has names. Safe for
// concurrent use. The zero value is ready.
type Zones struct{ loaded sync.Map }

// zone is one time zone of the embedded database.
type zone struct {
	name     string
	data     string
	location *time.Location
}

// find returns the zone of that name. Where there is none, near is a name that differs in case only.
func (z *Zones) find(name string) (found *zone, near string) {
	if z != nil {
		if known, ok := z.loaded.Load(name); ok {
			if found, ok = known.(*zone); ok {
				return found, ""
			}
		}
	}
	data, near, ok := zoneData(name)
	if !ok {
		return nil, near
	}
	location, err := time.LoadLocationFromTZData(name, []byte(data))
	if err != nil {
		return nil, "" // the tests load every zone of the database
	}
	found = &zone{name: name, data: data, location: location}
	if z != nil {
		z.loaded.Store(name, found)
	}
	return found, ""
}

// hash identifies what the database says about the zone.
func (z *zone) hash() string {
	sum := sha256.Sum256([]byte(z.data))
	return hex.EncodeToString(sum[:8])
}

// The range of searches in seconds, last included.
var (
	minInstant = time.Date(MinYear, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	maxInstant = time.Date(MaxYear, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
)

// segment is a longest stretch of instants with one offset: [start, end), in seconds. At the ends of the
// range of searches before or after equals offset. Segments are longer than three days and jumps are shorter
// than two, for every zone of the database (TestZonesAreAsSegmentsNeedThem).
type segment struct {
	start, end            int64
	before, offset, after int64 // what is added to an instant to get the wall clock, in seconds
}

func (z *zone) offset(at int64) int64 {
	_, seconds := time.Unix(at, 0).In(z.location).Zone()
	return int64(seconds)
}

// segment returns the segment that holds at, which must lie in the range of searches. Changes of name alone
// are no ends.
func (z *zone) segment(at int64) segment {
	g := segment{start: minInstant, end: maxInstant + 1, offset: z.offset(at)}
	g.before, g.after = g.offset, g.offset
	for from, _ := z.bounds(at); from > minInstant; from, _ = z.bounds(from - 1) {
		if before := z.offset(from - 1); before != g.offset {
			g.start, g.before = from, before
			break
		}
	}
	for _, to := z.bounds(at); to <= maxInstant; _, to = z.bounds(to) {
		if after := z.offset(to); after != g.offset {
			g.end, g.after = to, after
			break
		}
	}
	return g
}

// bounds returns a start at or before at and an end after it between which the offset does not change. They
// need not be changes: past a zone's table the time package ends a stretch at the end of the year, in leap
// years a day too early, which on that day is not after at.
func (z *zone) bounds(at int64) (start, end int64) {
	from, to := time.Unix(at, 0).In(z.location).ZoneBounds()
	start, end = minInstant, maxInstant+1
	if !from.IsZero() {
		start = max(start, min(from.Unix(), at))
	}
	if !to.IsZero() {
		end = min(end, to.Unix())
	}
	if end <= at {
		end = time.Date(time.Unix(at, 0).UTC().Year()+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	}
	return start, end
}
