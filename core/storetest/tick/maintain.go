package tick

import (
	"errors"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func maintainScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Maintain/drops whole days of history past retention", Run: maintainHistory},
		{Name: "Maintain/keeps everything when retention is zero", Run: maintainForEver},
		{Name: "Maintain/drops dead letters past their own retention", Run: maintainDead},
		{Name: "Maintain/partitions are made ahead, once", Run: maintainAhead},
		{Name: "Maintain/many at once, beside jobs that end, disturb nothing", Run: maintainConcurrent},
		{Name: "Finish/on a day without a partition goes to the overflow history", Run: maintainOverflow},
	}
}

func gone(s *storetest.Stage, id int64) {
	s.Helper()
	if job, err := s.Store.Get(s.Ctx, id); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("want job %d gone, got %s, %v", id, job.Status, err)
	}
}

func maintainHistory(s *storetest.Stage) {
	req := core.MaintainRequest{HistoryRetention: 5 * storetest.Day}
	s.Maintain(req)
	live := s.SubmitOne(core.NewJob{Type: "a"})
	dead := s.Put(core.Failed, core.NewJob{})
	var ended []core.Job
	for i := range 9 { // one job a day, on days 0 … 8
		ended = append(ended, s.Put([]core.Status{core.Done, core.Cancelled}[i%2], core.NewJob{}))
		s.Advance(storetest.Day)
		s.Maintain(core.MaintainRequest{})
	}
	// Now is day 9. Days 0 … 3 are entirely older than 5 days; days 5 … 8 are not. Day 4 may be dropped or kept, depending
	// on the hour.
	s.Maintain(req)
	for i, job := range ended {
		switch {
		case i <= 3:
			gone(s, job.ID)
		case i >= 5:
			s.Unchanged(job)
		}
	}
	s.Unchanged(dead)
	if got := s.Get(live); got.Status != core.Scheduled {
		s.Errorf("a live job went with history: %s", got.Status)
	}
	s.Advance(30 * storetest.Day)
	s.Maintain(req)
	for _, job := range ended {
		gone(s, job.ID)
	}
	if jobs := s.List(core.ListQuery{Statuses: []core.Status{core.Done, core.Cancelled}, Limit: 100}); len(jobs) != 0 {
		s.Errorf("%v are still listed", storetest.IdsOf(jobs))
	}
}

func maintainForEver(s *storetest.Stage) {
	done, dead := s.Put(core.Done, core.NewJob{}), s.Put(core.Failed, core.NewJob{})
	s.Advance(1000 * storetest.Day)
	if res := s.Maintain(core.MaintainRequest{}); res.PartitionsDropped != 0 || res.DeadDropped != 0 {
		s.Errorf("%+v", res)
	}
	s.Unchanged(done)
	s.Unchanged(dead)
}

func maintainDead(s *storetest.Stage) {
	done, old := s.Put(core.Done, core.NewJob{}), s.Put(core.Failed, core.NewJob{DedupeKey: "k"})
	s.Advance(6 * storetest.Day)
	young := s.Put(core.Failed, core.NewJob{})
	s.Advance(2 * storetest.Day)
	if res := s.Maintain(core.MaintainRequest{DeadRetention: 7 * storetest.Day}); res.DeadDropped != 1 {
		s.Errorf("%d dead letters were dropped, want 1", res.DeadDropped)
	}
	gone(s, old.ID)
	s.Unchanged(young)
	s.Unchanged(done)
	s.SubmitOne(core.NewJob{Type: "a", DedupeKey: "k"})
}

func maintainAhead(s *storetest.Stage) {
	if !s.H.Partitions {
		s.Skip("this store keeps history in one table")
	}
	s.Maintain(core.MaintainRequest{})
	if res := s.Maintain(core.MaintainRequest{}); res.PartitionsMade != 0 || res.Overflow != 0 {
		s.Errorf("repeated: %+v", res)
	}
	s.Advance(3 * storetest.Day)
	if res := s.Maintain(core.MaintainRequest{}); res.PartitionsMade != 3 {
		s.Errorf("three days later %d partitions were made", res.PartitionsMade)
	}
	s.Advance(8 * storetest.Day)
	done := s.Put(core.Done, core.NewJob{})
	if stats, _ := s.Stats(); stats.HistoryOverflow != 0 {
		s.Errorf("eight days ahead there was no partition: %d rows overflow", stats.HistoryOverflow)
	}
	s.Unchanged(done)
}

func maintainConcurrent(s *storetest.Stage) {
	req := core.MaintainRequest{HistoryRetention: 2 * storetest.Day, DeadRetention: 2 * storetest.Day}
	s.Maintain(req)
	s.Put(core.Done, core.NewJob{})
	s.Advance(5 * storetest.Day)
	s.SubmitMany(300, "a")
	other := s.Second()
	maintain := func(store core.Store) func() error {
		return func() error {
			for range 5 {
				if _, err := store.Maintain(s.Ctx, req); err != nil {
					return err
				}
			}
			return nil
		}
	}
	s.Together(maintain(s.Store), maintain(other.Store), maintain(other.Store), func() error {
		for {
			res, err := s.Store.ClaimDue(s.Ctx, s.ClaimRequest(storetest.Quota("a", 20)))
			if err != nil || len(res.Jobs) == 0 {
				return err
			}
			for i, job := range res.Jobs {
				var answer core.EndAnswer
				end := core.End{Ref: storetest.RefOf(job), Outcome: []core.Outcome{core.EndDone, core.EndFail}[i%2]}
				if err := storetest.NotBusyEnd(s.Store, s, end, &answer); err != nil {
					return err
				}
			}
		}
	})
	if n := len(s.List(core.ListQuery{Type: "a", Statuses: []core.Status{core.Done, core.Failed}, Limit: 1000})); n != 300 {
		s.Errorf("%d of 300 ended jobs are left", n)
	}
}

func maintainOverflow(s *storetest.Stage) {
	s.Maintain(core.MaintainRequest{})
	s.Advance(60 * storetest.Day) // no partitions were created in this time
	var jobs []core.Job
	for _, status := range []core.Status{core.Done, core.Cancelled, core.Failed} {
		jobs = append(jobs, s.Put(status, core.NewJob{}))
	}
	stats, _ := s.Stats()
	if s.H.Partitions && stats.HistoryOverflow != 2 {
		s.Errorf("%d rows overflow, want 2", stats.HistoryOverflow)
	}
	for i, status := range []core.Status{core.Done, core.Cancelled, core.Failed} {
		if jobs[i].Status != status || len(s.List(core.ListQuery{Type: jobs[i].Type, Limit: 10})) != 1 {
			s.Errorf("a %s job is not where it should be: %+v", status, jobs[i])
		}
	}
	if again := s.Finish(core.End{Ref: core.Ref{ID: jobs[0].ID, Token: jobs[0].EndedToken}, Outcome: core.EndDone}); again != (core.EndAnswer{Status: core.Done, Repeat: true}) {
		s.Errorf("its end, repeated: %+v", again)
	}
	s.Maintain(core.MaintainRequest{HistoryRetention: 5 * storetest.Day})
	s.Unchanged(jobs[0])
	s.Advance(10 * storetest.Day)
	s.Maintain(core.MaintainRequest{HistoryRetention: 5 * storetest.Day})
	gone(s, jobs[0].ID)
	gone(s, jobs[1].ID)
	s.Unchanged(jobs[2])
}
