package work

import (
	"strings"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func finishScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Finish/a repeat gets the first answer, also when the next attempt is queued or runs", Run: finishRepeatedLater},
		{Name: "Finish/each outcome leaves the row it should", Run: finishOutcomes},
		{Name: "Finish/answers every end of a mixed batch in order", Run: finishMixed},
		{Name: "Finish/a repeated end gets the first answer and changes nothing", Run: finishRepeat},
		{Name: "Finish/one of two concurrent ends counts and both get its answer", Run: finishRace},
		{Name: "Finish/a stalled worker's late end is refused", Run: finishStalled},
		{Name: "Finish/the end of a job that was taken over is refused and the new run goes on", Run: finishTakenOver},
		{Name: "Finish/an old holder's error or hand back does not free the new holder's lease", Run: finishOldHolder},
		{Name: "Finish/no job ends twice, whoever ends it", Run: finishOnce},
		{Name: "Finish/snooze and hand back are not counted as attempts", Run: finishUncounted},
		{Name: "Finish/a hand back of a queued job leaves it queued", Run: finishQueued},
		{Name: "Finish/the longest error history is kept whole", Run: finishErrors},
		{Name: "Finish/a row locked by another transaction for three leases delays no other end", Run: finishHeld},
	}
}

func finishOutcomes(s *storetest.Stage) {
	for _, c := range []struct {
		outcome             core.Outcome
		want                core.Status
		token               int64
		attempts, snoozes   int
		result, reason      string
		ended, keepsHistory bool
	}{
		{core.EndDone, core.Done, 0, 1, 0, `{"n":1}`, "", true, false},
		{core.EndDone, core.Done, 0, 1, 0, "", "", true, true}, // its result was lost, and the error list says so
		{core.EndFail, core.Failed, 0, 1, 0, "", "", true, true},
		{core.EndRetry, core.Scheduled, 1, 1, 0, "", "", false, true},
		{core.EndSnooze, core.Scheduled, 1, 0, 1, "", "", false, true},
		{core.EndLoss, core.Scheduled, 1, 0, 0, "", "", false, true},
		{core.EndHandBack, core.Scheduled, 1, 0, 0, "", "", false, false},
	} {
		job := s.Put(core.Running, core.NewJob{Tenant: "t", Tags: []string{"x"}})
		end := core.End{Ref: storetest.RefOf(job), Outcome: c.outcome, Wait: 7 * time.Minute}
		if c.outcome == core.EndDone {
			end.Wait = 0
		}
		if c.result != "" {
			end.Result = []byte(c.result)
		}
		if c.keepsHistory {
			end.Errors = storetest.OneError(job, "boom")
		}
		now := s.Now()
		s.FinishAs(c.want, end)
		got := s.Get(job.ID)
		if got.Attempts != c.attempts || got.Snoozes != c.snoozes || string(got.Result) != c.result || got.Reason != c.reason || got.EndedToken != job.LeaseToken {
			s.Errorf("outcome %d: %+v", c.outcome, got)
		}
		if !c.ended && got.LeaseToken != job.LeaseToken+c.token || got.Tenant != "t" || len(got.Tags) != 1 || got.CancelWanted {
			s.Errorf("outcome %d: want token %d and the job itself unchanged: %+v", c.outcome, job.LeaseToken+c.token, got)
		}
		if c.ended == got.FinishedAt.IsZero() || c.ended && got.FinishedAt.Sub(now).Abs() > storetest.Patience {
			s.Errorf("outcome %d: finished at %s", c.outcome, got.FinishedAt)
		}
		if !c.ended && (got.RunAt.Sub(now) < 7*time.Minute-time.Millisecond || got.RunAt.Sub(now) > 7*time.Minute+storetest.Patience) {
			s.Errorf("outcome %d: next run at %s, want %s", c.outcome, got.RunAt, now.Add(7*time.Minute))
		}
		if c.keepsHistory {
			storetest.SameErrors(s, "after the end", got.Errors, end.Errors)
		}
		running, err := s.Store.ReadClaim(s.Ctx, job.ClaimID)
		if s.Must(err); len(running) != 0 {
			s.Errorf("outcome %d: the claim still names %v", c.outcome, storetest.IdsOf(running))
		}
	}
}

