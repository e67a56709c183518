package storetest

import (
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// damageScenarios: a row that someone damaged by hand never stops the others.
func damageScenarios() []scenario {
	var all []scenario
	for _, what := range Damages() {
		all = append(all, scenario{"Damage/a row with " + what.String() + " stops no other", func(s *stage) { damaged(s, what) }})
	}
	return all
}

// damaged sends 15 sound jobs through their whole life beside a damaged one in each live status.
func damaged(s *stage, what Damage) {
	s.submitMany(6, "a")
	running := s.claim("a", 6)
	queued := s.queue(6, "a")
	base := s.now().Add(-time.Hour)
	var waiting []int64
	for i := range 6 {
		waiting = append(waiting, s.submitOne(core.NewJob{Type: "a", RunAt: base.Add(time.Duration(i) * time.Second)}))
	}
	victims := []int64{running[2].ID, queued[2].ID, waiting[0]}
	applied := 0
	for _, id := range victims {
		if s.db.Damage(s.T, what, id) {
			applied++
		}
	}
	if applied == 0 {
		s.Skip("this schema cannot hold it")
	}
	sound := func(ids []int64) []int64 {
		return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return slices.Contains(victims, id) })
	}
	all := sound(slices.Concat(idsOf(running), idsOf(queued), waiting))

	beats, err := s.store.Heartbeat(s.ctx, refsOf(running), lease)
	s.must(err)
	for i, beat := range beats {
		if i != 2 && beat != (core.Beat{}) {
			s.Errorf("heartbeat %d beside it: %+v", i, beat)
		}
	}
	started := s.start(refsOf(queued)...).Jobs
	if got := sound(idsOf(started)); len(got) != 5 {
		s.Errorf("%d of 5 queued jobs were started", len(got))
	}
	claimed := s.claim("a", 100)
	if got := sound(idsOf(claimed)); len(got) != 5 {
		s.Errorf("%d of 5 scheduled jobs were claimed", len(got))
	}
	s.damagedReads(all)
	s.damagedReaped(all, sound)
	s.damagedEnds(all, victims, sound)
	s.damagedReads(all)
	_, err = s.store.Maintain(s.ctx, core.MaintainRequest{HistoryRetention: 240 * time.Hour, DeadRetention: 240 * time.Hour})
	s.must(err)
}

// damagedReads asks every question that meets the damaged rows.
func (s *stage) damagedReads(all []int64) {
	s.Helper()
	listed := idsOf(s.list(core.ListQuery{Limit: 1000}))
	for _, id := range all {
		if !slices.Contains(listed, id) {
			s.Errorf("List leaves out job %d", id)
		}
		s.get(id)
	}
	_, err := s.store.Stats(s.ctx, time.Hour)
	s.must(err)
	_, err = s.store.Ended(s.ctx, all)
	s.must(err)
	res := s.tick(tickRequest("holder-1", quota("a", 100)))
	if len(res.Held) != core.Buckets {
		s.Errorf("%d buckets are held", len(res.Held))
	}
}

// damagedReaped lets all leases pass and puts the lost jobs back.
func (s *stage) damagedReaped(all []int64, sound func([]int64) []int64) {
	s.Helper()
	s.advance(2 * lease)
	lost := s.tick(tickRequest("holder-1")).Lost
	if got := sound(idsOf(lost)); len(got) != len(all) {
		s.Errorf("%d of %d lost jobs are listed", len(got), len(all))
	}
	ends := make([]core.End, len(lost))
	for i, job := range lost {
		ends[i] = core.End{Ref: refOf(job), Outcome: core.EndRetry, Lost: true, Errors: oneError(job, "lost")}
	}
	answers, err := s.store.Finish(s.ctx, ends)
	s.must(err)
	for i, answer := range answers {
		if slices.Contains(all, ends[i].ID) && answer != (core.EndAnswer{Status: core.Scheduled}) {
			s.Errorf("putting job %d back was answered %+v", ends[i].ID, answer)
		}
	}
}

// damagedEnds claims what was put back and ends all of it in one batch with the damaged rows.
func (s *stage) damagedEnds(all, victims []int64, sound func([]int64) []int64) {
	s.Helper()
	claimed := s.claim("a", 100)
	if got := sound(idsOf(claimed)); len(got) != len(all) {
		s.Errorf("%d of %d jobs were claimed again", len(got), len(all))
	}
	var ends []core.End
	for _, job := range claimed {
		ends = append(ends, core.End{Ref: refOf(job), Outcome: core.EndDone})
	}
	for _, id := range victims {
		if job, err := s.store.Get(s.ctx, id); err == nil && !slices.Contains(idsOf(claimed), id) {
			ends = append(ends, core.End{Ref: refOf(job), Outcome: core.EndRetry})
		}
	}
	answers, err := s.store.Finish(s.ctx, ends)
	s.must(err)
	for i, answer := range answers {
		if slices.Contains(all, ends[i].ID) && answer != (core.EndAnswer{Status: core.Done}) {
			s.Errorf("the end of job %d was answered %+v", ends[i].ID, answer)
		}
	}
	for _, id := range all {
		if got := s.get(id); got.Status != core.Done {
			s.Errorf("job %d is %s", id, got.Status)
		}
	}
}
