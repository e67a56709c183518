package recurrence_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core/recurrence"
)

func rule(t *testing.T, text, zone string, options recurrence.Options) *recurrence.Rule {
	t.Helper()
	r, err := recurrence.Parse(text, zone, options)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func on(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// lines writes a plan in short form.
func lines(p recurrence.Planned) []string {
	var found []string
	for _, e := range p.Entries {
		found = append(found, fmt.Sprintf("%s %s-%s x%d %s", e.Outcome, e.From.UTC().Format("02T15:04:05"), e.To.UTC().Format("02T15:04:05"), e.Count, e.Reason))
	}
	for _, r := range p.Runs {
		found = append(found, fmt.Sprintf("run %s late=%v covers=%d from %s waits=%v cancels=%v", r.ScheduledFor.UTC().Format("02T15:04:05"), r.CatchUp, r.Covers, r.CoversFrom.UTC().Format("02T15:04:05"), r.Waits, r.CancelsPrevious))
	}
	return found
}

func TestPlan(t *testing.T) {
	all, once, skip := recurrence.MissedAll, recurrence.MissedOnce, recurrence.MissedSkip
	for name, c := range map[string]struct {
		text, from, now string
		policy          recurrence.Policy
		change          func(*recurrence.State)
		want            []string
	}{
		"in time": {"* * * * *", "2026-01-05T10:00:00Z", "2026-01-05T10:00:02Z", recurrence.Policy{Missed: once}, nil, []string{
			"fired 05T10:00:00-05T10:00:00 x1 ", "run 05T10:00:00 late=false covers=1 from 05T10:00:00 waits=false cancels=false"}},
		"nothing due": {"* * * * *", "2026-01-05T10:00:00Z", "2026-01-05T09:59:59Z", recurrence.Policy{Missed: once}, nil, nil},
		"an outage of 101 minutes, once": {"* * * * *", "2026-01-05T10:00:00Z", "2026-01-05T11:40:40Z", recurrence.Policy{Missed: once}, nil, []string{
			"covered 05T10:00:00-05T11:39:00 x100 ", "caught_up 05T11:40:00-05T11:40:00 x1 ",
			"run 05T11:40:00 late=true covers=101 from 05T10:00:00 waits=false cancels=false"}},
		"an outage of 101 minutes, skip": {"* * * * *", "2026-01-05T10:00:00Z", "2026-01-05T11:40:40Z", recurrence.Policy{Missed: skip}, nil, []string{
			"skipped 05T10:00:00-05T11:40:00 x101 missed"}},
		"an outage of 101 minutes, all of an hour, at most 2": {"* * * * *", "2026-01-05T10:00:00Z", "2026-01-05T11:40:40Z", recurrence.Policy{Missed: all, Window: time.Hour, Limit: 2}, nil, []string{
			"skipped 05T10:00:00-05T10:40:00 x41 window", "skipped 05T10:41:00-05T11:38:00 x58 limit", "caught_up 05T11:39:00-05T11:40:00 x2 ",
			"run 05T11:39:00 late=true covers=1 from 05T11:39:00 waits=false cancels=false", "run 05T11:40:00 late=true covers=1 from 05T11:40:00 waits=false cancels=false"}},
		"down from 11:30 to 13:30, daily at 12:30, once": {"30 12 * * *", "2026-01-05T12:30:00Z", "2026-01-05T13:30:00Z", recurrence.Policy{Missed: once}, nil, []string{
			"caught_up 05T12:30:00-05T12:30:00 x1 ", "run 05T12:30:00 late=true covers=1 from 05T12:30:00 waits=false cancels=false"}},
		"the previous run goes on, skip": {"* * * * *", "2026-01-05T10:01:00Z", "2026-01-05T10:01:01Z", recurrence.Policy{Missed: once, Overlap: recurrence.OverlapSkip},
			func(s *recurrence.State) { s.Active = true }, []string{"skipped 05T10:01:00-05T10:01:00 x1 overlap"}},
		"the previous run goes on, queue one": {"*/10 * * * * *", "2026-01-05T10:01:00Z", "2026-01-05T10:01:25Z", recurrence.Policy{Missed: once, Overlap: recurrence.OverlapQueueOne},
			func(s *recurrence.State) { s.Active = true }, []string{
				"fired 05T10:01:00-05T10:01:00 x1 ", "skipped 05T10:01:10-05T10:01:20 x2 overlap",
				"run 05T10:01:00 late=false covers=1 from 05T10:01:00 waits=true cancels=false"}},
		"the previous run goes on, cancel": {"*/10 * * * * *", "2026-01-05T10:01:00Z", "2026-01-05T10:01:25Z", recurrence.Policy{Missed: once, Overlap: recurrence.OverlapCancelRunning},
			func(s *recurrence.State) { s.Active = true }, []string{
				"skipped 05T10:01:00-05T10:01:10 x2 overlap", "fired 05T10:01:20-05T10:01:20 x1 ",
				"run 05T10:01:20 late=false covers=1 from 05T10:01:20 waits=false cancels=true"}},
		"resumed, skip": {"* * * * *", "2026-01-05T10:00:00Z", "2026-01-05T10:10:10Z", recurrence.Policy{Missed: skip},
			func(s *recurrence.State) {
				s.PausedFrom, s.PausedUntil = s.Next.Add(5*time.Minute), s.Next.Add(10*time.Minute+5*time.Second)
			}, []string{"skipped 05T10:00:00-05T10:04:00 x5 missed", "skipped 05T10:05:00-05T10:10:00 x6 paused"}},
		"paused": {"* * * * *", "2026-01-05T10:00:00Z", "2026-01-05T10:10:10Z", recurrence.Policy{Missed: once},
			func(s *recurrence.State) { s.PausedFrom = s.Next.Add(time.Second) }, []string{
				"caught_up 05T10:00:00-05T10:00:00 x1 ", "run 05T10:00:00 late=true covers=1 from 05T10:00:00 waits=false cancels=false"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := rule(t, c.text, "", recurrence.Options{})
			state := recurrence.State{Next: on(t, c.from)}
			if c.change != nil {
				c.change(&state)
			}
			got := r.Plan(state, on(t, c.now), c.policy, 0)
			if !reflect.DeepEqual(lines(got), c.want) || got.More {
				t.Errorf("got  %q\nwant %q", lines(got), c.want)
			}
		})
	}
}

// TestPlanEqualsItsModel compares random plans with ones made instant by instant, in one call and in several.
func TestPlanEqualsItsModel(t *testing.T) {
	plans := 1000
	if large() {
		plans = 200_000
	}
	seed := newSeed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	instants := 0
	for n := range plans {
		r, state, now, policy := randomPlan(t, rng)
		var all []recurrence.Occurrence
		if !state.Next.IsZero() {
			all, _ = r.Enumerate(state.Next.Add(-time.Microsecond), now, 100_000)
		}
		want := judge(all, state, now, policy)
		instants += len(want)
		maxRuns := rng.IntN(20)
		comparePlan(t, fmt.Sprintf("plan %d: %s in %s, %+v at %s by %+v", n, r, r.ZoneName(), state, now, policy), r, state, now, policy, maxRuns, want)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d plans of %d instants", plans, instants)
}

func comparePlan(t *testing.T, name string, r *recurrence.Rule, state recurrence.State, now time.Time, policy recurrence.Policy, maxRuns int, want []verdict) {
	t.Helper()
	i := 0
	for more := true; more; {
		p := r.Plan(state, now, policy, maxRuns)
		runs := p.Runs
		limited := int64(0)
		for _, e := range p.Entries {
			if e.Reason == recurrence.ReasonLimit {
				limited += e.Count
			}
			for k := range e.Count {
				if i >= len(want) || want[i].outcome != e.Outcome || want[i].reason != e.Reason || k == 0 && !want[i].at.Equal(e.From) || k == e.Count-1 && !want[i].at.Equal(e.To) {
					t.Fatalf("%s: instant %d of %d is in %+v, wanted %+v", name, i+1, len(want), e, want[min(i, len(want)-1)])
				}
				if run := want[i].run; run != nil {
					if len(runs) == 0 || !reflect.DeepEqual(utc(runs[0]), utc(*run)) {
						t.Fatalf("%s: runs %+v, wanted %+v", name, runs, *run)
					}
					runs = runs[1:]
				}
				i++
			}
		}
		if len(runs) > 0 || limited != p.Limited {
			t.Fatalf("%s: %d runs without an entry, %d of %d limited", name, len(runs), p.Limited, limited)
		}
		state, more = p.State, p.More
		if more && len(p.Runs) == 0 {
			t.Fatalf("%s: a plan of no runs wants another", name)
		}
	}
	if i != len(want) {
		t.Fatalf("%s: %d of %d instants accounted for", name, i, len(want))
	}
	if again := r.Plan(state, now, policy, maxRuns); len(again.Entries)+len(again.Runs) > 0 || !again.State.Next.Equal(state.Next) {
		t.Fatalf("%s: done, and yet %+v", name, again)
	}
	if last := i - 1; last >= 0 && !state.Next.Equal(r.NextToAccount(want[last].at)) {
		t.Fatalf("%s: next is %s, not %s", name, state.Next, r.NextToAccount(want[last].at))
	}
}

func utc(r recurrence.Run) recurrence.Run {
	r.ScheduledFor, r.CoversFrom, r.CoversTo = r.ScheduledFor.UTC(), r.CoversFrom.UTC(), r.CoversTo.UTC()
	return r
}

// randomPlan makes a random schedule near a change of the clock that was not processed for a while.
func randomPlan(t *testing.T, rng *rand.Rand) (*recurrence.Rule, recurrence.State, time.Time, recurrence.Policy) {
	t.Helper()
	changes := []string{"2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z", "2026-06-01T00:00:00Z"}
	texts := []string{"* * * * *", "*/7 1-3 * * *", "0-50/10 2 * * *", "30 2,3 * * *", "0 * * * *", "5/20 * * * * *", "0 0 * * *", "@every 7m", "@every 45s", "0-59/15 0-23 * * *"}
	change := on(t, changes[rng.IntN(3)])
	options := recurrence.Options{Anchor: change.Add(-1234 * time.Second),
		DSTGap:     []recurrence.GapPolicy{recurrence.RunAtTransition, recurrence.Shift, recurrence.SkipGap}[rng.IntN(3)],
		DSTOverlap: []recurrence.RepeatPolicy{recurrence.First, recurrence.Last, recurrence.Both}[rng.IntN(3)]}
	if rng.IntN(4) == 0 {
		options.EndsAt = change.Add(time.Duration(rng.IntN(7200)) * time.Second)
	}
	r := rule(t, texts[rng.IntN(len(texts))], "Europe/Berlin", options)
	from := change.Add(-time.Duration(rng.IntN(8*3600)) * time.Second)
	state := recurrence.State{Next: r.NextToAccount(from), Active: rng.IntN(2) == 0, Waiting: rng.IntN(4) == 0}
	now := from.Add(time.Duration(rng.IntN(12*3600)) * time.Second)
	policy := recurrence.Policy{
		Missed:  []recurrence.MissedPolicy{recurrence.MissedAll, recurrence.MissedOnce, recurrence.MissedSkip}[rng.IntN(3)],
		Overlap: []recurrence.OverlapPolicy{recurrence.OverlapAllow, recurrence.OverlapSkip, recurrence.OverlapQueueOne, recurrence.OverlapCancelRunning}[rng.IntN(4)],
		Grace:   time.Duration(1+rng.IntN(3000)) * time.Second,
		Limit:   1 + rng.IntN(40),
	}
	if rng.IntN(2) == 0 {
		policy.Window = time.Duration(1+rng.IntN(6*3600)) * time.Second
	}
	switch rng.IntN(3) {
	case 0:
		state.PausedFrom = from.Add(time.Duration(rng.IntN(8*3600)) * time.Second)
	case 1:
		state.PausedFrom = from.Add(time.Duration(rng.IntN(8*3600)) * time.Second)
		state.PausedUntil = state.PausedFrom.Add(time.Duration(rng.IntN(4*3600)) * time.Second)
	}
	return r, state, now, policy
}