func finishMixed(s *storetest.Stage) {
	var ends []core.End
	var want []core.EndAnswer
	s.SubmitMany(120, "a")
	for i, job := range s.Claim("a", 120) {
		outcome := core.Outcome(1 + i%5)
		end, answer := core.End{Ref: storetest.RefOf(job), Outcome: outcome, Wait: time.Hour}, core.EndAnswer{Status: []core.Status{0, core.Done, core.Failed, core.Scheduled, core.Scheduled, core.Scheduled}[outcome]}
		switch {
		case i%7 == 3:
			end.Token--
			answer = core.EndAnswer{Stale: true}
		case i%7 == 5 && outcome != core.EndDone:
			s.Cancel(job.ID)
			answer.Status = core.Cancelled
		case i%11 == 6:
			end.ID = 1<<60 + int64(i)
			answer = core.EndAnswer{Stale: true}
		}
		ends, want = append(ends, end), append(want, answer)
	}
	for i, j := 0, len(ends)-1; i < j; i, j = i+2, j-2 { // not in the order of ids
		ends[i], ends[j], want[i], want[j] = ends[j], ends[i], want[j], want[i]
	}
	got, err := s.Store.Finish(s.Ctx, ends)
	if s.Must(err); len(got) != len(want) {
		s.Fatalf("%d answers for %d ends", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			s.Errorf("end %d, %+v: got %+v, want %+v", i, ends[i], got[i], want[i])
		}
	}
	if got, err = s.Store.Finish(s.Ctx, nil); err != nil || len(got) != 0 {
		s.Errorf("an empty call: %v, %v", got, err)
	}
}

func finishRepeat(s *storetest.Stage) {
	for _, outcome := range []core.Outcome{core.EndDone, core.EndFail, core.EndRetry, core.EndSnooze, core.EndHandBack, core.EndLoss} {
		job := s.Put(core.Running, core.NewJob{})
		end := core.End{Ref: storetest.RefOf(job), Outcome: outcome, Errors: storetest.OneError(job, "once")}
		first := s.Finish(end)
		row := s.Get(job.ID)
		for range 2 {
			if got := s.Finish(end); got != (core.EndAnswer{Status: first.Status, Repeat: true}) {
				s.Errorf("outcome %d: first %+v, repeated %+v", outcome, first, got)
			}
			s.Unchanged(row)
		}
		end.Outcome, end.Errors = core.EndDone, storetest.OneError(job, "twice")
		if got := s.Finish(end); !got.Repeat && !got.Stale {
			s.Errorf("outcome %d: another end under the ended token was answered %+v", outcome, got)
		}
		s.Unchanged(row)
		if row.Status != core.Scheduled {
			continue
		}
		next := s.Claim(job.Type, 1)
		if len(next) != 1 || next[0].LeaseToken <= job.LeaseToken {
			s.Fatalf("outcome %d: want the job claimed again, got %+v", outcome, next)
		}
		row, end.Outcome = s.Get(job.ID), outcome
		if got := s.Finish(end); !got.Repeat || got.Stale || got.Busy {
			s.Errorf("outcome %d: repeated during the next run: %+v", outcome, got)
		}
		s.Unchanged(row)
	}
}

func finishRace(s *storetest.Stage) {
	other := s.Second()
	s.SubmitMany(40, "a")
	for round, job := range s.Claim("a", 40) {
		outcomes := [2]core.Outcome{core.Outcome(1 + round%5), core.Outcome(1 + round/5%5)}
		var answers [2]core.EndAnswer
		s.Times(2, func(i int) error {
			return storetest.NotBusyEnd([]core.Store{s.Store, other.Store}[i], s, core.End{Ref: storetest.RefOf(job), Outcome: outcomes[i], Wait: time.Hour}, &answers[i])
		})
		row := s.Get(job.ID)
		firsts := 0
		for _, a := range answers {
			if !a.Repeat && !a.Stale {
				firsts++
			}
			if a.Status != row.Status && !a.Stale {
				s.Errorf("the row is %s, an end was answered %+v", row.Status, a)
			}
		}
		if firsts != 1 {
			s.Errorf("outcomes %v: %d ends counted: %+v", outcomes, firsts, answers)
		}
	}
}

