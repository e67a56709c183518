package storetest

import (
	"errors"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func apartRounds(s *stage) {
	fault := core.RowFault{Kind: core.ApartSchedule, ID: 7, About: "nightly", Act: "advance", Error: "no"}
	wait := core.ApartFirst
	for try := 1; try <= 9; try++ {
		now := s.now()
		s.must(s.store.SetApart(s.ctx, []core.RowFault{fault, fault}))
		s.must(s.store.SetApart(s.ctx, []core.RowFault{fault})) // it is apart already
		got := s.apart()
		if len(got) != 1 || got[0].Tries != try || got[0].About != "nightly" || got[0].Act != "advance" || got[0].Error != "no" || got[0].ID != 7 {
			s.Fatalf("try %d: %+v", try, got)
		}
		if d := got[0].RetryAt.Sub(now); d < wait-time.Second || d > wait+patience {
			s.Errorf("try %d: met again after %s, want %s", try, d, wait)
		}
		told, err := s.store.TellApart(s.ctx)
		if s.must(err); len(told) != map[bool]int{true: 1}[try == 1] {
			s.Errorf("try %d: told %+v", try, told)
		}
		s.advance(wait + time.Second)
		wait = min(2*wait, core.ApartLongest)
	}
	s.advance(core.ApartOver)
	if got := s.apart(); len(got) != 0 {
		s.Errorf("one that was met again and did not fail is apart: %+v", got)
	}
	s.must(s.store.SetApart(s.ctx, []core.RowFault{fault}))
	if got := s.apart(); len(got) != 1 || got[0].Tries != 1 {
		s.Errorf("one that fails anew: %+v", got)
	}
	if told, err := s.store.TellApart(s.ctx); err != nil || len(told) != 1 {
		s.Errorf("one that fails anew is told: %+v, %v", told, err)
	}
	s.advance(time.Hour)
	_, err := s.store.Maintain(s.ctx, core.MaintainRequest{})
	s.must(err)
	if stats, err := s.store.Stats(s.ctx, time.Hour); err != nil || len(stats.SetApart) != 0 {
		s.Errorf("counted %+v, %v", stats.SetApart, err)
	}
}

func apartBounded(s *stage) {
	for part := range slices.Chunk(make([]core.RowFault, core.ApartMax+2_500), 1_000) {
		for i := range part {
			part[i] = core.RowFault{Kind: core.ApartJob, ID: s.number(), Act: "claim", Error: "no"}
		}
		s.must(s.store.SetApart(s.ctx, part))
	}
	stats, err := s.store.Stats(s.ctx, time.Hour)
	if s.must(err); len(stats.SetApart) != 1 || stats.SetApart[0].Rows < core.ApartMax || stats.SetApart[0].Rows > core.ApartMax+1_000 {
		s.Errorf("%+v are apart, want about %d", stats.SetApart, core.ApartMax)
	}
}

func apartAdvance(s *stage) {
	breaker, ok := s.db.(Breaker)
	if !ok {
		s.Skip("this database cannot be broken")
	}
	of, other := s.newSchedule(core.ScheduleRule{}), s.newSchedule(core.ScheduleRule{})
	bad := s.submitOne(core.NewJob{Type: of.Rule.Type})
	mend := breaker.Break(s.T, BreakInsert, bad)
	if mend == nil {
		s.Skip("this database cannot be broken so")
	}
	steps := []core.Advance{fired(of, 0), fired(other, 0)}
	if _, err := s.store.AdvanceSchedules(s.ctx, steps, nil); !errors.Is(err, core.ErrRow) {
		s.Errorf("two steps, one of which raises an error: %v", err)
	}
	if got := s.schedule(other); got.Moves != 0 {
		s.Errorf("the other moved although the call failed")
	}
	if got := s.step(steps[1]); got.Stale || len(got.JobIDs) != 1 {
		s.Errorf("alone the other: %+v", got)
	}
	mend()
	if got := s.step(steps[0]); got.Stale || len(got.JobIDs) != 1 {
		s.Errorf("once it was mended: %+v", got)
	}
}
