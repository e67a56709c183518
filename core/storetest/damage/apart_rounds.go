package damage

import (
	"errors"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func apartRounds(s *storetest.Stage) {
	fault := core.RowFault{Kind: core.ApartSchedule, ID: 7, About: "nightly", Act: "advance", Error: "no"}
	wait := core.ApartFirst
	for try := 1; try <= 9; try++ {
		now := s.Now()
		s.Must(s.Store.SetApart(s.Ctx, []core.RowFault{fault, fault}))
		s.Must(s.Store.SetApart(s.Ctx, []core.RowFault{fault})) // it is apart already
		got := setApart(s)
		if len(got) != 1 || got[0].Tries != try || got[0].About != "nightly" || got[0].Act != "advance" || got[0].Error != "no" || got[0].ID != 7 {
			s.Fatalf("try %d: %+v", try, got)
		}
		if d := got[0].RetryAt.Sub(now); d < wait-time.Second || d > wait+storetest.Patience {
			s.Errorf("try %d: met again after %s, want %s", try, d, wait)
		}
		told, err := s.Store.TellApart(s.Ctx)
		if s.Must(err); len(told) != map[bool]int{true: 1}[try == 1] {
			s.Errorf("try %d: told %+v", try, told)
		}
		s.Advance(wait + time.Second)
		wait = min(2*wait, core.ApartLongest)
	}
	s.Advance(core.ApartOver)
	if got := setApart(s); len(got) != 0 {
		s.Errorf("one that was met again and did not fail is apart: %+v", got)
	}
	s.Must(s.Store.SetApart(s.Ctx, []core.RowFault{fault}))
	if got := setApart(s); len(got) != 1 || got[0].Tries != 1 {
		s.Errorf("one that fails anew: %+v", got)
	}
	if told, err := s.Store.TellApart(s.Ctx); err != nil || len(told) != 1 {
		s.Errorf("one that fails anew is told: %+v, %v", told, err)
	}
	s.Advance(time.Hour)
	_, err := s.Store.Maintain(s.Ctx, core.MaintainRequest{})
	s.Must(err)
	if stats, err := s.Store.Stats(s.Ctx, time.Hour); err != nil || len(stats.SetApart) != 0 {
		s.Errorf("counted %+v, %v", stats.SetApart, err)
	}
}

func apartBounded(s *storetest.Stage) {
	for part := range slices.Chunk(make([]core.RowFault, core.ApartMax+2_500), 1_000) {
		for i := range part {
			part[i] = core.RowFault{Kind: core.ApartJob, ID: s.Number(), Act: "claim", Error: "no"}
		}
		s.Must(s.Store.SetApart(s.Ctx, part))
	}
	stats, err := s.Store.Stats(s.Ctx, time.Hour)
	if s.Must(err); len(stats.SetApart) != 1 || stats.SetApart[0].Rows < core.ApartMax || stats.SetApart[0].Rows > core.ApartMax+1_000 {
		s.Errorf("%+v are apart, want about %d", stats.SetApart, core.ApartMax)
	}
}

func apartAdvance(s *storetest.Stage) {
	breaker, ok := s.DB.(storetest.Breaker)
	if !ok {
		s.Skip("this database cannot be broken")
	}
	of, other := s.NewSchedule(core.ScheduleRule{}), s.NewSchedule(core.ScheduleRule{})
	bad := s.SubmitOne(core.NewJob{Type: of.Rule.Type})
	mend := breaker.Break(s.T, storetest.BreakInsert, bad)
	if mend == nil {
		s.Skip("this database cannot be broken so")
	}
	steps := []core.Advance{storetest.Fired(of, 0), storetest.Fired(other, 0)}
	if _, err := s.Store.AdvanceSchedules(s.Ctx, steps, nil); !errors.Is(err, core.ErrRow) {
		s.Errorf("two steps, one of which raises an error: %v", err)
	}
	if got := s.Schedule(other); got.Moves != 0 {
		s.Errorf("the other moved although the call failed")
	}
	if got := s.Step(steps[1]); got.Stale || len(got.JobIDs) != 1 {
		s.Errorf("alone the other: %+v", got)
	}
	mend()
	if got := s.Step(steps[0]); got.Stale || len(got.JobIDs) != 1 {
		s.Errorf("once it was mended: %+v", got)
	}
}
