package operate

import (
	"errors"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func paceScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Redrive/spreads jobs at the pace, and the next call continues", Run: redrivePace},
		{Name: "Redrive/a pace that began in the past begins now", Run: redrivePast},
		{Name: "Redrive/continues above the handled ids, also past conflicts and jobs that failed again", Run: redriveAfter},
	}
}

func redriveAt(s *storetest.Stage, q core.DeadQuery, limit int, pace core.Pace) []core.Redriven {
	s.Helper()
	got, err := s.Store.Redrive(s.Ctx, q, limit, pace)
	s.Must(err)
	for _, one := range got {
		if job := s.Get(one.ID); one.Err == nil && (job.Status != core.Scheduled || !job.RunAt.Equal(one.RunAt)) {
			s.Errorf("job %d was put back to %s; it is %s and due %s", one.ID, one.RunAt, job.Status, job.RunAt)
		}
	}
	return got
}

func redrivePace(s *storetest.Stage) {
	failMany(s, 7, core.NewJob{Type: "a"})
	from := s.Now().Add(time.Hour).Truncate(time.Second)
	pace := core.Pace{From: from, Every: 200 * time.Millisecond}
	first := redriveAt(s, core.DeadQuery{Type: "a"}, 4, pace)
	pace.From = from.Add(time.Duration(len(first)) * pace.Every)
	all := append(first, redriveAt(s, core.DeadQuery{Type: "a"}, 4, pace)...)
	if len(all) != 7 {
		s.Fatalf("%d were put back, want 7", len(all))
	}
	for i, one := range all {
		if want := from.Add(time.Duration(i) * pace.Every); !one.RunAt.Equal(want) {
			s.Errorf("the %d. is due %s, want %s", i, one.RunAt, want)
		}
	}
	s.Advance(from.Sub(s.Now()) + 2*pace.Every)
	if n := len(s.Claim("a", 10)); n < 3 || n == 7 { // 3, or more on a slow machine
		s.Errorf("%d of 7 are due after two steps of the pace", n)
	}
}

func redrivePast(s *storetest.Stage) {
	failMany(s, 3, core.NewJob{Type: "a"})
	before := s.Now()
	got := redriveAt(s, core.DeadQuery{}, 10, core.Pace{From: before.Add(-time.Hour), Every: time.Minute})
	if len(got) != 3 || got[0].RunAt.Before(before.Truncate(time.Microsecond)) || got[0].RunAt.After(s.Now()) {
		s.Fatalf("want the first due now, %s; got %+v", before, got)
	}
	for i := range got {
		if wait := got[i].RunAt.Sub(got[0].RunAt); wait != time.Duration(i)*time.Minute {
			s.Errorf("the %d. is due %s after the first", i, wait)
		}
	}
	failMany(s, 2, core.NewJob{Type: "b"})
	at := redriveAt(s, core.DeadQuery{Type: "b"}, 10, core.Pace{})
	if len(at) != 2 || !at[0].RunAt.Equal(at[1].RunAt) || at[0].RunAt.After(s.Now()) {
		s.Errorf("without a pace: %+v", at)
	}
}

func redriveAfter(s *storetest.Stage) {
	taken := s.Put(core.Failed, core.NewJob{Type: "a", DedupeKey: "k"})
	holder := s.SubmitOne(core.NewJob{Type: "b", DedupeKey: "k"})
	ids := failMany(s, 5, core.NewJob{Type: "a"})
	first := redriveAt(s, core.DeadQuery{Type: "a"}, 2, core.Pace{Every: time.Hour})
	var conflict *core.ConflictError
	if len(first) != 2 || first[0].ID != taken.ID || !errors.As(first[0].Err, &conflict) || conflict.Other != holder || !first[0].RunAt.IsZero() || first[1].ID != ids[0] {
		s.Fatalf("want the one whose key is taken and the next, got %+v", first)
	}
	s.Advance(2 * time.Hour)
	again := s.Claim("a", 1)[0]
	s.FinishAs(core.Failed, core.End{Ref: storetest.RefOf(again), Outcome: core.EndFail})
	q := core.DeadQuery{Type: "a", After: first[1].ID}
	if n, err := s.Store.CountDead(s.Ctx, q); err != nil || n != 4 {
		s.Errorf("%d remain above, %v; want 4", n, err)
	}
	if got := redrivenIDs(redriveAt(s, q, 10, core.Pace{})); !slices.Equal(got, ids[1:]) {
		s.Errorf("want %v, got %v", ids[1:], got)
	}
	if n, err := s.Store.CountDead(s.Ctx, core.DeadQuery{}); err != nil || n != 2 {
		s.Errorf("%d are left, %v; want the one with the taken key and the one that failed again", n, err)
	}
	if n, err := s.Store.Discard(s.Ctx, core.DeadQuery{Type: "a", After: taken.ID}, 10); err != nil || n.N != 1 {
		s.Errorf("%d were discarded above, %v; want 1", n, err)
	}
}
