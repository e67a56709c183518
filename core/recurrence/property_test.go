package recurrence_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core/recurrence"
)

// TestProperties follows random schedules for two years or 20,000 firings, whichever is less. Each occurrence is later than
// the one before, is found from any instant between the two, and Prev leads back.
func TestProperties(t *testing.T) {
	schedules, most := 500, 300
	if large() {
		schedules, most = 500, 20_000
	}
	seed := newSeed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	names := recurrence.ZoneNames()
	var zones recurrence.Cache
	firings, whole := 0, 0
	for done := 0; done < schedules && !t.Failed(); {
		from := time.Unix(rng.Int64N(67*365*86400), rng.Int64N(1e9))
		options := recurrence.Options{
			DSTGap:     []recurrence.GapPolicy{recurrence.RunAtTransition, recurrence.Shift, recurrence.SkipGap}[rng.IntN(3)],
			DSTOverlap: []recurrence.RepeatPolicy{recurrence.First, recurrence.Last, recurrence.Both}[rng.IntN(3)],
			Anchor:     from.Add(-time.Duration(rng.Int64N(int64(1000 * time.Hour)))),
			Cache:      &zones,
		}
		text := makeWish(rng, rng.IntN(3) == 0).text
		if rng.IntN(10) == 0 {
			text = "@every " + (time.Second + time.Duration(rng.IntN(1e9))*time.Microsecond).String()
		}
		r, err := recurrence.Parse(text, names[rng.IntN(len(names))], options)
		if err != nil {
			continue // a date that never comes
		}
		n := walkProperties(t, rng, r, from, most)
		if n < most {
			whole++
		}
		firings += n
		done++
	}
	t.Logf("%d schedules, %d firings; %d over two years, the others up to %d firings", schedules, firings, whole, most)
}

func walkProperties(t *testing.T, rng *rand.Rand, r *recurrence.Rule, from time.Time, most int) int {
	t.Helper()
	n := 0
	last := from
	for until := from.AddDate(2, 0, 0); n < most; n++ {
		next, ok := r.Next(last)
		if !ok || next.At.After(until) {
			break
		}
		if !next.At.After(last) || next.Dropped != "" || next.At.Location() != r.Location() {
			t.Errorf("%s in %s: after %s comes %+v", r, r.ZoneName(), last, next)
			return n
		}
		between := last.Add(time.Duration(rng.Int64N(int64(next.At.Sub(last)))))
		if again, ok := r.Next(between); !ok || again != next {
			t.Errorf("%s in %s: after %s comes %s, and after %s comes %s", r, r.ZoneName(), last, next.At, between, again.At)
		}
		if n > 0 {
			if back, ok := r.Prev(next.At); !ok || !back.At.Equal(last) {
				t.Errorf("%s in %s: after %s comes %s, before which comes %s", r, r.ZoneName(), last, next.At, back.At)
			}
			if back, ok := r.Prev(between.Add(1)); !ok || !back.At.Equal(last) {
				t.Errorf("%s in %s: before %s comes %s, not %s", r, r.ZoneName(), between, back.At, last)
			}
		}
		last = next.At
	}
	if got := r.Count(from, last); got != int64(n) {
		t.Errorf("%s in %s: %d occurrences from %s to %s, by Count %d", r, r.ZoneName(), n, from, last, got)
	}
	return n
}

func TestBoundsOfARule(t *testing.T) {
	start, end := on(t, "2026-03-01T00:00:00Z"), on(t, "2026-03-03T00:00:00Z")
	for _, text := range []string{"0 0 * * *", "@every 24h"} {
		r := rule(t, text, "", recurrence.Options{StartsAt: start, EndsAt: end})
		first, ok := r.Next(start.AddDate(-1, 0, 0))
		if !ok || !first.At.Equal(start) {
			t.Errorf("%s: the first is %s", text, first.At)
		}
		second, ok := r.Next(first.At)
		if !ok || !second.At.Equal(start.AddDate(0, 0, 1)) {
			t.Errorf("%s: the second is %s", text, second.At)
		}
		if third, ok := r.Next(second.At); ok {
			t.Errorf("%s: past its end comes %s", text, third.At)
		}
		if last, ok := r.Prev(end.AddDate(1, 0, 0)); !ok || !last.At.Equal(second.At) {
			t.Errorf("%s: the last is %s", text, last.At)
		}
		if before, ok := r.Prev(start); ok {
			t.Errorf("%s: before its start comes %s", text, before.At)
		}
		if n := r.Count(start.AddDate(-1, 0, 0), end.AddDate(1, 0, 0)); n != 2 {
			t.Errorf("%s: %d occurrences", text, n)
		}
	}
	inside := rule(t, "0 0 * * *", "", recurrence.Options{StartsAt: start.Add(time.Nanosecond), EndsAt: end.Add(time.Nanosecond)})
	if n := inside.Count(start.AddDate(-1, 0, 0), end.AddDate(1, 0, 0)); n != 2 {
		t.Errorf("%d occurrences between bounds that are not whole seconds", n)
	}
}

func TestSearchEndsWhereTimeDoes(t *testing.T) {
	for _, text := range []string{"* * * * *", "0 0 29 2 *", "@every 36h"} {
		r := rule(t, text, "Europe/Berlin", recurrence.Options{Anchor: on(t, "2026-01-01T00:00:00Z")})
		for _, from := range []time.Time{{}, time.Unix(1<<62, 0), time.Unix(-1<<62, 0), time.Unix(1<<62, 999_999_999), time.Date(-5000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(250_000, 1, 1, 0, 0, 0, 0, time.UTC)} {
			late := from.Year() > recurrence.MaxYear
			if next, ok := r.Next(from); ok == late || ok && next.At.UTC().Year() != recurrence.MinYear && text != "0 0 29 2 *" {
				t.Errorf("%s: after %s comes %s", text, from, next.At)
			}
			if back, ok := r.Prev(from); ok != late || ok && back.At.UTC().Year() < recurrence.MaxYear-4 {
				t.Errorf("%s: before %s comes %s", text, from, back.At)
			}
		}
	}
}

func TestEvery(t *testing.T) {
	anchor := on(t, "2026-03-28T22:59:30Z")
	r := rule(t, "@every 90s", "Europe/Berlin", recurrence.Options{Anchor: anchor})
	at := anchor
	for i := 1; i <= 2000; i++ { // across the change of the clock
		next, ok := r.Next(at)
		if want := anchor.Add(time.Duration(i) * 90 * time.Second); !ok || !next.At.Equal(want) {
			t.Fatalf("after %s comes %s, not %s", at, next.At, want)
		}
		at = next.At
	}
	if back, ok := r.Prev(anchor); !ok || !back.At.Equal(anchor.Add(-90*time.Second)) {
		t.Errorf("before the anchor comes %s", back.At)
	}
	part := rule(t, "@every 1.5s", "", recurrence.Options{Anchor: anchor.Add(250_000_999)})
	if next, _ := part.Next(anchor); !next.At.Equal(anchor.Add(250 * time.Millisecond)) {
		t.Errorf("the anchor with its microseconds comes at %s", next.At)
	}
	if _, err := recurrence.Parse("@every 1h", "", recurrence.Options{}); err == nil {
		t.Error("@every without an anchor was accepted")
	}
}
