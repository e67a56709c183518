package storetest

import (
	"errors"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func paceScenarios() []scenario {
	return []scenario{
		{"Redrive/spreads what it puts back at the pace, and a following call goes on", redrivePace},
		{"Redrive/a pace that began in the past begins now", redrivePast},
		{"Redrive/goes on above the ids it has been through, also past conflicts and what failed again", redriveAfter},
	}
}

func (s *stage) redrive(q core.DeadQuery, limit int, pace core.Pace) []core.Redriven {
	s.Helper()
	got, err := s.store.Redrive(s.ctx, q, limit, pace)
	s.must(err)
	for _, one := range got {
		if job := s.get(one.ID); one.Err == nil && (job.Status != core.Scheduled || !job.RunAt.Equal(one.RunAt)) {
			s.Errorf("job %d was put back to %s; it is %s and due %s", one.ID, one.RunAt, job.Status, job.RunAt)
		}
	}
	return got
}

func redrivePace(s *stage) {
	s.failMany(7, core.NewJob{Type: "a"})
	from := s.now().Add(time.Hour).Truncate(time.Second)
	pace := core.Pace{From: from, Every: 200 * time.Millisecond}
	first := s.redrive(core.DeadQuery{Type: "a"}, 4, pace)
	pace.From = from.Add(time.Duration(len(first)) * pace.Every)
	all := append(first, s.redrive(core.DeadQuery{Type: "a"}, 4, pace)...)
	if len(all) != 7 {
		s.Fatalf("%d were put back, want 7", len(all))
	}
	for i, one := range all {
		if want := from.Add(time.Duration(i) * pace.Every); !one.RunAt.Equal(want) {
			s.Errorf("the %d. is due %s, want %s", i, one.RunAt, want)
		}
	}
	s.advance(from.Sub(s.now()) + 2*pace.Every)
	if n := len(s.claim("a", 10)); n < 3 || n == 7 { // 3, and more where the machine is slow
		s.Errorf("%d of 7 are due after two steps of the pace", n)
	}
}

func redrivePast(s *stage) {
	s.failMany(3, core.NewJob{Type: "a"})
	before := s.now()
	got := s.redrive(core.DeadQuery{}, 10, core.Pace{From: before.Add(-time.Hour), Every: time.Minute})
	if len(got) != 3 || got[0].RunAt.Before(before.Truncate(time.Microsecond)) || got[0].RunAt.After(s.now()) {
		s.Fatalf("want the first due now, %s; got %+v", before, got)
	}
	for i := range got {
		if wait := got[i].RunAt.Sub(got[0].RunAt); wait != time.Duration(i)*time.Minute {
			s.Errorf("the %d. is due %s after the first", i, wait)
		}
	}
	s.failMany(2, core.NewJob{Type: "b"})
	at := s.redrive(core.DeadQuery{Type: "b"}, 10, core.Pace{})
	if len(at) != 2 || !at[0].RunAt.Equal(at[1].RunAt) || at[0].RunAt.After(s.now()) {
		s.Errorf("without a pace: %+v", at)
	}
}

func redriveAfter(s *stage) {
	taken := s.put(core.Failed, core.NewJob{Type: "a", DedupeKey: "k"})
	holder := s.submitOne(core.NewJob{Type: "b", DedupeKey: "k"})
	ids := s.failMany(5, core.NewJob{Type: "a"})
	first := s.redrive(core.DeadQuery{Type: "a"}, 2, core.Pace{Every: time.Hour})
	var conflict *core.ConflictError
	if len(first) != 2 || first[0].ID != taken.ID || !errors.As(first[0].Err, &conflict) || conflict.Other != holder || !first[0].RunAt.IsZero() || first[1].ID != ids[0] {
		s.Fatalf("want the one whose key is taken and the next, got %+v", first)
	}
	s.advance(2 * time.Hour)
	again := s.claim("a", 1)[0]
	s.finishAs(core.Failed, core.End{Ref: refOf(again), Outcome: core.EndFail})
	q := core.DeadQuery{Type: "a", After: first[1].ID}
	if n, err := s.store.CountDead(s.ctx, q); err != nil || n != 4 {
		s.Errorf("%d remain above, %v; want 4", n, err)
	}
	if got := redrivenIDs(s.redrive(q, 10, core.Pace{})); !slices.Equal(got, ids[1:]) {
		s.Errorf("want %v, got %v", ids[1:], got)
	}
	if n, err := s.store.CountDead(s.ctx, core.DeadQuery{}); err != nil || n != 2 {
		s.Errorf("%d are left, %v; want the one with the taken key and the one that failed again", n, err)
	}
	if n, err := s.store.Discard(s.ctx, core.DeadQuery{Type: "a", After: taken.ID}, 10); err != nil || n != 1 {
		s.Errorf("%d were discarded above, %v; want 1", n, err)
	}
}
