package scheduletest

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
)

// previewWorlds is how many stores share the schedules of TestPreviewIsWhatFires. They live beside each other.
const previewWorlds = 2

// What the API's preview shows is what fires: random schedules under a clock that is stepped from one due instant to the
// next, through the tick and a store. Each lives for two years or 20,000 firings, whichever is less; 100 firings where
// BELFRY_TEST_LARGE is not set.
func TestPreviewIsWhatFires(t *testing.T) {
	schedules, most, years := 60, 100, 2
	if large() {
		schedules, most = 500, 20_000
	}
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 2))
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var rules [previewWorlds][]core.ScheduleRule
	for i := range schedules {
		rule := drawSeldom(rng)
		if i%5 == 0 {
			kind := i / 5 // the first four have seconds
			if kind > 3 {
				kind = kind * 500 / schedules
			}
			rule = drawOften(rng, kind)
		}
		rule.Missed, rule.Overlap, rule.ExpectWithin = "all", core.OverlapAllow, 0
		rule.MissedWindow, rule.MissedLimit, rule.Jitter = 0, 0, 0 // a clock stepped to each instant waits for no jitter
		parsed, err := schedule.ParseRule(&rule, from)
		if err != nil {
			t.Fatal(err)
		}
		first, _ := parsed.Next(from) // those of one minute share a world, and so its steps
		world := first.At.Minute() % previewWorlds
		rules[world] = append(rules[world], rule)
	}
	var fired, whole, steps atomic.Int64
	t.Run("worlds", func(t *testing.T) {
		for i, rules := range rules {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				a := newAlmanac(t, from, from.AddDate(years, 0, 0), most)
				for j, rule := range rules {
					a.follow(fmt.Sprintf("s%03d", j), rule)
				}
				a.fireAll()
				fired.Add(int64(a.fired))
				whole.Add(int64(a.whole))
				steps.Add(int64(a.steps))
			})
		}
	})
	t.Logf("seed %d: %d schedules, %d firings at %d instants; %d lived two years, the others %d firings", seed, schedules, fired.Load(), steps.Load(), whole.Load(), most)
	if got := int(fired.Load()); !t.Failed() && got < schedules {
		t.Errorf("%d firings", got)
	}
}

// almanac is a world whose schedules are held against their previews.
type almanac struct {
	*world
	desk     *desk
	previews map[string]*preview
	next     previews // those that are not over, the next one first
	until    time.Time
	most     int
	progress *progress

	fired, whole, steps, untaken int
}

func newAlmanac(t *testing.T, from, until time.Time, most int) *almanac {
	t.Helper()
	w := newWorld(t, from)
	return &almanac{world: w, desk: newDesk(w), previews: map[string]*preview{}, until: until, most: most, progress: newProgress(t)}
}

// follow makes a schedule and asks for its preview.
func (a *almanac) follow(name string, rule core.ScheduleRule) {
	a.Helper()
	a.put(name, rule)
	zone, err := time.LoadLocation(rule.TimeZone)
	a.must(err)
	p := &preview{name: name, zone: zone}
	a.previews[name] = p
	a.turn(p)
}

// turn makes a preview ready for its next instant: it asks for a page where the last is used up, behind the store's now.
// A schedule that is over is deleted.
func (a *almanac) turn(p *preview) {
	a.Helper()
	if len(p.page) == 0 && p.fired < a.most {
		p.page = a.desk.next(p.name, p.zone, min(1000, a.most-p.fired))
	}
	if len(p.page) > 0 && !p.page[0].After(a.until) {
		heap.Push(&a.next, p)
		return
	}
	if p.fired < a.most {
		a.whole++
	}
	a.must(a.store.DeleteSchedule(a.Context(), "", p.name, 0))
}

// fireAll steps the clock to each instant that is previewed, and now and then to just before it, and holds what fires
// against the previews.
func (a *almanac) fireAll() {
	a.Helper()
	for len(a.next) > 0 {
		at := a.next[0].page[0]
		if a.steps++; a.steps%16 == 0 {
			if runs := a.pass(at.Add(-time.Microsecond)); runs != 0 {
				a.take1000()
				a.Fatalf("before %s %d runs fired", at, runs)
			}
		}
		runs, due := a.pass(at), 0
		var turned []*preview
		for len(a.next) > 0 && a.next[0].page[0].Equal(at) {
			p := heap.Pop(&a.next).(*preview)
			p.page, p.untaken = p.page[1:], append(p.untaken, at)
			p.fired++
			turned = append(turned, p)
			due++
		}
		a.fired += due
		if a.untaken += due; a.untaken > 500 || runs != due {
			a.take1000()
		}
		if runs != due {
			a.Fatalf("at %s %d runs fired, %d are previewed", at, runs, due)
		}
		for _, p := range turned {
			a.turn(p)
		}
		a.progress.tell("%s, %d firings at %d instants, %d of %d schedules are over", at.Format(time.DateTime), a.fired, a.steps, len(a.previews)-len(a.next), len(a.previews))
	}
	a.take1000()
	if a.untaken != 0 {
		a.Fatalf("%d previewed runs cannot be taken", a.untaken)
	}
}

// pass sets the clock to an instant and ticks: the jobs made.
func (a *almanac) pass(at time.Time) (made int) {
	a.Helper()
	a.step(at.Sub(a.now()))
	for more := true; more; {
		report, err := a.ticker.Tick(a.Context())
		a.must(err)
		made, more = made+report.Runs, report.More
	}
	return made
}

// take1000 takes the jobs made so far, a thousand at a time: each schedule's are for the instants previewed, in their
// order, made at that very instant, due at once and never late.
func (a *almanac) take1000() {
	a.Helper()
	for {
		jobs := a.take("work")
		for i := range jobs {
			job := &jobs[i]
			p := a.previews[job.Run.Schedule]
			if p == nil || len(p.untaken) == 0 {
				a.Fatalf("%s fired for %+v, nothing is previewed", job.Run.Schedule, job.Run)
			}
			if at := p.untaken[0]; !job.Run.ScheduledFor.Equal(at) || !job.CreatedAt.Equal(at) || !job.RunAt.Equal(at) || job.Run.CatchUp || job.Run.Covers > 1 {
				a.Fatalf("%s fired at %s for %+v, due %s; previewed %s", job.Run.Schedule, job.CreatedAt, job.Run, job.RunAt, at)
			}
			p.untaken = p.untaken[1:]
			a.untaken--
		}
		if len(jobs) < 1000 {
			return
		}
	}
}

// preview is what a schedule is still to do.
type preview struct {
	name    string
	zone    *time.Location
	page    []time.Time // previewed and not come yet
	untaken []time.Time // fired, and the job not taken yet
	fired   int
}

// previews is a heap.
type previews []*preview

func (p previews) Len() int           { return len(p) }
func (p previews) Less(i, j int) bool { return p[i].page[0].Before(p[j].page[0]) }
func (p previews) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *previews) Push(x any)        { *p = append(*p, x.(*preview)) }
func (p *previews) Pop() any {
	last := len(*p) - 1
	x := (*p)[last]
	*p = (*p)[:last]
	return x
}