// takeOver lets a running job's lease expire, reaps the job and claims it for another worker.
func takeOver(s *storetest.Stage, job core.Job) core.Job {
	s.Helper()
	s.Advance(storetest.Lease + time.Second)
	s.FinishAs(core.Scheduled, core.End{Ref: storetest.RefOf(job), Outcome: core.EndRetry, Errors: storetest.OneError(job, "lost"), Lost: true})
	next := s.Claim(job.Type, 1)
	if len(next) != 1 || next[0].ID != job.ID || next[0].LeaseToken <= job.LeaseToken {
		s.Fatalf("want job %d taken over, got %+v", job.ID, next)
	}
	return s.Get(job.ID)
}

// lateEnds sends everything that a worker may still send after its job has another holder. The reaper's answer stays valid.
func lateEnds(s *storetest.Stage, old core.Job) {
	s.Helper()
	for _, outcome := range []core.Outcome{core.EndDone, core.EndFail, core.EndRetry, core.EndSnooze, core.EndHandBack, core.EndLoss} {
		if got := s.Finish(core.End{Ref: storetest.RefOf(old), Outcome: outcome, Errors: storetest.OneError(old, "late")}); !got.Stale && (!got.Repeat || got.Status == core.Done) {
			s.Errorf("outcome %d of an old holder was answered %+v", outcome, got)
		}
	}
	if got := s.Beat(storetest.RefOf(old)); got != (core.Beat{Stale: true}) {
		s.Errorf("a heartbeat of an old holder was answered %+v", got)
	}
}

func finishStalled(s *storetest.Stage) {
	old := s.Put(core.Running, core.NewJob{})
	next := takeOver(s, old)
	s.FinishAs(core.Done, core.End{Ref: storetest.RefOf(next), Outcome: core.EndDone, Result: []byte(`"second"`)})
	row := s.Get(old.ID)
	for _, outcome := range []core.Outcome{core.EndDone, core.EndFail, core.EndRetry, core.EndSnooze, core.EndHandBack, core.EndLoss} {
		if got := s.Finish(core.End{Ref: storetest.RefOf(old), Outcome: outcome, Result: []byte(`"first"`)}); got != (core.EndAnswer{Stale: true}) {
			s.Errorf("outcome %d after another worker's end: want it stale, got %+v", outcome, got)
		}
		s.Unchanged(row)
	}
}

func finishTakenOver(s *storetest.Stage) {
	old := s.Put(core.Running, core.NewJob{})
	next := takeOver(s, old)
	lateEnds(s, old)
	s.Unchanged(next)
	if next.Attempts != 2 {
		s.Errorf("%d attempts are charged, want 2", next.Attempts)
	}
	s.FinishAs(core.Done, core.End{Ref: storetest.RefOf(next), Outcome: core.EndDone})
}

func finishOldHolder(s *storetest.Stage) {
	job := s.Put(core.Running, core.NewJob{MaxAttempts: 9})
	for range 3 {
		next := takeOver(s, job)
		lateEnds(s, job)
		s.Unchanged(next)
		if got := s.Claim(job.Type, 1); len(got) != 0 {
			s.Fatal("the new holder's job was claimed by a third")
		}
		job = next
	}
}

// finishOnce races the worker, the reaper, a cancel and a repeated end over jobs with expired leases.
func finishOnce(s *storetest.Stage) {
	s.SubmitMany(120, "a")
	jobs := s.Claim("a", 120)
	s.Advance(storetest.Lease + time.Second)
	var mu sync.Mutex
	firsts := map[int64]int{}
	end := func(outcome core.Outcome, lost bool) func() error {
		return func() error {
			for _, job := range jobs {
				var answer core.EndAnswer
				if err := storetest.NotBusyEnd(s.Store, s, core.End{Ref: storetest.RefOf(job), Outcome: outcome, Lost: lost, Wait: time.Hour}, &answer); err != nil {
					return err
				}
				if !answer.Stale && !answer.Repeat {
					mu.Lock()
					firsts[job.ID]++
					mu.Unlock()
				}
			}
			return nil
		}
	}
	s.Together(end(core.EndDone, false), end(core.EndRetry, true), end(core.EndFail, true), end(core.EndDone, false))
	for _, job := range jobs {
		if got := s.Get(job.ID); firsts[job.ID] != 1 || got.Attempts != 1 {
			s.Errorf("job %d: %d ends counted, now %+v", job.ID, firsts[job.ID], got)
		}
	}
	if n := len(s.List(core.ListQuery{Type: "a", Limit: 1000})); n != len(jobs) {
		s.Errorf("%d rows for %d jobs", n, len(jobs))
	}
}

