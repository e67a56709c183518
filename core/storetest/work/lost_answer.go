package work

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func lostAnswerScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "ReadClaim/returns the running rows of one claim, as the claim would have", Run: readClaim},
		{Name: "ReadClaim/after a lost answer of ClaimDue the rows are found and nothing is charged twice", Run: func(s *storetest.Stage) { lostClaim(s, lostClaimDue) }},
		{Name: "ReadClaim/after a lost answer of Start the rows are found and nothing is charged twice", Run: func(s *storetest.Stage) { lostClaim(s, lostStart) }},
		{Name: "Finish/after a lost answer the same ends get the same answers and count once", Run: lostFinish},
		{Name: "Finish/a call cut off at any time counts whole or not at all", Run: cutFinish},
		{Name: "Submit/after a lost answer the dedupe key finds the job", Run: lostSubmit},
		{Name: "Tick/after a lost answer the marked jobs are published under the same tokens", Run: lostTick},
	}
}

func readClaim(s *storetest.Stage) {
	s.SubmitMany(30, "a")
	req := s.ClaimRequest(storetest.Quota("a", 10))
	res, err := s.Store.ClaimDue(s.Ctx, req)
	s.Must(err)
	s.Claim("a", 10)
	other := s.Second()
	sameJobs := func(want []core.Job) {
		s.Helper()
		got, err := other.Store.ReadClaim(s.Ctx, req.ClaimID)
		s.Must(err)
		slices.SortFunc(got, func(a, b core.Job) int { return int(a.ID - b.ID) })
		if !slices.Equal(storetest.IdsOf(got), storetest.IdsOf(want)) {
			s.Fatalf("want %v, got %v", storetest.IdsOf(want), storetest.IdsOf(got))
		}
		for i, job := range got {
			if w := want[i]; storetest.RefOf(job) != storetest.RefOf(w) || job.Attempts != w.Attempts || job.Status != core.Running || string(job.Payload) != string(w.Payload) || !job.LeaseUntil.Equal(w.LeaseUntil) {
				s.Errorf("want %+v, got %+v", w, job)
			}
		}
	}
	slices.SortFunc(res.Jobs, func(a, b core.Job) int { return int(a.ID - b.ID) })
	sameJobs(res.Jobs)
	for i, outcome := range []core.Outcome{core.EndDone, core.EndFail, core.EndRetry, core.EndHandBack} {
		s.Finish(core.End{Ref: storetest.RefOf(res.Jobs[i]), Outcome: outcome, Wait: time.Hour})
	}
	sameJobs(res.Jobs[4:])
	if got, err := s.Store.ReadClaim(s.Ctx, 1<<60); err != nil || len(got) != 0 {
		s.Errorf("an unknown claim: %v, %v", storetest.IdsOf(got), err)
	}
	if got, err := s.Store.ReadClaim(s.Ctx, 0); err != nil || len(got) != 0 {
		s.Errorf("claim 0 names rows no claim made running: %v, %v", storetest.IdsOf(got), err)
	}
}

// lostClaimDue and lostStart claim 20 jobs of type a and lose the answer.
func lostClaimDue(s *storetest.Stage, store core.Store, req core.ClaimRequest) error {
	s.SubmitMany(20, "a")
	req.Quotas = []core.Quota{storetest.Quota("a", 20)}
	_, err := store.ClaimDue(s.Ctx, req)
	return err
}

func lostStart(s *storetest.Stage, store core.Store, req core.ClaimRequest) error {
	_, err := store.Start(s.Ctx, storetest.RefsOf(s.Queue(20, "a")), req)
	return err
}

// lostClaim loses the answer of a claim, hands half of its rows back and finishes the others.
func lostClaim(s *storetest.Stage, lose func(*storetest.Stage, core.Store, core.ClaimRequest) error) {
	s.Put(core.Running, core.NewJob{})
	req := s.ClaimRequest()
	store := storetest.NewFaulty(s.Store, storetest.Fault{Method: "ClaimDue"}, storetest.Fault{Method: "Start"})
	if err := lose(s, store, req); !errors.Is(err, core.ErrUnavailable) {
		s.Fatalf("want the answer lost, got %v", err)
	}
	jobs, err := store.ReadClaim(s.Ctx, req.ClaimID)
	s.Must(err)
	if len(jobs) != 20 {
		s.Fatalf("%d of 20 rows were found", len(jobs))
	}
	for i, job := range jobs {
		if job.Type != "a" || job.Attempts != 1 {
			s.Errorf("a row of another claim, or charged more than once: %+v", job)
		}
		if i%2 == 0 {
			s.FinishAs(core.Scheduled, core.End{Ref: storetest.RefOf(job), Outcome: core.EndHandBack})
		} else {
			s.FinishAs(core.Done, core.End{Ref: storetest.RefOf(job), Outcome: core.EndDone})
		}
	}
	again := s.Claim("a", 100)
	if len(again) != 10 {
		s.Fatalf("%d of 10 jobs handed back were claimed", len(again))
	}
	for _, job := range again {
		if job.Attempts != 1 {
			s.Errorf("job %d is charged %d attempts after one was handed back", job.ID, job.Attempts)
		}
	}
}

