package work

import (
	"reflect"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func acceptedScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Finish/an accepted attempt goes on under its token and is its target's", Run: acceptedGoesOn},
		{Name: "Finish/a repeated acceptance extends and a stale one changes nothing", Run: acceptedRepeat},
		{Name: "Finish/an accepted attempt ends in any way its target reports", Run: acceptedEnds},
		{Name: "Finish/where the target's own end came first the acceptance is a repeat and changes nothing", Run: acceptedLate},
		{Name: "Finish/acceptances and other ends in one call are each answered", Run: acceptedMixed},
		{Name: "Finish/of an acceptance and the target's own end at once the end counts", Run: acceptedRace},
		{Name: "Finish/an acceptance of a row that another transaction locks is busy and can be sent again", Run: acceptedHeld},
		{Name: "Heartbeat/serves the target of an accepted attempt", Run: acceptedBeat},
		{Name: "Heartbeat/never shortens the lease of an accepted attempt", Run: acceptedBeatLate},
		{Name: "Tick/an accepted attempt whose lease has expired is lost like any other", Run: acceptedLost},
	}
}

const acceptedFor = 3 * time.Hour

// accepted ends an attempt as accepted for acceptedFor.
func accepted(ref core.Ref) core.End {
	return core.End{Ref: ref, Outcome: core.EndAccepted, Wait: acceptedFor}
}

// putAccepted creates a running job that its target has accepted.
func putAccepted(s *storetest.Stage, job core.NewJob) core.Job {
	s.Helper()
	running := s.Put(core.Running, job)
	s.FinishAs(core.Running, accepted(storetest.RefOf(running)))
	return s.Get(running.ID)
}

// handed checks that got is job as accepted by its target at now, and that nothing else changed.
func handed(s *storetest.Stage, job, got core.Job, now time.Time) {
	s.Helper()
	if d := got.LeaseUntil.Sub(now.Add(acceptedFor)); d < -time.Millisecond || d > storetest.Patience {
		s.Errorf("the lease lasts until %s, want %s", got.LeaseUntil, now.Add(acceptedFor))
	}
	if got.WorkerID != core.TargetWorkerID {
		s.Errorf("worker_id is %q", got.WorkerID)
	}
	got.LeaseUntil, got.WorkerID, got.ClaimID = job.LeaseUntil, job.WorkerID, job.ClaimID
	if !reflect.DeepEqual(got, job) {
		s.Errorf("an acceptance changed more than lease and owner:\n got %+v\nwant %+v", got, job)
	}
}

func acceptedGoesOn(s *storetest.Stage) {
	for _, wanted := range []bool{false, true} {
		job := s.Put(core.Running, core.NewJob{Tenant: "t", Tags: []string{"x"}, Timeout: acceptedFor})
		if wanted {
			s.Cancel(job.ID)
			job = s.Get(job.ID)
		}
		now := s.Now()
		s.FinishAs(core.Running, accepted(storetest.RefOf(job)))
		handed(s, job, s.Get(job.ID), now)
		claimed, err := s.Store.ReadClaim(s.Ctx, job.ClaimID)
		if s.Must(err); len(claimed) != 0 {
			s.Errorf("the claim still names %v", storetest.IdsOf(claimed))
		}
		if jobs := s.Claim(job.Type, 1); len(jobs) != 0 {
			s.Error("an accepted job was claimed")
		}
	}
}

func acceptedRepeat(s *storetest.Stage) {
	job := s.Put(core.Running, core.NewJob{})
	for range 3 {
		now := s.Now()
		if got := s.Finish(accepted(storetest.RefOf(job))); got.Status != core.Running || got.Stale || got.Busy {
			s.Fatalf("answered %+v", got)
		}
		handed(s, job, s.Get(job.ID), now)
		s.Advance(time.Hour)
	}
	before := s.Get(job.ID)
	for _, ref := range []core.Ref{{ID: job.ID, Token: job.LeaseToken - 1}, {ID: job.ID, Token: job.LeaseToken + 1}, {ID: 1 << 60, Token: 1}} {
		if got := s.Finish(accepted(ref)); got != (core.EndAnswer{Stale: true}) {
			s.Errorf("accepted under %+v: %+v", ref, got)
		}
	}
	s.Unchanged(before)
	for _, status := range []core.Status{core.Scheduled, core.Queued} {
		job := s.Put(status, core.NewJob{})
		if got := s.Finish(accepted(storetest.RefOf(job))); got != (core.EndAnswer{Stale: true}) {
			s.Errorf("a %s job accepted: %+v", status, got)
		}
		s.Unchanged(job)
	}
}

