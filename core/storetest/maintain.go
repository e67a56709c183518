package storetest

import (
	"errors"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func maintainScenarios() []scenario {
	return []scenario{
		{"Maintain/drops whole days of history past retention", maintainHistory},
		{"Maintain/keeps everything when retention is zero", maintainForEver},
		{"Maintain/drops dead letters past their own retention", maintainDead},
		{"Maintain/partitions are made ahead, once", maintainAhead},
		{"Maintain/many at once, beside jobs that end, disturb nothing", maintainConcurrent},
		{"Finish/on a day without a partition goes to the overflow history", maintainOverflow},
	}
}

const day = 24 * time.Hour

func (s *stage) maintain(req core.MaintainRequest) core.MaintainResult {
	s.Helper()
	res, err := s.store.Maintain(s.ctx, req)
	s.must(err)
	return res
}

func (s *stage) gone(id int64) {
	s.Helper()
	if job, err := s.store.Get(s.ctx, id); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("want job %d gone, got %s, %v", id, job.Status, err)
	}
}

func maintainHistory(s *stage) {
	req := core.MaintainRequest{HistoryRetention: 5 * day}
	s.maintain(req)
	live := s.submitOne(core.NewJob{Type: "a"})
	dead := s.put(core.Failed, core.NewJob{})
	var ended []core.Job
	for i := range 9 { // one job a day, on days 0 … 8
		ended = append(ended, s.put([]core.Status{core.Done, core.Cancelled}[i%2], core.NewJob{}))
		s.advance(day)
		s.maintain(core.MaintainRequest{})
	}
	// Now is day 9. Days 0 … 3 are wholly older than 5 days; days 5 … 8 are not. Day 4 may go by the hour or stay.
	s.maintain(req)
	for i, job := range ended {
		switch {
		case i <= 3:
			s.gone(job.ID)
		case i >= 5:
			s.unchanged(job)
		}
	}
	s.unchanged(dead)
	if got := s.get(live); got.Status != core.Scheduled {
		s.Errorf("a live job went with history: %s", got.Status)
	}
	s.advance(30 * day)
	s.maintain(req)
	for _, job := range ended {
		s.gone(job.ID)
	}
	if jobs := s.list(core.ListQuery{Statuses: []core.Status{core.Done, core.Cancelled}, Limit: 100}); len(jobs) != 0 {
		s.Errorf("%v are still listed", idsOf(jobs))
	}
}

func maintainForEver(s *stage) {
	done, dead := s.put(core.Done, core.NewJob{}), s.put(core.Failed, core.NewJob{})
	s.advance(1000 * day)
	if res := s.maintain(core.MaintainRequest{}); res.PartitionsDropped != 0 || res.DeadDropped != 0 {
		s.Errorf("%+v", res)
	}
	s.unchanged(done)
	s.unchanged(dead)
}

func maintainDead(s *stage) {
	done, old := s.put(core.Done, core.NewJob{}), s.put(core.Failed, core.NewJob{DedupeKey: "k"})
	s.advance(6 * day)
	young := s.put(core.Failed, core.NewJob{})
	s.advance(2 * day)
	if res := s.maintain(core.MaintainRequest{DeadRetention: 7 * day}); res.DeadDropped != 1 {
		s.Errorf("%d dead letters were dropped, want 1", res.DeadDropped)
	}
	s.gone(old.ID)
	s.unchanged(young)
	s.unchanged(done)
	s.submitOne(core.NewJob{Type: "a", DedupeKey: "k"})
}

func maintainAhead(s *stage) {
	if !s.h.Partitions {
		s.Skip("this store keeps history in one table")
	}
	s.maintain(core.MaintainRequest{})
	if res := s.maintain(core.MaintainRequest{}); res.PartitionsMade != 0 || res.Overflow != 0 {
		s.Errorf("repeated: %+v", res)
	}
	s.advance(3 * day)
	if res := s.maintain(core.MaintainRequest{}); res.PartitionsMade != 3 {
		s.Errorf("three days later %d partitions were made", res.PartitionsMade)
	}
	s.advance(8 * day)
	done := s.put(core.Done, core.NewJob{})
	if stats, _ := s.stats(); stats.HistoryOverflow != 0 {
		s.Errorf("eight days ahead there was no partition: %d rows overflow", stats.HistoryOverflow)
	}
	s.unchanged(done)
}

func maintainConcurrent(s *stage) {
	req := core.MaintainRequest{HistoryRetention: 2 * day, DeadRetention: 2 * day}
	s.maintain(req)
	s.put(core.Done, core.NewJob{})
	s.advance(5 * day)
	s.submitMany(300, "a")
	other := s.second()
	maintain := func(store core.Store) func() error {
		return func() error {
			for range 5 {
				if _, err := store.Maintain(s.ctx, req); err != nil {
					return err
				}
			}
			return nil
		}
	}
	s.together(maintain(s.store), maintain(other.store), maintain(other.store), func() error {
		for {
			res, err := s.store.ClaimDue(s.ctx, s.claimRequest(quota("a", 20)))
			if err != nil || len(res.Jobs) == 0 {
				return err
			}
			for i, job := range res.Jobs {
				var answer core.EndAnswer
				end := core.End{Ref: refOf(job), Outcome: []core.Outcome{core.EndDone, core.EndFail}[i%2]}
				if err := notBusyEnd(s.store, s, end, &answer); err != nil {
					return err
				}
			}
		}
	})
	if n := len(s.list(core.ListQuery{Type: "a", Statuses: []core.Status{core.Done, core.Failed}, Limit: 1000})); n != 300 {
		s.Errorf("%d of 300 ended jobs are left", n)
	}
}

func maintainOverflow(s *stage) {
	s.maintain(core.MaintainRequest{})
	s.advance(60 * day) // nobody made partitions meanwhile
	var jobs []core.Job
	for _, status := range []core.Status{core.Done, core.Cancelled, core.Failed} {
		jobs = append(jobs, s.put(status, core.NewJob{}))
	}
	stats, _ := s.stats()
	if s.h.Partitions && stats.HistoryOverflow != 2 {
		s.Errorf("%d rows overflow, want 2", stats.HistoryOverflow)
	}
	for i, status := range []core.Status{core.Done, core.Cancelled, core.Failed} {
		if jobs[i].Status != status || len(s.list(core.ListQuery{Type: jobs[i].Type, Limit: 10})) != 1 {
			s.Errorf("a %s job is not where it should be: %+v", status, jobs[i])
		}
	}
	if again := s.finish(core.End{Ref: core.Ref{ID: jobs[0].ID, Token: jobs[0].EndedToken}, Outcome: core.EndDone}); again != (core.EndAnswer{Status: core.Done, Repeat: true}) {
		s.Errorf("its end, repeated: %+v", again)
	}
	s.maintain(core.MaintainRequest{HistoryRetention: 5 * day})
	s.unchanged(jobs[0])
	s.advance(10 * day)
	s.maintain(core.MaintainRequest{HistoryRetention: 5 * day})
	s.gone(jobs[0].ID)
	s.gone(jobs[1].ID)
	s.unchanged(jobs[2])
}
