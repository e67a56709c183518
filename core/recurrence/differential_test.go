package recurrence_test

import (
	"archive/zip"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core/recurrence"
)

// large reports whether tests run at full size.
func large() bool { return os.Getenv("BELFRY_TEST_LARGE") != "" }

// newSeed picks a random seed and prints it.
func newSeed(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return seed
}

// locations are all zones, read from the archive by the standard library only.
var locations = sync.OnceValue(func() map[string]*time.Location {
	archive, err := zip.OpenReader("zoneinfo.zip")
	if err != nil {
		panic(err)
	}
	defer archive.Close()
	found := map[string]*time.Location{}
	for _, file := range archive.File {
		if strings.HasSuffix(file.Name, "/") {
			continue
		}
		content, err := file.Open()
		if err != nil {
			panic(err)
		}
		data, err := io.ReadAll(content)
		if err != nil {
			panic(err)
		}
		if found[file.Name], err = time.LoadLocationFromTZData(file.Name, data); err != nil {
			panic(err)
		}
	}
	return found
})

// TestSearchEqualsBruteForce compares random rules with a check of every minute of 400 days.
func TestSearchEqualsBruteForce(t *testing.T) {
	plan := comparisons{tables: 20, perTable: 8}
	horizon := int64(60 * 86400)
	if large() {
		plan, horizon = comparisons{tables: 10_000, perTable: 20}, 400*86400
	}
	plan.when = func(rng *rand.Rand, _ *time.Location) (from, to int64) {
		from = rng.Int64N(time.Date(2036, 11, 20, 0, 0, 0, 0, time.UTC).Unix())
		return from, from + horizon
	}
	plan.run(t)
}

// TestSearchEqualsBruteForceBySeconds compares rules of six fields with a check of every second of a day, usually one with a
// change of the clock.
func TestSearchEqualsBruteForceBySeconds(t *testing.T) {
	plan := comparisons{tables: len(locations()), perTable: 3, seconds: true}
	length := int64(2 * 3600)
	if large() {
		plan.tables, plan.perTable, length = 2*len(locations()), 20, 86400
	}
	plan.when = func(rng *rand.Rand, location *time.Location) (from, to int64) {
		from = rng.Int64N(67 * 365 * 86400)
		if _, end := time.Unix(from, 0).In(location).ZoneBounds(); !end.IsZero() && end.Year() < 2038 {
			from = end.Unix() - rng.Int64N(length)
		}
		return from, from + length
	}
	plan.run(t)
}

// comparisons is a number of tables and of expressions to compare with each.
type comparisons struct {
	tables, perTable int
	seconds          bool
	when             func(*rand.Rand, *time.Location) (from, to int64)
}

// run divides the tables among as many goroutines as there are processors. It picks the zones in turn.
func (p comparisons) run(t *testing.T) {
	t.Helper()
	seed := newSeed(t)
	names := recurrence.ZoneNames()
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	unit := int64(60)
	if p.seconds {
		unit = 1
	}
	var taken, triples, instants atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				n := int(taken.Add(1))
				if n > p.tables || t.Failed() {
					return
				}
				rng := rand.New(rand.NewPCG(seed, uint64(n)))
				zone := names[n%len(names)]
				from, to := p.when(rng, locations()[zone])
				table := makeTable(locations()[zone], from, to, unit)
				for range p.perTable {
					c := comparison{t: t, rng: rng, zone: zone, table: table}
					instants.Add(int64(c.run(makeWish(rng, p.seconds))))
					triples.Add(1)
				}
			}
		})
	}
	workers.Wait()
	t.Logf("%d triples in %d zones, %d fire times", triples.Load(), min(p.tables, len(names)), instants.Load())
}

type comparison struct {
	t     *testing.T
	rng   *rand.Rand
	zone  string
	table *table
	rule  *recurrence.Rule
	wish  *wish
	want  []due // all of them
	kept  []due // without the dropped ones
}

