package recurrence_test

import (
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core/recurrence"
)

// TestPlanOfAYearIsARange: a schedule of every second that was paused for a year needs one range.
func TestPlanOfAYearIsARange(t *testing.T) {
	r := rule(t, "* * * * * *", "Europe/Berlin", recurrence.Options{})
	from := on(t, "2026-01-05T10:00:00Z")
	now := from.Add(365 * 24 * time.Hour)
	for missed, want := range map[recurrence.MissedPolicy]int{recurrence.MissedSkip: 1, recurrence.MissedOnce: 2, recurrence.MissedAll: 2} {
		state := recurrence.State{Next: from, PausedFrom: from, PausedUntil: now}
		p := r.Plan(state, now.Add(-time.Second), recurrence.Policy{Missed: missed, Limit: 5}, 0)
		total := int64(0)
		for _, e := range p.Entries {
			total += e.Count
		}
		if len(p.Entries) != want || total != 365*86400 || p.More {
			t.Errorf("%s: %d entries of %d instants", missed, len(p.Entries), total)
		}
		if missed == recurrence.MissedAll && (len(p.Runs) != 5 || p.Limited != 365*86400-5) {
			t.Errorf("%d runs, %d limited", len(p.Runs), p.Limited)
		}
	}
}

// TestPlanCutShortKeepsWhatTheLimitLeft: a plan with a backlog continues while more instants come due.
func TestPlanCutShortKeepsWhatTheLimitLeft(t *testing.T) {
	r := rule(t, "* * * * *", "", recurrence.Options{})
	state := recurrence.State{Next: on(t, "2026-01-05T10:00:00Z")}
	now := on(t, "2026-01-05T12:00:50Z")
	policy := recurrence.Policy{Missed: recurrence.MissedAll, Limit: 10}
	var runs []recurrence.Run
	limited := int64(0)
	for more := true; more; now = now.Add(10 * time.Minute) {
		p := r.Plan(state, now, policy, 4)
		if runs, limited = append(runs, p.Runs...), limited+p.Limited; len(p.Runs) > 4 {
			t.Fatalf("%d runs in one plan", len(p.Runs))
		}
		state, more = p.State, p.More && len(runs) < 40
		if p.More == state.KeepFrom.IsZero() {
			t.Fatalf("more: %v, kept from %s", p.More, state.KeepFrom)
		}
	}
	if limited != 111 || !runs[0].ScheduledFor.Equal(on(t, "2026-01-05T11:51:00Z")) {
		t.Errorf("%d limited, the first run is for %s", limited, runs[0].ScheduledFor)
	}
	for i, run := range runs[1:] {
		if run.ScheduledFor.Sub(runs[i].ScheduledFor) != time.Minute {
			t.Errorf("after %s comes %s", runs[i].ScheduledFor, run.ScheduledFor)
		}
	}
}

// TestPlanCutShortKeepsWhatIsCovered: a pause lies between instants that are fired. The late run also covers instants that
// were missed before them.
func TestPlanCutShortKeepsWhatIsCovered(t *testing.T) {
	r := rule(t, "* * * * *", "", recurrence.Options{})
	state := recurrence.State{Next: on(t, "2026-01-05T10:00:00Z"),
		PausedFrom: on(t, "2026-01-05T10:20:00Z"), PausedUntil: on(t, "2026-01-05T10:25:00Z")}
	now := on(t, "2026-01-05T10:30:00Z")
	policy := recurrence.Policy{Missed: recurrence.MissedOnce, Grace: 20 * time.Minute}
	fired := 0
	for more := true; more; {
		p := r.Plan(state, now, policy, 3)
		for _, run := range p.Runs {
			if !run.CatchUp {
				fired++
			} else if run.Covers != 15 || !run.CoversFrom.Equal(on(t, "2026-01-05T10:00:00Z")) || !run.CoversTo.Equal(on(t, "2026-01-05T10:24:00Z")) {
				t.Errorf("the late run is %+v", run)
			}
		}
		state, more = p.State, p.More
	}
	if fired != 16 {
		t.Errorf("%d fired, not 16", fired)
	}
}

