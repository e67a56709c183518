package damage

import (
	"errors"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

// apartNotes: notes of failures are for alerts. Where they cannot be written jobs fail for good all the same, and it is named.
func apartNotes(s *storetest.Stage, how storetest.Break) {
	_, _, mend := broken(s, how, core.NewJob{}, nil)
	var ends []core.End
	for i, job := range s.ClaimDue(both(100)...).Jobs {
		end := core.End{Ref: storetest.RefOf(job), Outcome: core.EndFail, Errors: storetest.OneError(job, "permanent")}
		if i%3 == 0 && job.Type == "sound" {
			end = core.End{Ref: storetest.RefOf(job), Outcome: core.EndDone}
		}
		ends = append(ends, end)
	}
	answers, err := s.Store.Finish(s.Ctx, ends)
	if s.Must(err); len(ends) != 12 {
		s.Fatalf("%d ends", len(ends))
	}
	for i, answer := range answers {
		if want := map[core.Outcome]core.Status{core.EndFail: core.Failed, core.EndDone: core.Done}[ends[i].Outcome]; answer != (core.EndAnswer{Status: want}) {
			s.Errorf("job %d: %+v, want %s", ends[i].ID, answer, want)
		}
	}
	namedAs(s, core.ApartNote, []int64{0}, "finish")
	again, err := s.Store.Finish(s.Ctx, ends)
	for i := range again {
		if s.Must(err); !again[i].Repeat {
			s.Errorf("job %d again: %+v", ends[i].ID, again[i])
		}
	}
	mend()
	s.Advance(core.ApartLongest)
	if got := setApart(s); len(got) != 0 {
		s.Errorf("mended: %+v", got)
	}
}

// apartNotesOfClaim: the same where a claim ends jobs.
func apartNotesOfClaim(s *storetest.Stage, how storetest.Break) {
	sound, bad, _ := broken(s, how, core.NewJob{MaxAttempts: 5}, func(ids []int64) {
		for _, id := range ids {
			if !s.DB.Damage(s.T, storetest.AttemptsAtMax, id) {
				s.Skip("this schema keeps attempts below max_attempts")
			}
		}
	})
	same(s, "claimed", s.ClaimDue(both(100)...).Jobs, nil)
	for _, id := range slices.Concat(sound, bad) {
		if got := s.Get(id); got.Status != core.Failed {
			s.Errorf("job %d is %s, want failed", id, got.Status)
		}
	}
	namedAs(s, core.ApartNote, []int64{0}, "end")
}

func apartRounds(s *storetest.Stage) {
	fault := core.RowFault{Kind: core.ApartSchedule, ID: 7, About: "nightly", Act: "advance", Error: "no"}
	wait := core.ApartFirst
	for try := 1; try <= 9; try++ {
		now := s.Now()
		s.Must(s.Store.SetApart(s.Ctx, []core.RowFault{fault, fault}))
		s.Must(s.Store.SetApart(s.Ctx, []core.RowFault{fault})) // it is already set apart
		got := setApart(s)
		if len(got) != 1 || got[0].Tries != try || got[0].About != "nightly" || got[0].Act != "advance" || got[0].Error != "no" || got[0].ID != 7 {
			s.Fatalf("try %d: %+v", try, got)
		}
		if d := got[0].RetryAt.Sub(now); d < wait-time.Second || d > wait+storetest.Patience {
			s.Errorf("try %d: met again after %s, want %s", try, d, wait)
		}
		told, err := s.Store.TellApart(s.Ctx)
		if s.Must(err); len(told) != map[bool]int{true: 1}[try == 1] {
			s.Errorf("try %d: reported %+v", try, told)
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
		s.Errorf("a row that fails again: %+v", got)
	}
	if told, err := s.Store.TellApart(s.Ctx); err != nil || len(told) != 1 {
		s.Errorf("a row that fails again is reported: %+v, %v", told, err)
	}
	s.Advance(time.Hour)
	_, err := s.Store.Maintain(s.Ctx, core.MaintainRequest{})
	s.Must(err)
	if stats, err := s.Store.Stats(s.Ctx, time.Hour); err != nil || len(stats.SetApart) != 0 {
		s.Errorf("counted %+v, %v", stats.SetApart, err)
	}
}

// apartUntilMet: a row is reported until it may have been tried again, even if that takes another attempt, another message
// or the next upkeep.
func apartUntilMet(s *storetest.Stage) {
	s.SubmitOne(core.NewJob{Type: "running"})
	running := s.ClaimDue(core.Quota{Priority: core.Default, Type: "running", Limit: 1}).Jobs[0]
	s.SubmitOne(core.NewJob{Type: "queued"})
	s.SubmitOne(core.NewJob{Type: "queued"})
	queued := s.Tick(storetest.TickRequest("holder-1", core.Quota{Priority: core.Default, Type: "queued", Limit: 2})).Dispatched
	done := s.SubmitOne(core.NewJob{Type: "done"})
	faults := []core.RowFault{
		{Kind: core.ApartJob, ID: running.ID, Act: core.ActFinish, Error: "no"},
		{Kind: core.ApartJob, ID: queued[0].ID, Act: core.ActStart, Error: "no"},
		{Kind: core.ApartJob, ID: queued[1].ID, Act: core.ActGiveBack, Error: "no"},
		{Kind: core.ApartJob, ID: done + 1_000, Act: core.ActFinish, Error: "of a job that is gone"},
		{Kind: core.ApartJob, ID: done, Act: core.ActStart, Error: "of a job that waits"},
		{Kind: core.ApartDead, ID: 7, Act: core.ActDrop, Error: "no"},
	}
	s.Must(s.Store.SetApart(s.Ctx, faults))
	_, err := s.Store.TellApart(s.Ctx)
	s.Must(err)
	expect := func(when string, want, tries int) {
		s.Helper()
		_, err := s.Store.Maintain(s.Ctx, core.MaintainRequest{})
		s.Must(err)
		got := setApart(s)
		if len(got) != want || slices.ContainsFunc(got, func(f core.RowFault) bool { return f.Tries != tries }) {
			s.Errorf("%s %d are named, want %d with %d tries: %+v", when, len(got), want, tries, got)
		}
		stats, err := s.Store.Stats(s.Ctx, time.Hour)
		s.Must(err)
		for _, n := range stats.SetApart {
			want -= n.Rows
		}
		if want != 0 {
			s.Errorf("%s %+v are counted, %d too few", when, stats.SetApart, want)
		}
	}
	expect("at once", len(faults), 1)
	s.Advance(core.ApartOverDrop)
	expect("when none can have been met again", 4, 1)
	s.Must(s.Store.SetApart(s.Ctx, []core.RowFault{faults[0], faults[1], faults[2], faults[5]}))
	expect("met again", 4, 2)
	if told, err := s.Store.TellApart(s.Ctx); err != nil || len(told) != 0 {
		s.Errorf("tried again, they are reported again: %+v, %v", told, err)
	}
	s.Finish(core.End{Ref: storetest.RefOf(running), Outcome: core.EndDone})
	s.Start(storetest.RefOf(queued[0]))
	s.Must(s.Store.Unhandled(s.Ctx, []core.Ref{storetest.RefOf(queued[1])}))
	s.Advance(core.ApartOver + 2*core.ApartFirst + time.Second)
	expect("when jobs were mended", 1, 2)
	s.Advance(core.ApartOverDrop)
	expect("when all were", 0, 0)
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
		s.Errorf("two steps, and one raises an error: %v", err)
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