// run compares one wish and returns how many fire times there were.
func (c *comparison) run(w *wish) int {
	options := recurrence.Options{
		DSTGap:     []recurrence.GapPolicy{recurrence.RunAtTransition, recurrence.Shift, recurrence.SkipGap}[c.rng.IntN(3)],
		DSTOverlap: []recurrence.RepeatPolicy{recurrence.First, recurrence.Last, recurrence.Both}[c.rng.IntN(3)],
	}
	rule, err := recurrence.Parse(w.text, c.zone, options)
	if err != nil {
		if w.everHappens() {
			c.t.Errorf("%q: %v", w.text, err)
		}
		return 0
	}
	c.wish, c.rule = w, rule
	c.want = c.table.expect(w, options)
	c.kept = c.want
	if slices.ContainsFunc(c.want, func(d due) bool { return d.dropped != 0 }) {
		c.kept = slices.DeleteFunc(slices.Clone(c.want), func(d due) bool { return d.dropped != 0 })
	}
	if rule.Fixed() != w.fixed {
		c.fail("is fixed-time: %v", rule.Fixed())
	}
	if got := rule.Count(at(c.table.from), at(c.table.to)); got != int64(len(c.kept)) {
		c.fail("%d occurrences from %s to %s, not %d", got, at(c.table.from), at(c.table.to), len(c.kept))
	}
	c.forward()
	c.backward()
	c.anywhere()
	for _, j := range c.table.jumps {
		c.window(j.at-4*3600, j.at+4*3600)
	}
	if len(c.want) < 1500 {
		c.window(c.table.from, c.table.to)
	}
	return len(c.kept)
}

const chain = 25

func (c *comparison) forward() {
	from := at(c.table.from)
	for i := range chain {
		got, ok := c.rule.Next(from)
		if i >= len(c.kept) {
			if ok && !got.At.After(at(c.table.to)) {
				c.fail("after %s comes %s, where nothing was expected", from, got.At)
			}
			return
		}
		if !ok || got.At.Unix() != c.kept[i].at {
			c.fail("after %s comes %s, not %s", from, got.At, at(c.kept[i].at))
			return
		}
		from = got.At
	}
}

func (c *comparison) backward() {
	to := at(c.table.to + 1)
	for i := range chain {
		got, ok := c.rule.Prev(to)
		if i >= len(c.kept) {
			if ok && got.At.After(at(c.table.from)) {
				c.fail("before %s comes %s, where nothing was expected", to, got.At)
			}
			return
		}
		if want := c.kept[len(c.kept)-1-i].at; !ok || got.At.Unix() != want {
			c.fail("before %s comes %s, not %s", to, got.At, at(want))
			return
		}
		to = got.At
	}
}

// anywhere asks from instants that are unrelated to the rule.
func (c *comparison) anywhere() {
	for range 5 {
		from := c.table.from + c.rng.Int64N(c.table.to-c.table.from)
		got, ok := c.rule.Next(at(from))
		for _, d := range c.kept {
			if d.at > from {
				if !ok || got.At.Unix() != d.at {
					c.fail("after %s comes %s, not %s", at(from), got.At, at(d.at))
				}
				break
			}
		}
	}
}

// window compares everything between two instants, including dropped ones, one by one and as ranges.
func (c *comparison) window(from, to int64) {
	from, to = max(from, c.table.from), min(to, c.table.to)
	var want []due
	for _, d := range c.want {
		if d.at > from && d.at <= to {
			want = append(want, d)
		}
	}
	got, more := c.rule.Enumerate(at(from), at(to), len(want)+1)
	if len(got) != len(want) || more {
		c.fail("%d instants from %s to %s, not %d", len(got), at(from), at(to), len(want))
		return
	}
	for i, d := range want {
		if got[i].At.Unix() != d.at || got[i].Dropped != d.dropped.reason() {
			c.fail("from %s on instant %d is %s %q, not %s %q", at(from), i+1, got[i].At, got[i].Dropped, at(d.at), d.dropped.reason())
			return
		}
	}
	i := 0
	for _, s := range c.rule.Spans(at(from), at(to)) {
		last := i + int(s.Count) - 1
		if last >= len(want) || s.From.Unix() != want[i].at || s.To.Unix() != want[last].at || s.Dropped != want[i].dropped.reason() {
			c.fail("the range %+v does not begin at instant %d", s, i+1)
			return
		}
		i = last + 1
	}
	if i != len(want) {
		c.fail("ranges of %d instants, not %d", i, len(want))
	}
}

func (c *comparison) fail(message string, args ...any) {
	c.t.Helper()
	gap, overlap := c.rule.Choices()
	c.t.Errorf("%q in %s, %s, %s: "+message, append([]any{c.wish.text, c.zone, gap, overlap}, args...)...)
}

func at(second int64) time.Time { return time.Unix(second, 0).UTC() }
