package work

import (
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// suspectOf is an attempt of a job that was lost so many times in a row.
func suspectOf(losses int) *attempt {
	return &attempt{job: core.Job{Errors: []core.AttemptError{{Kind: core.KindLost, Losses: losses}}}}
}

// TestSuspectsAreLetIn: one at first, one more for each that the process outlived, and of those lost once more one only.
func TestSuspectsAreLetIn(t *testing.T) {
	var s suspects
	now := time.Unix(100, 0)
	let := func(losses int) *attempt {
		a := suspectOf(losses)
		if _, ok := s.admit(a, now, 0.5); ok {
			return a
		}
		return nil
	}
	first := let(core.SuspectLosses)
	if first == nil || let(core.SuspectLosses) != nil || let(core.SuspectLosses+1) != nil {
		t.Fatal("at first one suspect runs")
	}
	for outlived := 1; outlived < 2*maxSuspects; outlived++ {
		now = now.Add(time.Second)
		s.ended(first, now)
		first.phase = phaseEnded
		n := len(s.running)
		for a := let(core.SuspectLosses); a != nil; a = let(core.SuspectLosses) {
			first, n = a, n+1
		}
		if want := min(outlived+1, maxSuspects); n != want {
			t.Fatalf("%d suspects run after %d ended well, want %d", n, outlived, want)
		}
	}
	s.ended(first, now)
	if again := let(core.SuspectLosses + 1); again == nil {
		t.Fatal("one that was lost once more does not run where a place is free")
	}
	for _, run := range s.running[:2] {
		run.a.phase = phaseGone
	}
	if let(core.MaxLosses-1) != nil {
		t.Error("two that were lost once more run together")
	}
	if let(core.SuspectLosses) == nil {
		t.Error("one that was lost once more keeps others out")
	}
}

// TestLongSuspectsDoNotKeepOthersOut: one that has run for long counts as outlived, once.
func TestLongSuspectsDoNotKeepOthersOut(t *testing.T) {
	var s suspects
	now := time.Unix(100, 0)
	for want := 1; want < 5; want++ {
		n := 0
		for range 10 {
			if _, ok := s.admit(suspectOf(core.SuspectLosses), now, 0.5); ok {
				n++
			}
		}
		if n != min(1<<(want-1), maxSuspects) {
			t.Fatalf("%d more suspects run in round %d", n, want)
		}
		now = now.Add(suspectFor)
	}
}

// TestTurnsFollowEachOther: suspects that are turned away come back one after the other, at the pace of those that run.
func TestTurnsFollowEachOther(t *testing.T) {
	for _, takes := range []time.Duration{time.Millisecond, time.Second, time.Minute} {
		var s suspects
		now := time.Unix(100, 0)
		a := suspectOf(core.SuspectLosses)
		s.admit(a, now, 0.5)
		now = now.Add(takes)
		s.ended(a, now)
		for range 2 {
			s.admit(suspectOf(core.SuspectLosses), now, 0.5)
		}
		last, pace := time.Duration(0), max(takes/maxSuspects/2, minSuspectTurn)/2
		for n := range 5000 {
			wait, ok := s.admit(suspectOf(core.SuspectLosses), now, 0.5)
			ahead := time.Duration(n+1) * pace
			if ok || wait < last-maxSuspectWait/2 || wait > maxSuspectWait || ahead < maxSuspectWait && (wait-max(ahead, minSuspectWait)).Abs() > time.Millisecond*5 {
				t.Fatalf("number %d of those that take %s is let in: %t, waits %s", n, takes, ok, wait)
			}
			last = wait
		}
	}
}
