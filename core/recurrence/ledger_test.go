package recurrence_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core/recurrence"
)

// TestLedgerEqualsEnumeration advances a clock over random schedules, with punctual and late ticks, outages and pauses. The
// entries of all plans together equal the enumeration, and each run covers its own instants.
func TestLedgerEqualsEnumeration(t *testing.T) {
	schedules, most := 100, 1000
	if large() {
		schedules, most = 500, 20_000
	}
	seed := newSeed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	names := recurrence.ZoneNames()
	var zones recurrence.Cache
	instants := 0
	for done := 0; done < schedules && !t.Failed(); {
		r, err := recurrence.Parse(makeWish(rng, rng.IntN(4) == 0).text, names[rng.IntN(len(names))], recurrence.Options{
			DSTGap:     []recurrence.GapPolicy{recurrence.RunAtTransition, recurrence.Shift, recurrence.SkipGap}[rng.IntN(3)],
			DSTOverlap: []recurrence.RepeatPolicy{recurrence.First, recurrence.Last, recurrence.Both}[rng.IntN(3)],
			Cache:      &zones,
		})
		if err != nil {
			continue // a date that never comes
		}
		from := time.Unix(rng.Int64N(67*365*86400), rng.Int64N(1e9))
		all, _ := r.Enumerate(from, from.AddDate(2, 0, 0), most)
		if len(all) > 0 {
			stepClock(t, rng, r, from, all)
			instants += len(all)
			done++
		}
	}
	t.Logf("%d schedules, %d instants", schedules, instants)
}

func stepClock(t *testing.T, rng *rand.Rand, r *recurrence.Rule, from time.Time, all []recurrence.Occurrence) {
	t.Helper()
	policy := recurrence.Policy{
		Missed:  []recurrence.MissedPolicy{recurrence.MissedAll, recurrence.MissedOnce, recurrence.MissedSkip}[rng.IntN(3)],
		Overlap: []recurrence.OverlapPolicy{recurrence.OverlapAllow, recurrence.OverlapSkip, recurrence.OverlapQueueOne, recurrence.OverlapCancelRunning}[rng.IntN(4)],
		Window:  []time.Duration{0, time.Hour, 24 * time.Hour}[rng.IntN(3)],
		Limit:   1 + rng.IntN(50),
	}
	end := all[len(all)-1].At
	step := end.Sub(from)/200 + time.Second
	state := r.Start(from)
	i, want, got := 0, int64(0), int64(0) // want: instants that runs should cover; got: those they do
	for now := from; i < len(all); now = now.Add(1 + time.Duration(rng.Int64N(int64(step)))) {
		if now.After(end) {
			now = end
		}
		state.Active, state.Waiting = rng.IntN(3) == 0, false
		switch {
		case !state.PausedFrom.IsZero() && state.PausedUntil.IsZero() && rng.IntN(3) == 0:
			state.PausedUntil = now
		case state.PausedFrom.IsZero() && rng.IntN(20) == 0 && now.Before(end):
			state.PausedFrom = now
		}
		for more := true; more; {
			p := r.Plan(state, now, policy, 1+rng.IntN(100))
			for _, e := range p.Entries {
				last := i + int(e.Count) - 1
				if last >= len(all) || !all[i].At.Equal(e.From) || !all[last].At.Equal(e.To) {
					t.Errorf("%s in %s, %+v: instant %d, at %s, is in %+v", r, r.ZoneName(), policy, i+1, all[i].At, e)
					return
				}
				if e.Outcome != recurrence.Skipped {
					want += e.Count
				}
				i = last + 1
			}
			for _, run := range p.Runs {
				got += run.Covers
			}
			state, more = p.State, p.More
		}
		if !state.PausedUntil.IsZero() {
			state.PausedFrom, state.PausedUntil = time.Time{}, time.Time{}
		}
		if now.Equal(end) && !state.PausedFrom.IsZero() {
			state.PausedUntil = end
		}
	}
	if want != got {
		t.Errorf("%s in %s, %+v: %d instants fired, caught up or covered, but runs for %d", r, r.ZoneName(), policy, want, got)
	}
}