func finishUncounted(s *storetest.Stage) {
	id := s.SubmitOne(core.NewJob{Type: "a", MaxAttempts: 2})
	for i := range 12 {
		jobs := s.Claim("a", 1)
		if len(jobs) != 1 || jobs[0].Attempts != 1 {
			s.Fatalf("run %d: want attempt 1, got %+v", i, jobs)
		}
		s.FinishAs(core.Scheduled, core.End{Ref: storetest.RefOf(jobs[0]), Outcome: []core.Outcome{core.EndSnooze, core.EndHandBack}[i%2]})
	}
	if got := s.Get(id); got.Attempts != 0 || got.Snoozes != 6 {
		s.Fatalf("want no attempt and 6 snoozes, got %d and %d", got.Attempts, got.Snoozes)
	}
}

func finishQueued(s *storetest.Stage) {
	job := s.Put(core.Queued, core.NewJob{})
	if got := s.Finish(core.End{Ref: storetest.RefOf(job), Outcome: core.EndHandBack}); got.Status != 0 && got.Status != core.Queued {
		s.Errorf("answered %+v", got)
	}
	s.Unchanged(job)
	if res := s.Start(storetest.RefOf(job)); len(res.Jobs) != 1 {
		s.Error("its message became worthless")
	}
}

func finishErrors(s *storetest.Stage) {
	job := s.Put(core.Running, core.NewJob{MaxAttempts: 100})
	var history []core.AttemptError
	for i := range core.MaxErrors {
		history = append(history, core.AttemptError{Attempt: i, At: job.StartedAt, Error: strings.Repeat("x", core.MaxErrorBytes-1) + string(rune('a'+i)), Kind: "timeout"})
	}
	s.FinishAs(core.Scheduled, core.End{Ref: storetest.RefOf(job), Outcome: core.EndRetry, Errors: history})
	storetest.SameErrors(s, "after a retry", s.Get(job.ID).Errors, history)
	history = history[:1]
	next := s.Claim(job.Type, 1)[0]
	s.FinishAs(core.Scheduled, core.End{Ref: storetest.RefOf(next), Outcome: core.EndRetry, Errors: history})
	storetest.SameErrors(s, "after a shorter one", s.Get(job.ID).Errors, history)
}

func finishHeld(s *storetest.Stage) {
	s.SubmitMany(1001, "a")
	jobs := s.Claim("a", 1001)
	held := jobs[500]
	release := s.Hold(storetest.Hold{Kind: storetest.HoldRow, ID: held.ID})
	s.Advance(3 * storetest.Lease)
	ends := make([]core.End, len(jobs))
	for i, job := range jobs {
		ends[i] = core.End{Ref: storetest.RefOf(job), Outcome: core.Outcome(1 + i%5), Wait: time.Hour}
	}
	answers, err := s.Store.Finish(s.Ctx, ends)
	s.Must(err)
	for i, answer := range answers {
		if isHeld := jobs[i].ID == held.ID; answer.Busy != isHeld || answer.Stale || answer.Repeat || isHeld != (answer.Status == 0) {
			s.Fatalf("end %d of job %d: %+v", i, jobs[i].ID, answer)
		}
	}
	s.Unchanged(held)
	release(false)
	s.FinishAs(core.Done, core.End{Ref: storetest.RefOf(held), Outcome: core.EndDone})
}

func finishRepeatedLater(s *storetest.Stage) {
	s.SubmitMany(2, "a")
	var ends []core.End
	for _, job := range s.Claim("a", 2) {
		end := core.End{Ref: storetest.RefOf(job), Outcome: core.EndRetry}
		s.FinishAs(core.Scheduled, end)
		ends = append(ends, end)
	}
	want := core.EndAnswer{Status: core.Scheduled, Repeat: true}
	s.Advance(time.Second)
	req := storetest.TickRequest("holder-1")
	req.Dispatch, req.DispatchLease, req.DispatchLeaseMax, req.Quotas = true, time.Minute, time.Hour, []core.Quota{storetest.Quota("a", 1)}
	if res := s.Tick(req); len(res.Dispatched) != 1 {
		s.Fatalf("%d jobs were queued", len(res.Dispatched))
	}
	s.Claim("a", 1)
	for i, end := range ends {
		if got := s.Finish(end); got != want {
			s.Errorf("%d: its end, repeated: got %+v, want %+v", i, got, want)
		}
	}
}
