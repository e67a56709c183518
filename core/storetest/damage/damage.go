package damage

import (
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

// damageScenarios: a row that was damaged by hand never blocks the others.
func damageScenarios() []storetest.Scenario {
	var all []storetest.Scenario
	for _, what := range storetest.Damages() {
		all = append(all, storetest.Scenario{Name: "Damage/a row with " + what.String() + " stops no other", Run: func(s *storetest.Stage) { damaged(s, what) }})
	}
	return all
}

// damaged takes 15 sound jobs through their whole life, next to a damaged one in each live status.
func damaged(s *storetest.Stage, what storetest.Damage) {
	s.SubmitMany(6, "a")
	running := s.Claim("a", 6)
	queued := s.Queue(6, "a")
	base := s.Now().Add(-time.Hour)
	var waiting []int64
	for i := range 6 {
		waiting = append(waiting, s.SubmitOne(core.NewJob{Type: "a", RunAt: base.Add(time.Duration(i) * time.Second)}))
	}
	victims := []int64{running[2].ID, queued[2].ID, waiting[0]}
	applied := 0
	for _, id := range victims {
		if s.DB.Damage(s.T, what, id) {
			applied++
		}
	}
	if applied == 0 {
		s.Skip("this schema cannot hold it")
	}
	sound := func(ids []int64) []int64 {
		return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return slices.Contains(victims, id) })
	}
	all := sound(slices.Concat(storetest.IdsOf(running), storetest.IdsOf(queued), waiting))

	beats, err := s.Store.Heartbeat(s.Ctx, storetest.RefsOf(running), storetest.Lease)
	s.Must(err)
	for i, beat := range beats {
		if i != 2 && beat != (core.Beat{}) {
			s.Errorf("heartbeat %d next to it: %+v", i, beat)
		}
	}
	started := s.Start(storetest.RefsOf(queued)...).Jobs
	if got := sound(storetest.IdsOf(started)); len(got) != 5 {
		s.Errorf("%d of 5 queued jobs were started", len(got))
	}
	claimed := s.Claim("a", 100)
	if got := sound(storetest.IdsOf(claimed)); len(got) != 5 {
		s.Errorf("%d of 5 scheduled jobs were claimed", len(got))
	}
	damagedReads(s, all)
	damagedReaped(s, all, sound)
	damagedEnds(s, all, victims, sound)
	damagedReads(s, all)
	_, err = s.Store.Maintain(s.Ctx, core.MaintainRequest{HistoryRetention: 240 * time.Hour, DeadRetention: 240 * time.Hour})
	s.Must(err)
}

// damagedReads runs every read that meets the damaged rows.
func damagedReads(s *storetest.Stage, all []int64) {
	s.Helper()
	listed := storetest.IdsOf(s.List(core.ListQuery{Limit: 1000}))
	for _, id := range all {
		if !slices.Contains(listed, id) {
			s.Errorf("List leaves out job %d", id)
		}
		s.Get(id)
	}
	_, err := s.Store.Stats(s.Ctx, time.Hour)
	s.Must(err)
	_, err = s.Store.Ended(s.Ctx, all)
	s.Must(err)
	res := s.Tick(storetest.TickRequest("holder-1", storetest.Quota("a", 100)))
	if len(res.Held) != core.Buckets {
		s.Errorf("%d buckets are held", len(res.Held))
	}
}

// damagedReaped lets all leases expire and reschedules the lost jobs.
func damagedReaped(s *storetest.Stage, all []int64, sound func([]int64) []int64) {
	s.Helper()
	s.Advance(2 * storetest.Lease)
	lost := s.Tick(storetest.TickRequest("holder-1")).Lost
	if got := sound(storetest.IdsOf(lost)); len(got) != len(all) {
		s.Errorf("%d of %d lost jobs are listed", len(got), len(all))
	}
	ends := make([]core.End, len(lost))
	for i, job := range lost {
		ends[i] = core.End{Ref: storetest.RefOf(job), Outcome: core.EndRetry, Lost: true, Errors: storetest.OneError(job, "lost")}
	}
	answers, err := s.Store.Finish(s.Ctx, ends)
	s.Must(err)
	for i, answer := range answers {
		if slices.Contains(all, ends[i].ID) && answer != (core.EndAnswer{Status: core.Scheduled}) {
			s.Errorf("putting job %d back was answered %+v", ends[i].ID, answer)
		}
	}
}

// damagedEnds claims the rescheduled jobs, and ends all of them in one batch with the damaged rows.
func damagedEnds(s *storetest.Stage, all, victims []int64, sound func([]int64) []int64) {
	s.Helper()
	claimed := s.Claim("a", 100)
	if got := sound(storetest.IdsOf(claimed)); len(got) != len(all) {
		s.Errorf("%d of %d jobs were claimed again", len(got), len(all))
	}
	var ends []core.End
	for _, job := range claimed {
		ends = append(ends, core.End{Ref: storetest.RefOf(job), Outcome: core.EndDone})
	}
	for _, id := range victims {
		if job, err := s.Store.Get(s.Ctx, id); err == nil && !slices.Contains(storetest.IdsOf(claimed), id) {
			ends = append(ends, core.End{Ref: storetest.RefOf(job), Outcome: core.EndRetry})
		}
	}
	answers, err := s.Store.Finish(s.Ctx, ends)
	s.Must(err)
	for i, answer := range answers {
		if slices.Contains(all, ends[i].ID) && answer != (core.EndAnswer{Status: core.Done}) {
			s.Errorf("the end of job %d was answered %+v", ends[i].ID, answer)
		}
	}
	for _, id := range all {
		if got := s.Get(id); got.Status != core.Done {
			s.Errorf("job %d is %s", id, got.Status)
		}
	}
}
