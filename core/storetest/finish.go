package storetest

import (
	"strings"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func finishScenarios() []scenario {
	return []scenario{
		{"Finish/a repeat gets the first answer, also when the next attempt is queued or runs", finishRepeatedLater},
		{"Finish/each outcome leaves the row it should", finishOutcomes},
		{"Finish/answers every end of a mixed batch in order", finishMixed},
		{"Finish/a repeated end gets the first answer and changes nothing", finishRepeat},
		{"Finish/of two concurrent ends one counts and both are told of it", finishRace},
		{"Finish/a stalled worker's late end is refused", finishStalled},
		{"Finish/the end of a job that was taken over is refused and the new run goes on", finishTakenOver},
		{"Finish/an old holder's error or hand back does not free the new holder's lease", finishOldHolder},
		{"Finish/no job ends twice, whoever ends it", finishOnce},
		{"Finish/snooze and hand back are not counted as attempts", finishUncounted},
		{"Finish/a hand back of a queued job leaves it queued", finishQueued},
		{"Finish/the longest error history is kept whole", finishErrors},
		{"Finish/one row held by a stranger for three leases holds up no other end", finishHeld},
	}
}

func finishOutcomes(s *stage) {
	for _, c := range []struct {
		outcome             core.Outcome
		want                core.Status
		token               int64
		attempts, snoozes   int
		result, reason      string
		ended, keepsHistory bool
	}{
		{core.EndDone, core.Done, 0, 1, 0, `{"n":1}`, "", true, false},
		{core.EndDone, core.Done, 0, 1, 0, "", "", true, true}, // its result was lost: the note says so
		{core.EndFail, core.Failed, 0, 1, 0, "", "", true, true},
		{core.EndRetry, core.Scheduled, 1, 1, 0, "", "", false, true},
		{core.EndSnooze, core.Scheduled, 1, 0, 1, "", "", false, true},
		{core.EndLoss, core.Scheduled, 1, 0, 0, "", "", false, true},
		{core.EndHandBack, core.Scheduled, 1, 0, 0, "", "", false, false},
	} {
		job := s.put(core.Running, core.NewJob{Tenant: "t", Tags: []string{"x"}})
		end := core.End{Ref: refOf(job), Outcome: c.outcome, Wait: 7 * time.Minute}
		if c.outcome == core.EndDone {
			end.Wait = 0
		}
		if c.result != "" {
			end.Result = []byte(c.result)
		}
		if c.keepsHistory {
			end.Errors = oneError(job, "boom")
		}
		now := s.now()
		s.finishAs(c.want, end)
		got := s.get(job.ID)
		if got.Attempts != c.attempts || got.Snoozes != c.snoozes || string(got.Result) != c.result || got.Reason != c.reason || got.EndedToken != job.LeaseToken {
			s.Errorf("outcome %d: %+v", c.outcome, got)
		}
		if !c.ended && got.LeaseToken != job.LeaseToken+c.token || got.Tenant != "t" || len(got.Tags) != 1 || got.CancelWanted {
			s.Errorf("outcome %d: want token %d and the job itself unchanged: %+v", c.outcome, job.LeaseToken+c.token, got)
		}
		if c.ended == got.FinishedAt.IsZero() || c.ended && got.FinishedAt.Sub(now).Abs() > patience {
			s.Errorf("outcome %d: finished at %s", c.outcome, got.FinishedAt)
		}
		if !c.ended && (got.RunAt.Sub(now) < 7*time.Minute-time.Millisecond || got.RunAt.Sub(now) > 7*time.Minute+patience) {
			s.Errorf("outcome %d: next run at %s, want %s", c.outcome, got.RunAt, now.Add(7*time.Minute))
		}
		if c.keepsHistory {
			sameErrors(s, "after the end", got.Errors, end.Errors)
		}
		running, err := s.store.ReadClaim(s.ctx, job.ClaimID)
		if s.must(err); len(running) != 0 {
			s.Errorf("outcome %d: the claim still names %v", c.outcome, idsOf(running))
		}
	}
}

func finishMixed(s *stage) {
	var ends []core.End
	var want []core.EndAnswer
	s.submitMany(120, "a")
	for i, job := range s.claim("a", 120) {
		outcome := core.Outcome(1 + i%5)
		end, answer := core.End{Ref: refOf(job), Outcome: outcome, Wait: time.Hour}, core.EndAnswer{Status: []core.Status{0, core.Done, core.Failed, core.Scheduled, core.Scheduled, core.Scheduled}[outcome]}
		switch {
		case i%7 == 3:
			end.Token--
			answer = core.EndAnswer{Stale: true}
		case i%7 == 5 && outcome != core.EndDone:
			s.cancel(job.ID)
			answer.Status = core.Cancelled
		case i%11 == 6:
			end.ID = 1<<60 + int64(i)
			answer = core.EndAnswer{Stale: true}
		}
		ends, want = append(ends, end), append(want, answer)
	}
	for i, j := 0, len(ends)-1; i < j; i, j = i+2, j-2 { // not in order of id
		ends[i], ends[j], want[i], want[j] = ends[j], ends[i], want[j], want[i]
	}
	got, err := s.store.Finish(s.ctx, ends)
	if s.must(err); len(got) != len(want) {
		s.Fatalf("%d answers for %d ends", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			s.Errorf("end %d, %+v: got %+v, want %+v", i, ends[i], got[i], want[i])
		}
	}
	if got, err = s.store.Finish(s.ctx, nil); err != nil || len(got) != 0 {
		s.Errorf("an empty call: %v, %v", got, err)
	}
}

func finishRepeat(s *stage) {
	for _, outcome := range []core.Outcome{core.EndDone, core.EndFail, core.EndRetry, core.EndSnooze, core.EndHandBack, core.EndLoss} {
		job := s.put(core.Running, core.NewJob{})
		end := core.End{Ref: refOf(job), Outcome: outcome, Errors: oneError(job, "once")}
		first := s.finish(end)
		row := s.get(job.ID)
		for range 2 {
			if got := s.finish(end); got != (core.EndAnswer{Status: first.Status, Repeat: true}) {
				s.Errorf("outcome %d: first %+v, repeated %+v", outcome, first, got)
			}
			s.unchanged(row)
		}
		end.Outcome, end.Errors = core.EndDone, oneError(job, "twice")
		if got := s.finish(end); !got.Repeat && !got.Stale {
			s.Errorf("outcome %d: another end under the ended token was answered %+v", outcome, got)
		}
		s.unchanged(row)
		if row.Status != core.Scheduled {
			continue
		}
		next := s.claim(job.Type, 1)
		if len(next) != 1 || next[0].LeaseToken <= job.LeaseToken {
			s.Fatalf("outcome %d: want the job claimed again, got %+v", outcome, next)
		}
		row, end.Outcome = s.get(job.ID), outcome
		if got := s.finish(end); !got.Repeat || got.Stale || got.Busy {
			s.Errorf("outcome %d: repeated during the next run: %+v", outcome, got)
		}
		s.unchanged(row)
	}
}

func finishRace(s *stage) {
	other := s.second()
	s.submitMany(40, "a")
	for round, job := range s.claim("a", 40) {
		outcomes := [2]core.Outcome{core.Outcome(1 + round%5), core.Outcome(1 + round/5%5)}
		var answers [2]core.EndAnswer
		s.times(2, func(i int) error {
			return notBusyEnd([]core.Store{s.store, other.store}[i], s, core.End{Ref: refOf(job), Outcome: outcomes[i], Wait: time.Hour}, &answers[i])
		})
		row := s.get(job.ID)
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

// notBusyEnd finishes, again while the row is busy.
func notBusyEnd(store core.Store, s *stage, end core.End, answer *core.EndAnswer) error {
	return notBusy(s.ctx, func() error {
		got, err := store.Finish(s.ctx, []core.End{end})
		if err != nil {
			return err
		}
		if *answer = got[0]; answer.Busy {
			return core.ErrBusy
		}
		return nil
	})
}

// takeOver lets a running job's lease pass, reaps it and claims it for another worker.
func (s *stage) takeOver(job core.Job) core.Job {
	s.Helper()
	s.advance(lease + time.Second)
	s.finishAs(core.Scheduled, core.End{Ref: refOf(job), Outcome: core.EndRetry, Errors: oneError(job, "lost"), Lost: true})
	next := s.claim(job.Type, 1)
	if len(next) != 1 || next[0].ID != job.ID || next[0].LeaseToken <= job.LeaseToken {
		s.Fatalf("want job %d taken over, got %+v", job.ID, next)
	}
	return s.get(job.ID)
}

// lateEnds are what a worker may still send once its job has another holder. The reaper's answer stands.
func (s *stage) lateEnds(old core.Job) {
	s.Helper()
	for _, outcome := range []core.Outcome{core.EndDone, core.EndFail, core.EndRetry, core.EndSnooze, core.EndHandBack, core.EndLoss} {
		if got := s.finish(core.End{Ref: refOf(old), Outcome: outcome, Errors: oneError(old, "late")}); !got.Stale && (!got.Repeat || got.Status == core.Done) {
			s.Errorf("outcome %d of an old holder was answered %+v", outcome, got)
		}
	}
	if got := s.beat(refOf(old)); got != (core.Beat{Stale: true}) {
		s.Errorf("a heartbeat of an old holder was answered %+v", got)
	}
}

func finishStalled(s *stage) {
	old := s.put(core.Running, core.NewJob{})
	next := s.takeOver(old)
	s.finishAs(core.Done, core.End{Ref: refOf(next), Outcome: core.EndDone, Result: []byte(`"second"`)})
	row := s.get(old.ID)
	for _, outcome := range []core.Outcome{core.EndDone, core.EndFail, core.EndRetry, core.EndSnooze, core.EndHandBack, core.EndLoss} {
		if got := s.finish(core.End{Ref: refOf(old), Outcome: outcome, Result: []byte(`"first"`)}); got != (core.EndAnswer{Stale: true}) {
			s.Errorf("outcome %d after another worker's end: want it stale, got %+v", outcome, got)
		}
		s.unchanged(row)
	}
}

func finishTakenOver(s *stage) {
	old := s.put(core.Running, core.NewJob{})
	next := s.takeOver(old)
	s.lateEnds(old)
	s.unchanged(next)
	if next.Attempts != 2 {
		s.Errorf("%d attempts are charged, want 2", next.Attempts)
	}
	s.finishAs(core.Done, core.End{Ref: refOf(next), Outcome: core.EndDone})
}

func finishOldHolder(s *stage) {
	job := s.put(core.Running, core.NewJob{MaxAttempts: 9})
	for range 3 {
		next := s.takeOver(job)
		s.lateEnds(job)
		s.unchanged(next)
		if got := s.claim(job.Type, 1); len(got) != 0 {
			s.Fatal("the new holder's job was claimed by a third")
		}
		job = next
	}
}

// finishOnce races the worker, the reaper, a cancel and a repeated end over jobs whose lease has passed.
func finishOnce(s *stage) {
	s.submitMany(120, "a")
	jobs := s.claim("a", 120)
	s.advance(lease + time.Second)
	var mu sync.Mutex
	firsts := map[int64]int{}
	end := func(outcome core.Outcome, lost bool) func() error {
		return func() error {
			for _, job := range jobs {
				var answer core.EndAnswer
				if err := notBusyEnd(s.store, s, core.End{Ref: refOf(job), Outcome: outcome, Lost: lost, Wait: time.Hour}, &answer); err != nil {
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
	s.together(end(core.EndDone, false), end(core.EndRetry, true), end(core.EndFail, true), end(core.EndDone, false))
	for _, job := range jobs {
		if got := s.get(job.ID); firsts[job.ID] != 1 || got.Attempts != 1 {
			s.Errorf("job %d: %d ends counted, now %+v", job.ID, firsts[job.ID], got)
		}
	}
	if n := len(s.list(core.ListQuery{Type: "a", Limit: 1000})); n != len(jobs) {
		s.Errorf("%d rows for %d jobs", n, len(jobs))
	}
}

func finishUncounted(s *stage) {
	id := s.submitOne(core.NewJob{Type: "a", MaxAttempts: 2})
	for i := range 12 {
		jobs := s.claim("a", 1)
		if len(jobs) != 1 || jobs[0].Attempts != 1 {
			s.Fatalf("run %d: want attempt 1, got %+v", i, jobs)
		}
		s.finishAs(core.Scheduled, core.End{Ref: refOf(jobs[0]), Outcome: []core.Outcome{core.EndSnooze, core.EndHandBack}[i%2]})
	}
	if got := s.get(id); got.Attempts != 0 || got.Snoozes != 6 {
		s.Fatalf("want no attempt and 6 snoozes, got %d and %d", got.Attempts, got.Snoozes)
	}
}

func finishQueued(s *stage) {
	job := s.put(core.Queued, core.NewJob{})
	if got := s.finish(core.End{Ref: refOf(job), Outcome: core.EndHandBack}); got.Status != 0 && got.Status != core.Queued {
		s.Errorf("answered %+v", got)
	}
	s.unchanged(job)
	if res := s.start(refOf(job)); len(res.Jobs) != 1 {
		s.Error("its message became worthless")
	}
}

func finishErrors(s *stage) {
	job := s.put(core.Running, core.NewJob{MaxAttempts: 100})
	var history []core.AttemptError
	for i := range core.MaxErrors {
		history = append(history, core.AttemptError{Attempt: i, At: job.StartedAt, Error: strings.Repeat("x", core.MaxErrorBytes-1) + string(rune('a'+i)), Kind: "timeout"})
	}
	s.finishAs(core.Scheduled, core.End{Ref: refOf(job), Outcome: core.EndRetry, Errors: history})
	sameErrors(s, "after a retry", s.get(job.ID).Errors, history)
	history = history[:1]
	next := s.claim(job.Type, 1)[0]
	s.finishAs(core.Scheduled, core.End{Ref: refOf(next), Outcome: core.EndRetry, Errors: history})
	sameErrors(s, "after a shorter one", s.get(job.ID).Errors, history)
}

func finishHeld(s *stage) {
	s.submitMany(1001, "a")
	jobs := s.claim("a", 1001)
	held := jobs[500]
	release := s.hold(Hold{Kind: HoldRow, ID: held.ID})
	s.advance(3 * lease)
	ends := make([]core.End, len(jobs))
	for i, job := range jobs {
		ends[i] = core.End{Ref: refOf(job), Outcome: core.Outcome(1 + i%5), Wait: time.Hour}
	}
	answers, err := s.store.Finish(s.ctx, ends)
	s.must(err)
	for i, answer := range answers {
		if isHeld := jobs[i].ID == held.ID; answer.Busy != isHeld || answer.Stale || answer.Repeat || isHeld != (answer.Status == 0) {
			s.Fatalf("end %d of job %d: %+v", i, jobs[i].ID, answer)
		}
	}
	s.unchanged(held)
	release(false)
	s.finishAs(core.Done, core.End{Ref: refOf(held), Outcome: core.EndDone})
}

func finishRepeatedLater(s *stage) {
	s.submitMany(2, "a")
	var ends []core.End
	for _, job := range s.claim("a", 2) {
		end := core.End{Ref: refOf(job), Outcome: core.EndRetry}
		s.finishAs(core.Scheduled, end)
		ends = append(ends, end)
	}
	want := core.EndAnswer{Status: core.Scheduled, Repeat: true}
	s.advance(time.Second)
	req := tickRequest("holder-1")
	req.Dispatch, req.DispatchLease, req.DispatchLeaseMax, req.Quotas = true, time.Minute, time.Hour, []core.Quota{quota("a", 1)}
	if res := s.tick(req); len(res.Dispatched) != 1 {
		s.Fatalf("%d jobs were queued", len(res.Dispatched))
	}
	s.claim("a", 1)
	for i, end := range ends {
		if got := s.finish(end); got != want {
			s.Errorf("%d: its end, repeated: got %+v, want %+v", i, got, want)
		}
	}
}
