package schedule

import (
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func deleteRace(s *storetest.Stage) {
	second := s.Second()
	for range 10 {
		of := s.NewSchedule(core.ScheduleRule{})
		step := storetest.Fired(of, 0)
		for n := range 300 { // so that it takes some time
			step.Occurrences = append(step.Occurrences, core.Ledgered{Job: -1, Occurrence: core.Occurrence{
				From: storetest.Instant(n + 1), To: storetest.Instant(n + 1), Count: 1, Outcome: core.OccurrenceSkipped, Reason: core.SkippedOverlap,
			}})
		}
		s.Together(
			func() error { return s.Store.DeleteSchedule(s.Ctx, "", of.Name, 0) },
			func() error {
				_, err := second.Store.AdvanceSchedules(s.Ctx, []core.Advance{step}, nil)
				return err
			},
		)
		if rows := ledger(s, of); len(rows) != 0 {
			s.Fatalf("%d ledger rows of a schedule that is gone", len(rows))
		}
	}
}

func cancelRuns(s *storetest.Stage) {
	scheduled, running := s.SubmitOne(core.NewJob{Type: "a"}), s.SubmitOne(core.NewJob{Type: "b"})
	s.Claim("b", 1)
	queued := s.Put(core.Queued, core.NewJob{})
	ended := []core.Job{s.Put(core.Done, core.NewJob{}), s.Put(core.Failed, core.NewJob{})}
	ids := []int64{running, ended[0].ID, queued.ID, 1 << 40, ended[1].ID, scheduled}
	for round := range 2 {
		done, err := s.Store.CancelRuns(s.Ctx, ids)
		s.Must(err)
		slices.Sort(done)
		want := []int64{scheduled, running, queued.ID}
		if round > 0 {
			want = []int64{running}
		}
		if slices.Sort(want); !slices.Equal(done, want) {
			s.Errorf("round %d: got %v, want %v", round, done, want)
		}
	}
	for _, id := range []int64{scheduled, queued.ID} {
		if job := s.Get(id); job.Status != core.Cancelled || id == queued.ID && job.LeaseToken != queued.LeaseToken+1 {
			s.Errorf("%+v", job)
		}
	}
	if job := s.Get(running); job.Status != core.Running || !job.CancelWanted {
		s.Errorf("%+v", job)
	}
	for _, job := range ended {
		s.Unchanged(job)
	}
	if done, err := s.Store.CancelRuns(s.Ctx, nil); err != nil || len(done) != 0 {
		s.Errorf("of none: %v %v", done, err)
	}
}

func tickWaitingPages(s *storetest.Stage) {
	var of []core.Schedule
	for range 5 {
		one := s.NewSchedule(core.ScheduleRule{Type: "work", Overlap: core.OverlapQueueOne})
		step := storetest.Fired(one, 0)
		step.State.NextDue, step.State.Waiting = time.Time{}, &core.Run{Schedule: one.Name, ScheduledFor: storetest.Instant(1)}
		s.Step(step)
		of = append(of, one)
	}
	req := storetest.TickRequest("holder-1")
	req.ScheduleLimit, req.WaitingLimit = 10, 2
	var ends []int64
	for range 4 {
		res := s.Tick(req)
		if len(res.Schedules) != 0 {
			s.Errorf("during active runs: %+v", res.Schedules)
		}
		ends, req.WaitingAfter = append(ends, res.WaitingTo), res.WaitingTo
	}
	if want := []int64{of[1].ID, of[3].ID, 0, of[1].ID}; !slices.Equal(ends, want) {
		s.Errorf("pages end at %v, want %v", ends, want)
	}
	for _, job := range s.Claim("work", 5) {
		s.FinishAs(core.Done, core.End{Ref: storetest.RefOf(job), Outcome: core.EndDone})
	}
	var listed []int64
	req.WaitingAfter = 0
	for range 3 {
		res := s.Tick(req)
		for _, one := range res.Schedules {
			listed = append(listed, one.ID)
		}
		req.WaitingAfter = res.WaitingTo
	}
	slices.Sort(listed)
	if want := []int64{of[0].ID, of[1].ID, of[2].ID, of[3].ID, of[4].ID}; !slices.Equal(listed, want) {
		s.Errorf("after them: %v, want %v", listed, want)
	}
}