func TestPlanOfAnEndedRule(t *testing.T) {
	r := rule(t, "0 0 * * *", "", recurrence.Options{EndsAt: on(t, "2026-01-07T00:00:00Z")})
	state := r.Start(on(t, "2026-01-04T12:00:00Z"))
	p := r.Plan(state, on(t, "2026-02-01T00:00:00Z"), recurrence.Policy{Missed: recurrence.MissedSkip}, 0)
	if len(p.Entries) != 1 || p.Entries[0].Count != 2 || !p.State.Next.IsZero() {
		t.Errorf("%+v", p)
	}
	if again := r.Plan(p.State, on(t, "2027-02-01T00:00:00Z"), recurrence.Policy{}, 0); len(again.Entries) > 0 || !again.State.Next.IsZero() {
		t.Errorf("%+v", again)
	}
}

func TestStartOwesNothing(t *testing.T) {
	r := rule(t, "30 12 * * *", "", recurrence.Options{})
	for now, want := range map[string]string{
		"2026-01-05T12:29:59Z": "2026-01-05T12:30:00Z",
		"2026-01-05T12:30:00Z": "2026-01-06T12:30:00Z",
		"2026-01-05T13:30:00Z": "2026-01-06T12:30:00Z",
	} {
		state := r.Start(on(t, now))
		if !state.Next.Equal(on(t, want)) {
			t.Errorf("made at %s the first is due at %s", now, state.Next)
		}
		if p := r.Plan(state, on(t, now), recurrence.Policy{Missed: recurrence.MissedAll}, 0); len(p.Entries) > 0 {
			t.Errorf("made at %s it owes %+v", now, p.Entries)
		}
	}
}

func TestRecomputeOwesNothingNew(t *testing.T) {
	r := rule(t, "0 12 * * *", "Europe/Berlin", recurrence.Options{})
	for _, c := range []struct{ next, now, want string }{
		{"2026-01-06T12:30:00Z", "2026-01-06T10:00:00Z", "2026-01-06T11:00:00Z"}, // comes earlier with the new data, and is still ahead
		{"2026-01-06T12:30:00Z", "2026-01-06T11:30:00Z", "2026-01-07T11:00:00Z"}, // would already have come with the new data
		{"2026-01-06T11:00:00Z", "2026-01-08T00:00:00Z", "2026-01-06T11:00:00Z"}, // was due, and stays due
		{"2026-01-06T11:00:00Z", "2026-01-06T11:00:00Z", "2026-01-06T11:00:00Z"},
		{"", "2026-01-06T10:00:00Z", "2026-01-06T11:00:00Z"},
	} {
		state := recurrence.State{Active: true}
		if c.next != "" {
			state.Next = on(t, c.next)
		}
		if got := r.Recompute(state, on(t, c.now)); !got.Next.Equal(on(t, c.want)) || !got.Active {
			t.Errorf("next %s at %s becomes %s, not %s", c.next, c.now, got.Next, c.want)
		}
	}
}

func TestGrace(t *testing.T) {
	for _, c := range [][4]time.Duration{
		{0, time.Second, 4 * time.Second, 30 * time.Second},
		{time.Second, time.Second, 4 * time.Second, 6 * time.Second},
		{0, time.Minute, 5 * time.Second, 125 * time.Second},
		{time.Hour, time.Minute, 5 * time.Second, time.Hour},
	} {
		if got := recurrence.Grace(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("Grace(%s, %s, %s) is %s, not %s", c[0], c[1], c[2], got, c[3])
		}
	}
}

func TestJitter(t *testing.T) {
	start := on(t, "2026-01-05T00:00:00Z")
	var buckets [10]int
	for i := range 10_000 {
		at := start.Add(time.Duration(i) * time.Minute)
		j := recurrence.Jitter("17", at, 10*time.Second)
		if j < 0 || j >= 10*time.Second || j != recurrence.Jitter("17", at.In(time.FixedZone("", 3600)), 10*time.Second) {
			t.Fatalf("jitter of %s at %s", j, at)
		}
		buckets[j/time.Second]++
	}
	for second, n := range buckets {
		if n < 800 || n > 1200 {
			t.Errorf("%d of 10,000 in second %d", n, second)
		}
	}
	if got := recurrence.Jitter("17", start, time.Hour); got != 2256310048*time.Microsecond {
		t.Errorf("the jitter of one schedule and instant is %s, and was another once", got)
	}
	if recurrence.Jitter("17", start, time.Hour) == recurrence.Jitter("18", start, time.Hour) {
		t.Error("two schedules share their jitter")
	}
	if recurrence.Jitter("17", start, 0) != 0 || recurrence.Jitter("17", start, -time.Second) != 0 {
		t.Error("jitter where none was asked for")
	}
}
