package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func lostAnswerScenarios() []scenario {
	return []scenario{
		{"ReadClaim/returns the running rows of one claim, as the claim would have", readClaim},
		{"ReadClaim/after a lost answer of ClaimDue the rows are found and nothing is charged twice", func(s *stage) { lostClaim(s, lostClaimDue) }},
		{"ReadClaim/after a lost answer of Start the rows are found and nothing is charged twice", func(s *stage) { lostClaim(s, lostStart) }},
		{"Finish/after a lost answer the same ends get the same answers and count once", lostFinish},
		{"Finish/a call cut off at any time counts whole or not at all", cutFinish},
		{"Submit/after a lost answer the dedupe key finds the job", lostSubmit},
		{"Tick/after a lost answer the marked jobs are published under the same tokens", lostTick},
	}
}

func readClaim(s *stage) {
	s.submitMany(30, "a")
	req := s.claimRequest(quota("a", 10))
	res, err := s.store.ClaimDue(s.ctx, req)
	s.must(err)
	s.claim("a", 10)
	other := s.second()
	sameJobs := func(want []core.Job) {
		s.Helper()
		got, err := other.store.ReadClaim(s.ctx, req.ClaimID)
		s.must(err)
		slices.SortFunc(got, func(a, b core.Job) int { return int(a.ID - b.ID) })
		if !slices.Equal(idsOf(got), idsOf(want)) {
			s.Fatalf("want %v, got %v", idsOf(want), idsOf(got))
		}
		for i, job := range got {
			if w := want[i]; refOf(job) != refOf(w) || job.Attempts != w.Attempts || job.Status != core.Running || string(job.Payload) != string(w.Payload) || !job.LeaseUntil.Equal(w.LeaseUntil) {
				s.Errorf("want %+v, got %+v", w, job)
			}
		}
	}
	slices.SortFunc(res.Jobs, func(a, b core.Job) int { return int(a.ID - b.ID) })
	sameJobs(res.Jobs)
	for i, outcome := range []core.Outcome{core.EndDone, core.EndFail, core.EndRetry, core.EndHandBack} {
		s.finish(core.End{Ref: refOf(res.Jobs[i]), Outcome: outcome, Wait: time.Hour})
	}
	sameJobs(res.Jobs[4:])
	if got, err := s.store.ReadClaim(s.ctx, 1<<60); err != nil || len(got) != 0 {
		s.Errorf("an unknown claim: %v, %v", idsOf(got), err)
	}
	if got, err := s.store.ReadClaim(s.ctx, 0); err != nil || len(got) != 0 {
		s.Errorf("claim 0 names rows no claim made running: %v, %v", idsOf(got), err)
	}
}

// lostClaimDue and lostStart make 20 jobs of type a running; the answer is lost.
func lostClaimDue(s *stage, store core.Store, req core.ClaimRequest) error {
	s.submitMany(20, "a")
	req.Quotas = []core.Quota{quota("a", 20)}
	_, err := store.ClaimDue(s.ctx, req)
	return err
}

func lostStart(s *stage, store core.Store, req core.ClaimRequest) error {
	_, err := store.Start(s.ctx, refsOf(s.queue(20, "a")), req)
	return err
}

// lostClaim loses the answer of a claim, hands half of its rows back and runs the others.
func lostClaim(s *stage, lose func(*stage, core.Store, core.ClaimRequest) error) {
	s.put(core.Running, core.NewJob{})
	req := s.claimRequest()
	store := NewFaulty(s.store, Fault{Method: "ClaimDue"}, Fault{Method: "Start"})
	if err := lose(s, store, req); !errors.Is(err, core.ErrUnavailable) {
		s.Fatalf("want the answer lost, got %v", err)
	}
	jobs, err := store.ReadClaim(s.ctx, req.ClaimID)
	s.must(err)
	if len(jobs) != 20 {
		s.Fatalf("%d of 20 rows were found", len(jobs))
	}
	for i, job := range jobs {
		if job.Type != "a" || job.Attempts != 1 {
			s.Errorf("a row of another claim, or charged more than once: %+v", job)
		}
		if i%2 == 0 {
			s.finishAs(core.Scheduled, core.End{Ref: refOf(job), Outcome: core.EndHandBack})
		} else {
			s.finishAs(core.Done, core.End{Ref: refOf(job), Outcome: core.EndDone})
		}
	}
	again := s.claim("a", 100)
	if len(again) != 10 {
		s.Fatalf("%d of 10 jobs handed back were claimed", len(again))
	}
	for _, job := range again {
		if job.Attempts != 1 {
			s.Errorf("job %d is charged %d attempts after one was handed back", job.ID, job.Attempts)
		}
	}
}