func lostFinish(s *storetest.Stage) {
	s.SubmitMany(50, "a")
	jobs := s.Claim("a", 50)
	ends := make([]core.End, len(jobs))
	for i, job := range jobs {
		ends[i] = core.End{Ref: storetest.RefOf(job), Outcome: core.Outcome(1 + i%5), Wait: time.Hour, Errors: storetest.OneError(job, "once")}
	}
	store := storetest.NewFaulty(s.Store, storetest.Fault{Method: "Finish", Nth: 1})
	if _, err := store.Finish(s.Ctx, ends); !errors.Is(err, core.ErrUnavailable) {
		s.Fatalf("want the answer lost, got %v", err)
	}
	rows := make([]core.Job, len(jobs))
	for i, job := range jobs {
		rows[i] = s.Get(job.ID)
	}
	answers, err := store.Finish(s.Ctx, ends)
	s.Must(err)
	for i, answer := range answers {
		if answer != (core.EndAnswer{Status: rows[i].Status, Repeat: true}) {
			s.Errorf("end %+v: answered %+v, the row is %s", ends[i], answer, rows[i].Status)
		}
		s.Unchanged(rows[i])
	}
}

// cutFinish cancels calls at many points. It repeats the ends until they are answered.
func cutFinish(s *storetest.Stage) {
	const size = 100
	cut := 0
	for round := range 12 {
		typ := s.NewType()
		s.SubmitMany(size, typ)
		ends := make([]core.End, 0, size)
		for i, job := range s.Claim(typ, size) {
			ends = append(ends, core.End{Ref: storetest.RefOf(job), Outcome: core.Outcome(1 + i%5), Wait: time.Hour})
		}
		ctx, cancel := context.WithTimeout(s.Ctx, time.Duration(round*round)*100*time.Microsecond)
		if _, err := s.Store.Finish(ctx, ends); err != nil {
			cut++
		}
		cancel()
		for i, answer := range s.FinishAll(ends) {
			if want := []core.Status{0, core.Done, core.Failed, core.Scheduled, core.Scheduled, core.Scheduled}[ends[i].Outcome]; answer.Stale || answer.Status != want {
				s.Fatalf("end %d, sent again: %+v, want %s", i, answer, want)
			}
		}
		count := map[core.Status]int{}
		for _, job := range s.List(core.ListQuery{Type: typ, Limit: 1000}) {
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

func lostSubmit(s *storetest.Stage) {
	var jobs []core.NewJob
	for i := range 20 {
		jobs = append(jobs, core.NewJob{Type: "a", DedupeKey: fmt.Sprint("k", i)})
	}
	store := storetest.NewFaulty(s.Store, storetest.Fault{Method: "Submit", Nth: 1})
	if _, err := store.Submit(s.Ctx, jobs); !errors.Is(err, core.ErrUnavailable) {
		s.Fatalf("want the answer lost, got %v", err)
	}
	out, err := store.Submit(s.Ctx, jobs)
	s.Must(err)
	for i, one := range out {
		if one.Existing == nil || one.Existing.DedupeKey != jobs[i].DedupeKey {
			s.Errorf("job %d was written again", i)
		}
	}
	if n := len(s.List(core.ListQuery{Limit: 100})); n != 20 {
		s.Errorf("%d jobs, want 20", n)
	}
}

func lostTick(s *storetest.Stage) {
	s.SubmitMany(30, "a")
	store := storetest.NewFaulty(s.Store, storetest.Fault{Method: "Tick", Nth: 1})
	if _, err := store.Tick(s.Ctx, storetest.TickRequest("holder-1", storetest.Quota("a", 30))); !errors.Is(err, core.ErrUnavailable) {
		s.Fatalf("want the answer lost, got %v", err)
	}
	marked := s.List(core.ListQuery{Statuses: []core.Status{core.Queued}, Limit: 100})
	s.Advance(storetest.DispatchLease + time.Second)
	res, err := store.Tick(s.Ctx, storetest.TickRequest("holder-1"))
	s.Must(err)
	if len(marked) != 30 {
		s.Fatalf("%d of 30 jobs were marked", len(marked))
	}
	s.Republished(res, marked)
}