func acceptedEnds(s *storetest.Stage) {
	for outcome, want := range map[core.Outcome]core.Status{
		core.EndDone: core.Done, core.EndFail: core.Failed, core.EndRetry: core.Scheduled, core.EndSnooze: core.Scheduled,
	} {
		job := putAccepted(s, core.NewJob{})
		end := core.End{Ref: storetest.RefOf(job), Outcome: outcome}
		switch outcome {
		case core.EndDone:
			end.Result = []byte(`{"by":"target"}`)
		case core.EndFail, core.EndRetry:
			end.Errors = storetest.OneError(job, "no")
		}
		s.FinishAs(want, end)
		if got := s.Get(job.ID); got.EndedToken != job.LeaseToken || string(got.Result) != string(end.Result) || len(got.Errors) != len(end.Errors) {
			s.Errorf("outcome %d: %+v", outcome, got)
		}
		if want != core.Scheduled {
			continue
		}
		next := s.Claim(job.Type, 1)
		if len(next) != 1 || next[0].LeaseToken <= job.LeaseToken || next[0].WorkerID != "worker-1" {
			s.Errorf("outcome %d: want it claimed again, got %+v", outcome, next)
		}
	}
}

func acceptedLate(s *storetest.Stage) {
	for _, outcome := range []core.Outcome{core.EndDone, core.EndFail, core.EndRetry, core.EndSnooze} {
		job := s.Put(core.Running, core.NewJob{})
		first := s.Finish(core.End{Ref: storetest.RefOf(job), Outcome: outcome, Errors: storetest.OneError(job, "no")})
		row := s.Get(job.ID)
		if got := s.Finish(accepted(storetest.RefOf(job))); got != (core.EndAnswer{Status: first.Status, Repeat: true}) {
			s.Errorf("outcome %d first: accepted afterwards is answered %+v", outcome, got)
		}
		s.Unchanged(row)
		if row.Status != core.Scheduled {
			continue
		}
		if next := s.Claim(job.Type, 1); len(next) != 1 {
			s.Fatalf("outcome %d: not claimed again", outcome)
		}
		row = s.Get(job.ID)
		if got := s.Finish(accepted(storetest.RefOf(job))); !got.Repeat && !got.Stale {
			s.Errorf("outcome %d first: accepted during the next run is answered %+v", outcome, got)
		}
		s.Unchanged(row)
	}
}

func acceptedMixed(s *storetest.Stage) {
	var ends []core.End
	var want []core.EndAnswer
	s.SubmitMany(60, "a")
	for i, job := range s.Claim("a", 60) {
		end, answer := accepted(storetest.RefOf(job)), core.EndAnswer{Status: core.Running}
		switch i % 5 {
		case 1:
			end = core.End{Ref: end.Ref, Outcome: core.EndDone}
			answer.Status = core.Done
		case 2:
			end = core.End{Ref: end.Ref, Outcome: core.EndRetry, Wait: time.Hour, Errors: storetest.OneError(job, "no")}
			answer.Status = core.Scheduled
		case 3:
			end.Token--
			answer = core.EndAnswer{Stale: true}
		}
		ends, want = append(ends, end), append(want, answer)
	}
	for i, j := 0, len(ends)-1; i < j; i, j = i+2, j-2 { // not in the order of ids
		ends[i], ends[j], want[i], want[j] = ends[j], ends[i], want[j], want[i]
	}
	got, err := s.Store.Finish(s.Ctx, ends)
	if s.Must(err); !slices.Equal(got, want) {
		s.Errorf("got %+v\nwant %+v", got, want)
	}
}

func acceptedRace(s *storetest.Stage) {
	other := s.Second()
	s.SubmitMany(40, "a")
	for _, job := range s.Claim("a", 40) {
		var acceptance, end core.EndAnswer
		s.Together(
			func() error {
				answers, err := s.Store.Finish(s.Ctx, []core.End{accepted(storetest.RefOf(job))})
				if err == nil {
					acceptance = answers[0]
				}
				return err
			},
			func() error {
				answers, err := other.Store.Finish(s.Ctx, []core.End{{Ref: storetest.RefOf(job), Outcome: core.EndDone}})
				if err == nil {
					end = answers[0]
				}
				return err
			})
		if end != (core.EndAnswer{Status: core.Done}) {
			s.Fatalf("the target's end was answered %+v", end)
		}
		if ok := acceptance == (core.EndAnswer{Status: core.Running}) || acceptance == (core.EndAnswer{Status: core.Done, Repeat: true}); !ok {
			s.Fatalf("the acceptance was answered %+v", acceptance)
		}
		if got := s.Get(job.ID); got.Status != core.Done {
			s.Fatalf("the job is %s", got.Status)
		}
	}
}