func lostFinish(s *stage) {
	s.submitMany(50, "a")
	jobs := s.claim("a", 50)
	ends := make([]core.End, len(jobs))
	for i, job := range jobs {
		ends[i] = core.End{Ref: refOf(job), Outcome: core.Outcome(1 + i%5), Wait: time.Hour, Errors: oneError(job, "once")}
	}
	store := NewFaulty(s.store, Fault{Method: "Finish", Nth: 1})
	if _, err := store.Finish(s.ctx, ends); !errors.Is(err, core.ErrUnavailable) {
		s.Fatalf("want the answer lost, got %v", err)
	}
	rows := make([]core.Job, len(jobs))
	for i, job := range jobs {
		rows[i] = s.get(job.ID)
	}
	answers, err := store.Finish(s.ctx, ends)
	s.must(err)
	for i, answer := range answers {
		if answer != (core.EndAnswer{Status: rows[i].Status, Repeat: true}) {
			s.Errorf("end %+v: answered %+v, the row is %s", ends[i], answer, rows[i].Status)
		}
		s.unchanged(rows[i])
	}
}

// cutFinish ends calls by their context at many points; the ends are sent again until they are answered.
func cutFinish(s *stage) {
	const size = 100
	cut := 0
	for round := range 12 {
		typ := s.newType()
		s.submitMany(size, typ)
		ends := make([]core.End, 0, size)
		for i, job := range s.claim(typ, size) {
			ends = append(ends, core.End{Ref: refOf(job), Outcome: core.Outcome(1 + i%5), Wait: time.Hour})
		}
		ctx, cancel := context.WithTimeout(s.ctx, time.Duration(round*round)*100*time.Microsecond)
		if _, err := s.store.Finish(ctx, ends); err != nil {
			cut++
		}
		cancel()
		for i, answer := range s.finishAll(ends) {
			if want := []core.Status{0, core.Done, core.Failed, core.Scheduled, core.Scheduled, core.Scheduled}[ends[i].Outcome]; answer.Stale || answer.Status != want {
				s.Fatalf("end %d, sent again: %+v, want %s", i, answer, want)
			}
		}
		count := map[core.Status]int{}
		for _, job := range s.list(core.ListQuery{Type: typ, Limit: 1000}) {
			count[job.Status]++
		}
		if count[core.Done] != size/5 || count[core.Failed] != size/5 || count[core.Scheduled] != 3*size/5 {
			s.Fatalf("round %d: %v", round, count)
		}
	}
	if cut == 0 {
		s.Error("no call was cut off: the context is ignored")
	}
}

// finishAll sends all ends, and those again whose rows are busy, until each is answered.
func (s *stage) finishAll(ends []core.End) []core.EndAnswer {
	s.Helper()
	all := make([]core.EndAnswer, len(ends))
	open := make([]int, len(ends))
	for i := range open {
		open[i] = i
	}
	for len(open) > 0 {
		part := make([]core.End, len(open))
		for i, at := range open {
			part[i] = ends[at]
		}
		answers, err := s.store.Finish(s.ctx, part)
		s.must(err)
		var busy []int
		for i, answer := range answers {
			if all[open[i]] = answer; answer.Busy {
				busy = append(busy, open[i])
			}
		}
		open = busy
	}
	return all
}

func lostSubmit(s *stage) {
	var jobs []core.NewJob
	for i := range 20 {
		jobs = append(jobs, core.NewJob{Type: "a", DedupeKey: fmt.Sprint("k", i)})
	}
	store := NewFaulty(s.store, Fault{Method: "Submit", Nth: 1})
	if _, err := store.Submit(s.ctx, jobs); !errors.Is(err, core.ErrUnavailable) {
		s.Fatalf("want the answer lost, got %v", err)
	}
	out, err := store.Submit(s.ctx, jobs)
	s.must(err)
	for i, one := range out {
		if one.Existing == nil || one.Existing.DedupeKey != jobs[i].DedupeKey {
			s.Errorf("job %d was written again", i)
		}
	}
	if n := len(s.list(core.ListQuery{Limit: 100})); n != 20 {
		s.Errorf("%d jobs, want 20", n)
	}
}

func lostTick(s *stage) {
	s.submitMany(30, "a")
	store := NewFaulty(s.store, Fault{Method: "Tick", Nth: 1})
	if _, err := store.Tick(s.ctx, tickRequest("holder-1", quota("a", 30))); !errors.Is(err, core.ErrUnavailable) {
		s.Fatalf("want the answer lost, got %v", err)
	}
	marked := s.list(core.ListQuery{Statuses: []core.Status{core.Queued}, Limit: 100})
	s.advance(dispatchLease + time.Second)
	res, err := store.Tick(s.ctx, tickRequest("holder-1"))
	s.must(err)
	if len(marked) != 30 {
		s.Fatalf("%d of 30 jobs were marked", len(marked))
	}
	s.republished(res, marked)
}
