package scheduletest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/recurrence"
)

// What a preview shows is what fires: random schedules under a clock that is stepped from one due instant to the next,
// through the tick and a store. Each lives for two years or 20,000 firings, whichever is less; 20 times less where
// BELFRY_TEST_LARGE is not set.
func TestPreviewIsWhatFires(t *testing.T) {
	schedules, most, years := 60, 100, 2
	if large() {
		schedules, most = 500, 20_000
	}
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 2))
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w := newWorld(t, from)
	previews := map[string]*preview{}
	for i := range schedules {
		rule := drawSeldom(rng)
		if i%5 == 0 {
			rule = drawOften(rng, rng.IntN(100))
		}
		rule.Missed, rule.Overlap, rule.ExpectWithin = "all", core.OverlapAllow, 0
		rule.MissedWindow, rule.MissedLimit, rule.Jitter = 0, 0, 0 // a clock stepped to each instant waits for no jitter
		w.follow(previews, w.put(fmt.Sprintf("s%03d", i), rule), from.AddDate(years, 0, 0), most)
	}
	fired, whole := w.fireAll(previews)
	t.Logf("seed %d: %d schedules, %d firings; %d lived two years, the others %d firings", seed, schedules, fired, whole, most)
}

// preview is the rest of what a schedule is to do.
type preview struct {
	rule  *recurrence.Rule
	next  time.Time // zero: it is over
	until time.Time
	fired int
	most  int
}

func (p *preview) advance(from time.Time) {
	next, ok := p.rule.Next(from)
	if p.next = next.At; !ok || next.At.After(p.until) || p.fired >= p.most {
		p.next = time.Time{}
	}
}

func (w *world) follow(previews map[string]*preview, s core.Schedule, until time.Time, most int) {
	w.Helper()
	rule, err := s.Rule.Parse(s.State.Anchor)
	w.must(err)
	p := &preview{rule: rule, until: until, most: most}
	p.advance(s.CreatedAt)
	previews[s.Name] = p
}

// fireAll steps the clock to each instant and holds the jobs made against what was previewed. A schedule that is over
// is deleted.
func (w *world) fireAll(previews map[string]*preview) (fired, whole int) {
	w.Helper()
	for len(previews) > 0 {
		var at time.Time
		for name, p := range previews {
			switch {
			case p.next.IsZero():
				if p.fired < p.most {
					whole++
				}
				w.must(w.store.DeleteSchedule(w.Context(), "", name, 0))
				delete(previews, name)
			case at.IsZero() || p.next.Before(at):
				at = p.next
			}
		}
		if at.IsZero() {
			break
		}
		w.step(at.Sub(w.now()))
		w.tick()
		due := 0
		for _, p := range previews {
			if !p.next.After(at) {
				due++
			}
		}
		for _, job := range w.takeAll() {
			p := previews[job.Run.Schedule]
			if p == nil || !job.Run.ScheduledFor.Equal(p.next) || job.Run.CatchUp {
				w.Fatalf("at %s %s fired for %+v, previewed %+v", at, job.Run.Schedule, job.Run, p)
			}
			p.fired++
			p.advance(p.next)
			fired++
			due--
		}
		if due != 0 {
			w.Fatalf("at %s %d previewed runs did not fire", at, due)
		}
	}
	return fired, whole
}

// takeAll claims and ends all jobs.
func (w *world) takeAll() (all []core.Job) {
	w.Helper()
	for {
		jobs := w.take("work")
		if all = append(all, jobs...); len(jobs) < 1000 {
			return all
		}
	}
}