func acceptedHeld(s *storetest.Stage) {
	jobs := []core.Job{s.Put(core.Running, core.NewJob{}), s.Put(core.Running, core.NewJob{})}
	release := s.Hold(storetest.Hold{Kind: storetest.HoldRow, ID: jobs[0].ID})
	ends := []core.End{accepted(storetest.RefOf(jobs[0])), accepted(storetest.RefOf(jobs[1]))}
	got, err := s.Store.Finish(s.Ctx, ends)
	s.Must(err)
	if want := []core.EndAnswer{{Busy: true}, {Status: core.Running}}; !slices.Equal(got, want) {
		s.Fatalf("got %+v, want %+v", got, want)
	}
	release(false)
	now := s.Now()
	s.FinishAs(core.Running, ends[0])
	handed(s, jobs[0], s.Get(jobs[0].ID), now)
}

func acceptedBeat(s *storetest.Stage) {
	job := putAccepted(s, core.NewJob{})
	s.Advance(acceptedFor - time.Minute)
	beats, err := s.Store.Heartbeat(s.Ctx, []core.Ref{storetest.RefOf(job)}, acceptedFor)
	if s.Must(err); beats[0] != (core.Beat{}) {
		s.Fatalf("want it extended, got %+v", beats[0])
	}
	s.Advance(2 * time.Minute)
	if lost := s.Tick(storetest.TickRequest("holder-1")).Lost; len(lost) != 0 {
		s.Error("a lease its target extended is lost")
	}
	if got := s.Get(job.ID); got.WorkerID != core.TargetWorkerID || got.Status != core.Running {
		s.Errorf("%+v", got)
	}
	s.Cancel(job.ID)
	if got := s.Beat(storetest.RefOf(job)); !got.CancelWanted {
		s.Error("the target does not learn that cancel is wanted")
	}
	s.FinishAs(core.Cancelled, core.End{Ref: storetest.RefOf(job), Outcome: core.EndFail, Errors: storetest.OneError(job, "stopped")})
	if got := s.Beat(storetest.RefOf(job)); !got.Stale {
		s.Errorf("after its end: %+v", got)
	}
}

// acceptedBeatLate sends a worker's heartbeat that was on its way when the attempt was accepted.
func acceptedBeatLate(s *storetest.Stage) {
	job := putAccepted(s, core.NewJob{})
	if got := s.Beat(storetest.RefOf(job)); got != (core.Beat{}) {
		s.Fatalf("answered %+v", got)
	}
	if got := s.Get(job.ID).LeaseUntil; !got.Equal(job.LeaseUntil) {
		s.Errorf("the lease until %s was shortened to %s", job.LeaseUntil, got)
	}
	s.Advance(acceptedFor - storetest.Lease/2)
	now := s.Now()
	s.Beat(storetest.RefOf(job))
	if got := s.Get(job.ID).LeaseUntil; got.Before(now.Add(storetest.Lease)) {
		s.Errorf("the lease was not extended: %s, want %s", got, now.Add(storetest.Lease))
	}
}

func acceptedLost(s *storetest.Stage) {
	job := putAccepted(s, core.NewJob{})
	wanted := putAccepted(s, core.NewJob{})
	s.Cancel(wanted.ID)
	s.Advance(acceptedFor - time.Minute)
	if lost := s.Tick(storetest.TickRequest("holder-1")).Lost; len(lost) != 0 {
		s.Fatalf("before their leases passed %v are lost", storetest.IdsOf(lost))
	}
	s.Advance(time.Minute + time.Second)
	lost := s.Tick(storetest.TickRequest("holder-1")).Lost
	if !slices.Equal(storetest.IdsOf(lost), []int64{job.ID, wanted.ID}) {
		s.Fatalf("lost: %v, want both", storetest.IdsOf(lost))
	}
	for i, want := range []core.Status{core.Scheduled, core.Cancelled} {
		s.FinishAs(want, core.End{Ref: storetest.RefOf(lost[i]), Outcome: core.EndRetry, Wait: time.Second, Errors: storetest.OneError(lost[i], "lost"), Lost: true})
	}
	if got := s.Get(job.ID); got.Attempts != 1 || len(got.Errors) != 1 {
		s.Errorf("after its loss: %+v", got)
	}
	if got := s.Finish(core.End{Ref: storetest.RefOf(job), Outcome: core.EndDone}); !got.Stale && !got.Repeat {
		s.Errorf("the target's late end was answered %+v", got)
	}
}
