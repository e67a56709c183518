package tick

import (
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func reapScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Tick/lists running jobs whose lease has expired, and no others", Run: reapLists},
		{Name: "Tick/lost jobs that nobody ends do not hide the others", Run: reapPages},
		{Name: "Tick/a lost job of a type no process handles is listed and put back", Run: reapUnknownType},
		{Name: "Tick/a running job whose lease never ends is stuck, and reaped", Run: reapEndless},
		{Name: "Tick/a queued job whose dispatch lease never ends is published again", Run: republishEndless},
		{Name: "Finish/a lost job that its worker has extended since is left alone", Run: reapExtended},
		{Name: "Finish/a lost job that its worker has ended since is left alone", Run: reapEnded},
		{Name: "Finish/a lost job that was released and claimed again since is left alone", Run: reapClaimedAgain},
		{Name: "Finish/reaper and heartbeat at once never both win", Run: reapRace},
		{Name: "Finish/a lost job counts its attempt and ends failed after the last", Run: reapUsedUp},
		{Name: "Finish/two reapers charge a lost job once", Run: reapTwice},
	}
}

func reapLists(s *storetest.Stage) {
	old := s.Put(core.Running, core.NewJob{Tenant: "t"})
	s.Put(core.Scheduled, core.NewJob{})
	s.Put(core.Queued, core.NewJob{})
	if got := s.Lost(); len(got) != 0 {
		s.Fatalf("a job with a live lease was listed: %v", storetest.IdsOf(got))
	}
	s.Advance(storetest.Lease / 2)
	s.Put(core.Running, core.NewJob{})
	s.Advance(storetest.Lease/2 + time.Second)
	got := s.Lost()
	if len(got) != 1 || got[0].ID != old.ID || got[0].LeaseToken != old.LeaseToken || got[0].Attempts != 1 || got[0].Type != old.Type || got[0].MaxAttempts != old.MaxAttempts || got[0].WorkerID != old.WorkerID {
		s.Fatalf("want only job %d, unchanged, got %+v", old.ID, got)
	}
	s.Unchanged(old)
}

// reapEndless: such a lease was written by hand. A live worker's heartbeat corrects it before the reaper reads it.
func reapEndless(s *storetest.Stage) {
	for _, what := range []storetest.Damage{storetest.LeaseInfinity, storetest.LeaseFar, storetest.LeaseMissing, storetest.ReapInfinity} {
		s.Sub(what.String(), func(s *storetest.Stage) {
			job, alive := s.Put(core.Running, core.NewJob{}), s.Put(core.Running, core.NewJob{})
			if !s.DB.Damage(s.T, what, job.ID) {
				s.Finish(core.End{Ref: storetest.RefOf(job), Outcome: core.EndDone})
				s.Finish(core.End{Ref: storetest.RefOf(alive), Outcome: core.EndDone})
				s.Skip("this schema cannot hold it")
			}
			s.DB.Damage(s.T, what, alive.ID)
			s.Advance(storetest.Lease / 2)
			s.Beat(storetest.RefOf(alive))
			s.Advance(storetest.Lease/2 + time.Second)
			stats, err := s.Store.Stats(s.Ctx, time.Hour)
			if s.Must(err); stats.Stuck != 1 {
				s.Errorf("%d jobs are stuck, want 1", stats.Stuck)
			}
			lost := s.Lost()
			if len(lost) != 1 || lost[0].ID != job.ID {
				s.Fatalf("lost: %v, want job %d alone", storetest.IdsOf(lost), job.ID)
			}
			s.FinishAs(core.Scheduled, storetest.ReapEnd(lost[0]))
			s.FinishAs(core.Done, core.End{Ref: storetest.RefOf(alive), Outcome: core.EndDone})
		})
	}
}

