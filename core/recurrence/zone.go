package recurrence

import (
	"crypto/sha256"
	"encoding/hex"
	"sort"
	"time"
)

// zone is one time zone of the embedded database.
type zone struct {
	zoneTable
	name     string
	data     string
	location *time.Location // for callers; the search uses the table
}

// zoneTable is a zone's changes of offset.
type zoneTable struct {
	first   int64 // the offset before all changes
	changes []change
	listed  int64 // changes covers everything up to here; tail covers the rest
	tail    tail
}

// change is an instant from which another offset applies.
type change struct{ at, offset int64 }

// find returns the zone with this name. If there is none, near is a name that differs only in case.
func (c *Cache) find(name string) (found *zone, near string) {
	if c != nil {
		if known, ok := c.zones.Load(name); ok {
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
	if found.zoneTable, err = readChanges(data); err != nil {
		return nil, ""
	}
	if c != nil {
		c.zones.Store(name, found)
	}
	return found, ""
}

// hash identifies the database's data about the zone.
func (z *zone) hash() string {
	sum := sha256.Sum256([]byte(z.data))
	return hex.EncodeToString(sum[:8])
}

// The range of searches in seconds, last included.
var (
	minInstant = time.Date(MinYear, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	maxInstant = time.Date(MaxYear, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
)

// segment is a maximal period of instants with one offset: [start, end), in seconds. At the ends of the range of searches,
// before or after equals offset. In every zone of the database, segments are longer than three days and jumps shorter than
// two (TestZonesAreAsTheSearchNeedsThem).
type segment struct {
	start, end            int64
	before, offset, after int64 // seconds to add to an instant for the wall clock
}

// segment returns the segment that contains at, which must lie in the range of searches.
func (z *zoneTable) segment(at int64) segment {
	i := sort.Search(len(z.changes), func(i int) bool { return z.changes[i].at > at })
	g := segment{start: minInstant, end: maxInstant + 1, offset: z.first}
	if i > 0 {
		g.start, g.offset = z.changes[i-1].at, z.changes[i-1].offset
	}
	g.before, g.after = g.offset, g.offset
	switch {
	case i > 1:
		g.before = z.changes[i-2].offset
	case i == 1:
		g.before = z.first
	}
	switch {
	case i < len(z.changes):
		g.end, g.after = z.changes[i].at, z.changes[i].offset
	case z.tail.changes:
		z.continueByTail(&g, at)
	}
	if g.start <= minInstant {
		g.start, g.before = minInstant, g.offset
	}
	if g.end > maxInstant {
		g.end, g.after = maxInstant+1, g.offset
	}
	return g
}

// continueByTail finds the segment of at, which lies after all listed changes, among the yearly changes.
func (z *zoneTable) continueByTail(g *segment, at int64) {
	year := time.Unix(max(at, z.listed), 0).UTC().Year()
	last := change{at: z.listed}
	for _, next := range z.tail.changesNear(year) {
		switch {
		case next.at <= z.listed:
		case last.at == z.listed && next.offset == g.offset: // changes nothing: the list ends within its half of the year
		case next.at <= at:
			last = next
			g.start, g.before, g.offset = next.at, g.offset, next.offset
		default:
			g.end, g.after = next.at, next.offset
			return
		}
	}
}
