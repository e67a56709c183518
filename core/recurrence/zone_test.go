package recurrence

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestZonesAreAsTheSearchNeedsThem compares the segments of every zone with the time package's reading of the same data.
func TestZonesAreAsTheSearchNeedsThem(t *testing.T) {
	end, scanFrom, scanTo, least := time.Date(2110, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), 2000, 2020, 50_000
	if os.Getenv("BELFRY_TEST_LARGE") != "" {
		end, scanFrom, scanTo, least = maxInstant, MinYear, MaxYear, 200_000
	}
	changes := 0
	names := ZoneNames()
	for _, name := range names {
		var none *Cache
		z, _ := none.find(name)
		if z == nil {
			t.Errorf("%s cannot be loaded", name)
			continue
		}
		offset := func(at int64) int64 {
			_, seconds := time.Unix(at, 0).In(z.location).Zone()
			return int64(seconds)
		}
		last := segment{end: minInstant, offset: offset(minInstant), after: offset(minInstant)}
		for at := minInstant; at <= end; at = last.end {
			g := z.segment(at)
			if g.start != last.end || g.before != last.offset && at > minInstant || g.offset != last.after || g.end <= g.start || g.offset != offset(g.start) || g.offset != offset(g.end-1) {
				t.Fatalf("%s: after %+v comes %+v", name, last, g)
			}
			if middle := z.segment(at + (g.end-at)/2); middle != g || z.segment(g.end-1) != g {
				t.Fatalf("%s: %+v is %+v in its middle", name, g, middle)
			}
			if length := g.end - g.start; length < 3*day && g.end <= maxInstant && at > minInstant || max(g.after-g.offset, g.offset-g.after) >= 2*day {
				t.Errorf("%s: a segment of %d s, then a jump of %d s", name, length, g.after-g.offset)
			}
			year := time.Unix(at, 0).UTC().Year()
			for inside := at; inside < g.end && year >= scanFrom && year <= scanTo; inside += 3 * day {
				if offset(inside) != g.offset {
					t.Fatalf("%s: %d at %s, not %d", name, offset(inside), time.Unix(inside, 0).UTC(), g.offset)
				}
			}
			last = g
			changes++
		}
		if !time.Unix(z.listed, 0).Before(time.Date(MaxYear-400, 1, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%s lists changes in the last 400 years before %d", name, MaxYear)
		}
	}
	t.Logf("%d zones, %d segments", len(names), changes)
	if len(names) < 590 || changes < least {
		t.Errorf("only %d zones and %d segments", len(names), changes)
	}
}

// TestZoneDatabaseHasTheNameItSays: the archive matches its version name.
func TestZoneDatabaseHasTheNameItSays(t *testing.T) {
	sum := sha256.Sum256([]byte(zoneinfo))
	fields := strings.Fields(zoneinfoVersion)
	if len(fields) != 2 || fields[1] != hex.EncodeToString(sum[:]) {
		t.Errorf("zoneinfo.version does not describe zoneinfo.zip: run go generate")
	}
	if !regexp.MustCompile(`^20\d\d[a-z]$`).MatchString(TZDataVersion()) {
		t.Errorf("the version is %q", TZDataVersion())
	}
}

func TestZoneHash(t *testing.T) {
	hash := func(text, zone string) string {
		rule, err := Parse(text, zone, Options{Anchor: time.Unix(0, 0)})
		if err != nil {
			t.Fatal(err)
		}
		return rule.ZoneHash()
	}
	if a, b := hash("0 0 * * *", "Europe/Berlin"), hash("5 0 * * *", "Europe/Berlin"); a != b || len(a) != 16 {
		t.Errorf("%q and %q for one zone", a, b)
	}
	if hash("0 0 * * *", "Europe/Berlin") == hash("0 0 * * *", "Africa/Cairo") {
		t.Error("two zones have one hash")
	}
	if hash("@every 1h", "Europe/Berlin") != "" {
		t.Error("@every depends on a zone")
	}
}

func TestZonesAreKept(t *testing.T) {
	var zones Cache
	a, _ := zones.find("Europe/Berlin")
	b, _ := zones.find("Europe/Berlin")
	if a == nil || a != b {
		t.Error("the zone was loaded twice")
	}
}

// TestHostZoneDoesNotMatter runs with another local zone.
func TestHostZoneDoesNotMatter(t *testing.T) {
	host := time.Local
	t.Cleanup(func() { time.Local = host })
	for _, name := range []string{"Australia/Sydney", "America/Los_Angeles", "Africa/Cairo"} {
		var none *Cache
		elsewhere, _ := none.find(name)
		time.Local = elsewhere.location
		for _, file := range []string{"cron.json", "cron_random.json"} {
			for _, c := range rows(t, file) {
				checkRow(t, c, Options{}, c.Want)
			}
		}
	}
}

func TestBrokenZoneDataIsRefused(t *testing.T) {
	whole, _, _ := zoneData("Europe/Berlin")
	if _, err := readChanges(whole); err != nil {
		t.Fatal(err)
	}
	for length := range whole {
		if _, err := readChanges(whole[:length]); err == nil {
			t.Errorf("the first %d of %d bytes were taken for a zone", length, len(whole))
		}
	}
	for _, footer := range []string{"CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,J60,J300", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.0/x,M10.5.0", "CET", "CET-1CEST,,", ""} {
		if _, err := parseTail(footer); err == nil {
			t.Errorf("%q was taken for a footer", footer)
		}
	}
}