func republishEndless(s *storetest.Stage) {
	job := s.Queue(1, "a")[0]
	if !s.DB.Damage(s.T, storetest.ReapInfinity, job.ID) {
		s.Skip("this schema cannot hold it")
	}
	s.Advance(storetest.DispatchLease + time.Second)
	if got := s.Tick(storetest.TickRequest("holder-1")).Dispatched; len(got) != 1 || got[0].ID != job.ID || got[0].LeaseToken != job.LeaseToken {
		s.Errorf("published again: %+v, want job %d", got, job.ID)
	}
}

func reapPages(s *storetest.Stage) {
	ids := s.SubmitMany(25, "a")
	s.Claim("a", 25)
	s.Advance(storetest.Lease + time.Second)
	var seen []int64
	req := storetest.TickRequest("holder-1")
	req.ReapLimit = 4
	for len(seen) < 2*len(ids) {
		lost := s.Tick(req).Lost
		if len(lost) > 4 {
			s.Fatalf("%d lost jobs were listed, the limit is 4", len(lost))
		}
		seen = append(seen, storetest.IdsOf(lost)...)
		if len(lost) < 4 {
			break
		}
		req.ReapAfter = lost[3].ID
	}
	if !slices.Equal(seen, ids) {
		s.Fatalf("paging through lost jobs: want %v, got %v", ids, seen)
	}
}

func reapUnknownType(s *storetest.Stage) {
	job := s.Put(core.Running, core.NewJob{Type: "known to nobody"})
	s.Advance(storetest.Lease + time.Second)
	lost := s.Lost()
	if len(lost) != 1 || lost[0].ID != job.ID {
		s.Fatalf("want job %d listed, got %v", job.ID, storetest.IdsOf(lost))
	}
	s.FinishAs(core.Scheduled, storetest.ReapEnd(lost[0]))
}

func reapExtended(s *storetest.Stage) {
	job := s.Put(core.Running, core.NewJob{})
	s.Advance(storetest.Lease + time.Second)
	lost := s.Lost()
	if len(lost) != 1 {
		s.Fatalf("want one lost job, got %v", storetest.IdsOf(lost))
	}
	s.Beat(storetest.RefOf(job))
	row := s.Get(job.ID)
	for _, outcome := range []core.Outcome{core.EndRetry, core.EndFail} {
		end := storetest.ReapEnd(lost[0])
		end.Outcome = outcome
		if got := s.Finish(end); got != (core.EndAnswer{Stale: true}) {
			s.Errorf("want the reaper's end refused, got %+v", got)
		}
		s.Unchanged(row)
	}
	s.FinishAs(core.Done, core.End{Ref: storetest.RefOf(job), Outcome: core.EndDone})
}

func reapEnded(s *storetest.Stage) {
	for _, outcome := range []core.Outcome{core.EndDone, core.EndFail, core.EndRetry, core.EndSnooze, core.EndHandBack, core.EndLoss} {
		job := s.Put(core.Running, core.NewJob{})
		s.Advance(storetest.Lease + time.Second)
		lost := s.Lost()
		if len(lost) != 1 {
			s.Fatalf("want one lost job, got %v", storetest.IdsOf(lost))
		}
		s.Finish(core.End{Ref: storetest.RefOf(job), Outcome: outcome, Wait: time.Hour})
		row := s.Get(job.ID)
		if got := s.Finish(storetest.ReapEnd(lost[0])); !got.Stale && !got.Repeat {
			s.Errorf("outcome %d: want the reaper's end refused, got %+v", outcome, got)
		}
		s.Unchanged(row)
	}
}

func reapClaimedAgain(s *storetest.Stage) {
	job := s.Put(core.Running, core.NewJob{})
	s.Advance(storetest.Lease + time.Second)
	lost := s.Lost()
	s.FinishAs(core.Scheduled, core.End{Ref: storetest.RefOf(job), Outcome: core.EndHandBack})
	next := s.Claim(job.Type, 1)
	if len(lost) != 1 || len(next) != 1 {
		s.Fatalf("want one lost job and its next run, got %v and %v", storetest.IdsOf(lost), storetest.IdsOf(next))
	}
	row := s.Get(job.ID)
	if got := s.Finish(storetest.ReapEnd(lost[0])); !got.Stale && !got.Repeat {
		s.Errorf("want the reaper's end refused, got %+v", got)
	}
	s.Unchanged(row)
}

