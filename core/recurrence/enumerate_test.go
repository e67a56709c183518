package recurrence_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core/recurrence"
)

// TestEnumerateMarksChangesOfTheClock checks each choice at both changes in Berlin.
func TestEnumerateMarksChangesOfTheClock(t *testing.T) {
	spring, autumn := on(t, "2026-03-29T00:30:00Z"), on(t, "2026-10-24T23:30:00Z")
	for _, c := range []struct {
		text    string
		options recurrence.Options
		from    time.Time
		want    []string // instant, mark, reason if dropped, matches in the gap
	}{
		{"0,30 2 * * *", recurrence.Options{}, spring, []string{"03:00+02:00 gap  2"}},
		{"0,30 2 * * *", recurrence.Options{DSTGap: recurrence.Shift}, spring, []string{"03:00+02:00 gap  0", "03:30+02:00 gap  0"}},
		{"0,30 2 * * *", recurrence.Options{DSTGap: recurrence.SkipGap}, spring, []string{"03:00+02:00 gap dst_gap 2"}},
		{"30 2,3 * * *", recurrence.Options{DSTGap: recurrence.Shift}, spring, []string{"03:30+02:00 gap  0"}},
		{"0 2,3 * * *", recurrence.Options{}, spring, []string{"03:00+02:00 gap  1"}},
		{"0 2,3 * * *", recurrence.Options{DSTGap: recurrence.SkipGap}, spring, []string{"03:00+02:00   0"}},
		{"*/30 2,3 * * *", recurrence.Options{}, spring, []string{"03:00+02:00   0", "03:30+02:00   0"}},
		{"30 2 * * *", recurrence.Options{}, autumn, []string{"02:30+02:00 overlap  0", "02:30+01:00 overlap dst_overlap 0"}},
		{"30 2 * * *", recurrence.Options{DSTOverlap: recurrence.Last}, autumn, []string{"02:30+02:00 overlap dst_overlap 0", "02:30+01:00 overlap  0"}},
		{"30 2 * * *", recurrence.Options{DSTOverlap: recurrence.Both}, autumn, []string{"02:30+02:00 overlap  0", "02:30+01:00 overlap  0"}},
		{"*/30 2,3 * * *", recurrence.Options{}, autumn, []string{"02:00+02:00 overlap  0", "02:30+02:00 overlap  0",
			"02:00+01:00 overlap  0", "02:30+01:00 overlap  0", "03:00+01:00   0"}},
	} {
		r := rule(t, c.text, "Europe/Berlin", c.options)
		until := c.from.Add(3*time.Hour - time.Nanosecond)
		found, more := r.Enumerate(c.from, until, 100)
		var got []string
		kept := 0
		for _, o := range found {
			got = append(got, fmt.Sprintf("%s %s %s %d", o.At.Format("15:04Z07:00"), o.DST, o.Dropped, o.Swallowed))
			if o.Dropped == "" {
				kept++
			}
		}
		if !reflect.DeepEqual(got, c.want) || more {
			t.Errorf("%s, %+v: %q, not %q", c.text, c.options, got, c.want)
		}
		if n := r.Count(c.from, until); n != int64(kept) {
			t.Errorf("%s: %d counted of %d", c.text, n, kept)
		}
	}
}

// TestCorrectionsMakeNothingUp is the day that Samoa skipped, and the three hours of an Antarctic station.
func TestCorrectionsMakeNothingUp(t *testing.T) {
	for _, c := range []struct {
		text, zone, from string
		want             []string
	}{
		{"0 12 * * *", "Pacific/Apia", "2011-12-29T00:00:00-10:00", []string{"2011-12-29T12:00:00-10:00", "2011-12-31T12:00:00+14:00"}},
		{"0 12 30 * *", "Pacific/Apia", "2011-12-01T00:00:00-10:00", []string{"2012-01-30T12:00:00+14:00"}},
		{"30 1 * * *", "Antarctica/Casey", "2021-10-02T00:00:00+08:00", []string{"2021-10-02T01:30:00+08:00", "2021-10-04T01:30:00+11:00"}},
		{"30 23 * * *", "Antarctica/Casey", "2022-03-12T00:00:00+11:00", []string{"2022-03-12T23:30:00+11:00", "2022-03-12T23:30:00+08:00", "2022-03-13T23:30:00+08:00"}},
	} {
		r := rule(t, c.text, c.zone, recurrence.Options{})
		from := on(t, c.from)
		for _, want := range c.want {
			next, ok := r.Next(from)
			if !ok || next.At.Format(time.RFC3339) != want || next.DST != "" {
				t.Errorf("%s in %s: after %s comes %+v, not %s", c.text, c.zone, from, next, want)
			}
			from = next.At
		}
	}
}

func TestEnumerateStopsAtItsLimit(t *testing.T) {
	r := rule(t, "* * * * *", "", recurrence.Options{})
	from := on(t, "2026-01-01T00:00:00Z")
	for limit, want := range map[int]bool{0: true, 9: true, 10: false, 11: false} {
		found, more := r.Enumerate(from, from.Add(10*time.Minute), limit)
		if len(found) != min(limit, 10) || more != want {
			t.Errorf("limit %d: %d found, more %v", limit, len(found), more)
		}
	}
	if spans := r.Spans(from, from); len(spans) != 0 {
		t.Errorf("between an instant and itself: %+v", spans)
	}
}
