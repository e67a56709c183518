package storetest

import (
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func reapScenarios() []scenario {
	return []scenario{
		{"Tick/lists running jobs whose lease has passed, and no others", reapLists},
		{"Tick/lost jobs that nobody ends do not hide the others", reapPages},
		{"Tick/a lost job of a type no process handles is listed and put back", reapUnknownType},
		{"Tick/a running job whose lease never ends is stuck, and reaped", reapEndless},
		{"Tick/a queued job whose dispatch lease never ends is published again", republishEndless},
		{"Finish/a lost job that its worker extended meanwhile is left alone", reapExtended},
		{"Finish/a lost job that its worker ended meanwhile is left alone", reapEnded},
		{"Finish/a lost job that was released and claimed again meanwhile is left alone", reapClaimedAgain},
		{"Finish/reaper and heartbeat at once never both win", reapRace},
		{"Finish/a lost job counts its attempt and ends failed after the last", reapUsedUp},
		{"Finish/two reapers charge a lost job once", reapTwice},
	}
}

// lost ticks and returns the lost jobs found.
func (s *stage) lost() []core.Job {
	s.Helper()
	req := tickRequest("holder-1")
	req.Dispatch = false
	return s.tick(req).Lost
}

// reapEnd is what the reaper decides for a job with attempts left.
func reapEnd(job core.Job) core.End {
	return core.End{Ref: refOf(job), Outcome: core.EndRetry, Wait: time.Minute, Errors: oneError(job, "lost"), Lost: true}
}

func reapLists(s *stage) {
	old := s.put(core.Running, core.NewJob{Tenant: "t"})
	s.put(core.Scheduled, core.NewJob{})
	s.put(core.Queued, core.NewJob{})
	if got := s.lost(); len(got) != 0 {
		s.Fatalf("a job with a live lease was listed: %v", idsOf(got))
	}
	s.advance(lease / 2)
	s.put(core.Running, core.NewJob{})
	s.advance(lease/2 + time.Second)
	got := s.lost()
	if len(got) != 1 || got[0].ID != old.ID || got[0].LeaseToken != old.LeaseToken || got[0].Attempts != 1 || got[0].Type != old.Type || got[0].MaxAttempts != old.MaxAttempts || got[0].WorkerID != old.WorkerID {
		s.Fatalf("want job %d alone, as it stands, got %+v", old.ID, got)
	}
	s.unchanged(old)
}

// reapEndless: such a lease was written by hand. A heartbeat of a worker that lives puts it right before the reaper looks.
func reapEndless(s *stage) {
	for _, what := range []Damage{LeaseInfinity, LeaseFar, LeaseMissing, ReapInfinity} {
		s.sub(what.String(), func(s *stage) {
			job, alive := s.put(core.Running, core.NewJob{}), s.put(core.Running, core.NewJob{})
			if !s.db.Damage(s.T, what, job.ID) {
				s.finish(core.End{Ref: refOf(job), Outcome: core.EndDone})
				s.finish(core.End{Ref: refOf(alive), Outcome: core.EndDone})
				s.Skip("this schema cannot hold it")
			}
			s.db.Damage(s.T, what, alive.ID)
			s.advance(lease / 2)
			s.beat(refOf(alive))
			s.advance(lease/2 + time.Second)
			stats, err := s.store.Stats(s.ctx, time.Hour)
			if s.must(err); stats.Stuck != 1 {
				s.Errorf("%d jobs are stuck, want 1", stats.Stuck)
			}
			lost := s.lost()
			if len(lost) != 1 || lost[0].ID != job.ID {
				s.Fatalf("lost: %v, want job %d alone", idsOf(lost), job.ID)
			}
			s.finishAs(core.Scheduled, reapEnd(lost[0]))
			s.finishAs(core.Done, core.End{Ref: refOf(alive), Outcome: core.EndDone})
		})
	}
}

func republishEndless(s *stage) {
	job := s.queue(1, "a")[0]
	if !s.db.Damage(s.T, ReapInfinity, job.ID) {
		s.Skip("this schema cannot hold it")
	}
	s.advance(dispatchLease + time.Second)
	if got := s.tick(tickRequest("holder-1")).Dispatched; len(got) != 1 || got[0].ID != job.ID || got[0].LeaseToken != job.LeaseToken {
		s.Errorf("published again: %+v, want job %d", got, job.ID)
	}
}

func reapPages(s *stage) {
	ids := s.submitMany(25, "a")
	s.claim("a", 25)
	s.advance(lease + time.Second)
	var seen []int64
	req := tickRequest("holder-1")
	req.ReapLimit = 4
	for len(seen) < 2*len(ids) {
		lost := s.tick(req).Lost
		if len(lost) > 4 {
			s.Fatalf("%d lost jobs were listed, the limit is 4", len(lost))
		}
		seen = append(seen, idsOf(lost)...)
		if len(lost) < 4 {
			break
		}
		req.ReapAfter = lost[3].ID
	}
	if !slices.Equal(seen, ids) {
		s.Fatalf("paging through lost jobs: want %v, got %v", ids, seen)
	}
}

func reapUnknownType(s *stage) {
	job := s.put(core.Running, core.NewJob{Type: "known to nobody"})
	s.advance(lease + time.Second)
	lost := s.lost()
	if len(lost) != 1 || lost[0].ID != job.ID {
		s.Fatalf("want job %d listed, got %v", job.ID, idsOf(lost))
	}
	s.finishAs(core.Scheduled, reapEnd(lost[0]))
}

func reapExtended(s *stage) {
	job := s.put(core.Running, core.NewJob{})
	s.advance(lease + time.Second)
	lost := s.lost()
	if len(lost) != 1 {
		s.Fatalf("want one lost job, got %v", idsOf(lost))
	}
	s.beat(refOf(job))
	row := s.get(job.ID)
	for _, outcome := range []core.Outcome{core.EndRetry, core.EndFail} {
		end := reapEnd(lost[0])
		end.Outcome = outcome
		if got := s.finish(end); got != (core.EndAnswer{Stale: true}) {
			s.Errorf("want the reaper's end refused, got %+v", got)
		}
		s.unchanged(row)
	}
	s.finishAs(core.Done, core.End{Ref: refOf(job), Outcome: core.EndDone})
}

func reapEnded(s *stage) {
	for _, outcome := range []core.Outcome{core.EndDone, core.EndFail, core.EndRetry, core.EndSnooze, core.EndHandBack, core.EndLoss} {
		job := s.put(core.Running, core.NewJob{})
		s.advance(lease + time.Second)
		lost := s.lost()
		if len(lost) != 1 {
			s.Fatalf("want one lost job, got %v", idsOf(lost))
		}
		s.finish(core.End{Ref: refOf(job), Outcome: outcome, Wait: time.Hour})
		row := s.get(job.ID)
		if got := s.finish(reapEnd(lost[0])); !got.Stale && !got.Repeat {
			s.Errorf("outcome %d: want the reaper's end refused, got %+v", outcome, got)
		}
		s.unchanged(row)
	}
}

func reapClaimedAgain(s *stage) {
	job := s.put(core.Running, core.NewJob{})
	s.advance(lease + time.Second)
	lost := s.lost()
	s.finishAs(core.Scheduled, core.End{Ref: refOf(job), Outcome: core.EndHandBack})
	next := s.claim(job.Type, 1)
	if len(lost) != 1 || len(next) != 1 {
		s.Fatalf("want one lost job and its next run, got %v and %v", idsOf(lost), idsOf(next))
	}
	row := s.get(job.ID)
	if got := s.finish(reapEnd(lost[0])); !got.Stale && !got.Repeat {
		s.Errorf("want the reaper's end refused, got %+v", got)
	}
	s.unchanged(row)
}

func reapRace(s *stage) {
	s.submitMany(80, "a")
	jobs := s.claim("a", 80)
	s.advance(lease + time.Second)
	beats, ends := map[int64]core.Beat{}, map[int64]core.EndAnswer{}
	s.together(func() error {
		for _, job := range jobs {
			for {
				got, err := s.store.Heartbeat(s.ctx, []core.Ref{refOf(job)}, lease)
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
			if err := notBusyEnd(s.store, s, reapEnd(job), &answer); err != nil {
				return err
			}
			ends[job.ID] = answer
		}
		return nil
	})
	for _, job := range jobs {
		got := s.get(job.ID)
		extended, reaped := beats[job.ID] == core.Beat{}, ends[job.ID] == core.EndAnswer{Status: core.Scheduled}
		if extended == reaped || extended != (got.Status == core.Running) {
			s.Errorf("job %d: heartbeat %+v, reaper %+v, now %s", job.ID, beats[job.ID], ends[job.ID], got.Status)
		}
	}
}

func reapUsedUp(s *stage) {
	job := s.put(core.Running, core.NewJob{MaxAttempts: 2})
	s.advance(lease + time.Second)
	s.finishAs(core.Scheduled, reapEnd(s.lost()[0]))
	s.advance(2 * time.Minute)
	if next := s.claim(job.Type, 1); len(next) != 1 || next[0].Attempts != 2 || len(next[0].Errors) != 1 {
		s.Fatalf("want a second attempt that knows of the first, got %+v", next)
	}
	s.advance(lease + time.Second)
	end := reapEnd(s.lost()[0])
	end.Outcome = core.EndFail
	s.finishAs(core.Failed, end)
	if got := s.get(job.ID); got.Attempts != 2 || len(got.Errors) != 2 {
		s.Fatalf("want two attempts and two errors, got %+v", got)
	}
}

func reapTwice(s *stage) {
	s.submitMany(50, "a")
	s.claim("a", 50)
	s.advance(lease + time.Second)
	other := s.second()
	lists := [][]core.Job{s.lost(), other.lost()}
	counted := make([]int, 2)
	s.times(2, func(i int) error {
		for _, job := range lists[i] {
			var answer core.EndAnswer
			if err := notBusyEnd([]core.Store{s.store, other.store}[i], s, reapEnd(job), &answer); err != nil {
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
		if got := s.get(job.ID); got.Attempts != 1 || len(got.Errors) != 1 || got.LeaseToken != job.LeaseToken+1 {
			s.Errorf("want one attempt, one error and the token risen once: %+v", got)
		}
	}
}
