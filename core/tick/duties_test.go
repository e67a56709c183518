package tick

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/core/typecache/typestoretest"
)

// dutyTable is the table of duties as docs/architecture.md shows it.
func dutyTable() string {
	var table strings.Builder
	table.WriteString("| duty | at most every | only if | what for |\n| --- | --- | --- | --- |\n")
	opts := Options{}.withDefaults()
	for i := range duties {
		d := &duties[i]
		every, when := "pass", d.when
		if d.every != nil {
			every = strings.TrimSuffix(d.every(&opts).String(), "m0s")
			if every != d.every(&opts).String() {
				every += "m"
			}
		}
		if d.first {
			when = strings.TrimSuffix("bucket 0 is held; "+when, "; ")
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", d.what, every, when, d.why)
	}
	return table.String()
}

// TestArchitectureShowsTheDuties: the document shows the table of duties.
func TestArchitectureShowsTheDuties(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	if table := dutyTable(); !strings.Contains(string(text), table) {
		t.Errorf("docs/architecture.md should contain this table:\n%s", table)
	}
}

// everything is a pass whose result makes every condition of a duty true.
func everything() *pass {
	return &pass{res: core.TickResult{
		Now: time.Now(), Held: []core.Held{{Bucket: 0}}, Unserved: []core.Lane{{}}, Unsent: true, Failing: true, Untold: true,
	}}
}

// busy is a Ticker that makes every condition true.
func busy(t *testing.T) *Ticker {
	t.Helper()
	types := typestoretest.NewStore()
	types.Known["a"] = core.JobType{Name: "a", Defined: true, ExpectWithin: time.Minute}
	cache := typecache.New(types, typecache.Options{})
	if err := cache.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	ticker, err := New(nil, Options{Holder: "h", Chance: func() float64 { return 0.5 }})
	if err != nil {
		t.Fatal(err)
	}
	ticker.opts.Schedules.Types, ticker.opts.Wake, ticker.dispatcher = cache, func([]core.Lane) {}, new(dispatcher)
	ticker.opts.OnAlerts = func(context.Context, []core.Alert) error { return nil }
	return ticker
}

// TestDutiesAreDoneInTheirTime: each duty is done once per period, only with the buckets it needs, and its texts are set.
func TestDutiesAreDoneInTheirTime(t *testing.T) { synctest.Test(t, testDuties) }

func testDuties(t *testing.T) {
	names, timed := map[string]bool{}, 0
	for i := range duties {
		d, ticker, p := &duties[i], busy(t), everything()
		if d.what == "" || d.why == "" || d.do == nil || names[d.what] || (d.due == nil) != (d.when == "") {
			t.Errorf("row %d is not whole: %+v", i, d)
		}
		names[d.what] = true
		if !ticker.isDue(d, p) {
			t.Errorf("%s: not due though everything is", d.what)
		}
		ticker.done(d, p)
		if again := ticker.isDue(d, p); again != (d.every == nil) {
			t.Errorf("%s: due again at once: %t", d.what, again)
		}
		if d.every != nil {
			timed++
			period := d.every(&ticker.opts)
			time.Sleep(period - time.Second)
			if p.res.Now = time.Now(); ticker.isDue(d, p) {
				t.Errorf("%s: due before its %s are over", d.what, period)
			}
			time.Sleep(time.Second)
			if p.res.Now = time.Now(); !ticker.isDue(d, p) {
				t.Errorf("%s: not due after %s", d.what, period)
			}
		}
		p.res.Held[0].Bucket = 1
		if ticker.isDue(d, p) == d.first {
			t.Errorf("%s: due to the holder of another bucket: %t", d.what, !d.first)
		}
		idle, err := New(nil, Options{Holder: "h"})
		if err != nil {
			t.Fatal(err)
		}
		if nothing := (&pass{res: core.TickResult{Held: []core.Held{{Bucket: 0}}}}); d.due != nil && d.what != upkeep && d.what != "advance schedules" && idle.isDue(d, nothing) {
			t.Errorf("%s: due though %q does not hold", d.what, d.when)
		}
	}
	ticker, p := busy(t), everything()
	for i := range duties {
		ticker.done(&duties[i], p)
	}
	p.res.Failed = true
	for i := range duties {
		if d := &duties[i]; d.now != nil && !ticker.isDue(d, p) {
			t.Errorf("%s: not due at once", d.what)
		}
	}
	if timed < 4 || len(duties) < 12 {
		t.Errorf("%d duties, %d of them timed", len(duties), timed)
	}
}