func reapRace(s *storetest.Stage) {
	s.SubmitMany(80, "a")
	jobs := s.Claim("a", 80)
	s.Advance(storetest.Lease + time.Second)
	beats, ends := map[int64]core.Beat{}, map[int64]core.EndAnswer{}
	s.Together(func() error {
		for _, job := range jobs {
			for {
				got, err := s.Store.Heartbeat(s.Ctx, []core.Ref{storetest.RefOf(job)}, storetest.Lease)
				if err != nil {
					return err
				}
				if beats[job.ID] = got[0]; !got[0].Busy {
					break
				}
			}
		}
		return nil
	}, func() error {
		for _, job := range slices.Backward(jobs) { // so that they meet in the middle
			var answer core.EndAnswer
			if err := storetest.NotBusyEnd(s.Store, s, storetest.ReapEnd(job), &answer); err != nil {
				return err
			}
			ends[job.ID] = answer
		}
		return nil
	})
	for _, job := range jobs {
		got := s.Get(job.ID)
		extended, reaped := beats[job.ID] == core.Beat{}, ends[job.ID] == core.EndAnswer{Status: core.Scheduled}
		if extended == reaped || extended != (got.Status == core.Running) {
			s.Errorf("job %d: heartbeat %+v, reaper %+v, now %s", job.ID, beats[job.ID], ends[job.ID], got.Status)
		}
	}
}

func reapUsedUp(s *storetest.Stage) {
	job := s.Put(core.Running, core.NewJob{MaxAttempts: 2})
	s.Advance(storetest.Lease + time.Second)
	s.FinishAs(core.Scheduled, storetest.ReapEnd(s.Lost()[0]))
	s.Advance(2 * time.Minute)
	if next := s.Claim(job.Type, 1); len(next) != 1 || next[0].Attempts != 2 || len(next[0].Errors) != 1 {
		s.Fatalf("want a second attempt that knows of the first, got %+v", next)
	}
	s.Advance(storetest.Lease + time.Second)
	end := storetest.ReapEnd(s.Lost()[0])
	end.Outcome = core.EndFail
	s.FinishAs(core.Failed, end)
	if got := s.Get(job.ID); got.Attempts != 2 || len(got.Errors) != 2 {
		s.Fatalf("want two attempts and two errors, got %+v", got)
	}
}

func reapTwice(s *storetest.Stage) {
	s.SubmitMany(50, "a")
	s.Claim("a", 50)
	s.Advance(storetest.Lease + time.Second)
	other := s.Second()
	lists := [][]core.Job{s.Lost(), other.Lost()}
	counted := make([]int, 2)
	s.Times(2, func(i int) error {
		for _, job := range lists[i] {
			var answer core.EndAnswer
			if err := storetest.NotBusyEnd([]core.Store{s.Store, other.Store}[i], s, storetest.ReapEnd(job), &answer); err != nil {
				return err
			}
			if !answer.Stale && !answer.Repeat {
				counted[i]++
			}
		}
		return nil
	})
	if counted[0]+counted[1] != 50 || len(lists[0]) != 50 || len(lists[1]) != 50 {
		s.Fatalf("two reapers of 50 lost jobs counted %v", counted)
	}
	for _, job := range lists[0] {
		if got := s.Get(job.ID); got.Attempts != 1 || len(got.Errors) != 1 || got.LeaseToken != job.LeaseToken+1 {
			s.Errorf("want one attempt, one error and the token risen once: %+v", got)
		}
	}
}
