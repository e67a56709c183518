package storetest

import (
	"reflect"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func acceptedScenarios() []scenario {
	return []scenario{
		{"Finish/an accepted attempt goes on under its token and is its target's", acceptedGoesOn},
		{"Finish/a repeated acceptance extends and a stale one changes nothing", acceptedRepeat},
		{"Finish/an accepted attempt ends in any way its target reports", acceptedEnds},
		{"Finish/where the target's own end came first the acceptance is a repeat and changes nothing", acceptedLate},
		{"Finish/acceptances and other ends in one call are each answered", acceptedMixed},
		{"Finish/of an acceptance and the target's own end at once the end counts", acceptedRace},
		{"Finish/an acceptance of a row that a stranger holds is busy and can be sent again", acceptedHeld},
		{"Heartbeat/serves the target of an accepted attempt", acceptedBeat},
		{"Heartbeat/never shortens the lease of an accepted attempt", acceptedBeatLate},
		{"Tick/an accepted attempt whose lease has passed is lost like any other", acceptedLost},
	}
}

const acceptedFor = 3 * time.Hour

// accepted ends an attempt as accepted for acceptedFor.
func accepted(ref core.Ref) core.End {
	return core.End{Ref: ref, Outcome: core.EndAccepted, Wait: acceptedFor}
}

// putAccepted brings a new job to running in the hands of its target.
func (s *stage) putAccepted(job core.NewJob) core.Job {
	s.Helper()
	running := s.put(core.Running, job)
	s.finishAs(core.Running, accepted(refOf(running)))
	return s.get(running.ID)
}

// handed wants got to be job as it is in the hands of its target since now, and nothing else changed.
func (s *stage) handed(job, got core.Job, now time.Time) {
	s.Helper()
	if d := got.LeaseUntil.Sub(now.Add(acceptedFor)); d < -time.Millisecond || d > patience {
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

func acceptedGoesOn(s *stage) {
	for _, wanted := range []bool{false, true} {
		job := s.put(core.Running, core.NewJob{Tenant: "t", Tags: []string{"x"}, Timeout: acceptedFor})
		if wanted {
			s.cancel(job.ID)
			job = s.get(job.ID)
		}
		now := s.now()
		s.finishAs(core.Running, accepted(refOf(job)))
		s.handed(job, s.get(job.ID), now)
		claimed, err := s.store.ReadClaim(s.ctx, job.ClaimID)
		if s.must(err); len(claimed) != 0 {
			s.Errorf("the claim still names %v", idsOf(claimed))
		}
		if jobs := s.claim(job.Type, 1); len(jobs) != 0 {
			s.Error("an accepted job was claimed")
		}
	}
}

func acceptedRepeat(s *stage) {
	job := s.put(core.Running, core.NewJob{})
	for range 3 {
		now := s.now()
		if got := s.finish(accepted(refOf(job))); got.Status != core.Running || got.Stale || got.Busy {
			s.Fatalf("answered %+v", got)
		}
		s.handed(job, s.get(job.ID), now)
		s.advance(time.Hour)
	}
	before := s.get(job.ID)
	for _, ref := range []core.Ref{{ID: job.ID, Token: job.LeaseToken - 1}, {ID: job.ID, Token: job.LeaseToken + 1}, {ID: 1 << 60, Token: 1}} {
		if got := s.finish(accepted(ref)); got != (core.EndAnswer{Stale: true}) {
			s.Errorf("accepted under %+v: %+v", ref, got)
		}
	}
	s.unchanged(before)
	for _, status := range []core.Status{core.Scheduled, core.Queued} {
		job := s.put(status, core.NewJob{})
		if got := s.finish(accepted(refOf(job))); got != (core.EndAnswer{Stale: true}) {
			s.Errorf("a %s job accepted: %+v", status, got)
		}
		s.unchanged(job)
	}
}

func acceptedEnds(s *stage) {
	for outcome, want := range map[core.Outcome]core.Status{
		core.EndDone: core.Done, core.EndFail: core.Failed, core.EndRetry: core.Scheduled, core.EndSnooze: core.Scheduled,
	} {
		job := s.putAccepted(core.NewJob{})
		end := core.End{Ref: refOf(job), Outcome: outcome}
		switch outcome {
		case core.EndDone:
			end.Result = []byte(`{"by":"target"}`)
		case core.EndFail, core.EndRetry:
			end.Errors = oneError(job, "no")
		}
		s.finishAs(want, end)
		if got := s.get(job.ID); got.EndedToken != job.LeaseToken || string(got.Result) != string(end.Result) || len(got.Errors) != len(end.Errors) {
			s.Errorf("outcome %d: %+v", outcome, got)
		}
		if want != core.Scheduled {
			continue
		}
		next := s.claim(job.Type, 1)
		if len(next) != 1 || next[0].LeaseToken <= job.LeaseToken || next[0].WorkerID != "worker-1" {
			s.Errorf("outcome %d: want it claimed again, got %+v", outcome, next)
		}
	}
}

func acceptedLate(s *stage) {
	for _, outcome := range []core.Outcome{core.EndDone, core.EndFail, core.EndRetry, core.EndSnooze} {
		job := s.put(core.Running, core.NewJob{})
		first := s.finish(core.End{Ref: refOf(job), Outcome: outcome, Errors: oneError(job, "no")})
		row := s.get(job.ID)
		if got := s.finish(accepted(refOf(job))); got != (core.EndAnswer{Status: first.Status, Repeat: true}) {
			s.Errorf("outcome %d first: accepted afterwards is answered %+v", outcome, got)
		}
		s.unchanged(row)
		if row.Status != core.Scheduled {
			continue
		}
		if next := s.claim(job.Type, 1); len(next) != 1 {
			s.Fatalf("outcome %d: not claimed again", outcome)
		}
		row = s.get(job.ID)
		if got := s.finish(accepted(refOf(job))); !got.Repeat && !got.Stale {
			s.Errorf("outcome %d first: accepted during the next run is answered %+v", outcome, got)
		}
		s.unchanged(row)
	}
}

func acceptedMixed(s *stage) {
	var ends []core.End
	var want []core.EndAnswer
	s.submitMany(60, "a")
	for i, job := range s.claim("a", 60) {
		end, answer := accepted(refOf(job)), core.EndAnswer{Status: core.Running}
		switch i % 5 {
		case 1:
			end = core.End{Ref: end.Ref, Outcome: core.EndDone}
			answer.Status = core.Done
		case 2:
			end = core.End{Ref: end.Ref, Outcome: core.EndRetry, Wait: time.Hour, Errors: oneError(job, "no")}
			answer.Status = core.Scheduled
		case 3:
			end.Token--
			answer = core.EndAnswer{Stale: true}
		}
		ends, want = append(ends, end), append(want, answer)
	}
	for i, j := 0, len(ends)-1; i < j; i, j = i+2, j-2 { // not in order of id
		ends[i], ends[j], want[i], want[j] = ends[j], ends[i], want[j], want[i]
	}
	got, err := s.store.Finish(s.ctx, ends)
	if s.must(err); !slices.Equal(got, want) {
		s.Errorf("got %+v\nwant %+v", got, want)
	}
}

func acceptedRace(s *stage) {
	other := s.second()
	s.submitMany(40, "a")
	for _, job := range s.claim("a", 40) {
		var acceptance, end core.EndAnswer
		s.together(
			func() error {
				answers, err := s.store.Finish(s.ctx, []core.End{accepted(refOf(job))})
				if err == nil {
					acceptance = answers[0]
				}
				return err
			},
			func() error {
				answers, err := other.store.Finish(s.ctx, []core.End{{Ref: refOf(job), Outcome: core.EndDone}})
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
		if got := s.get(job.ID); got.Status != core.Done {
			s.Fatalf("the job is %s", got.Status)
		}
	}
}

func acceptedHeld(s *stage) {
	jobs := []core.Job{s.put(core.Running, core.NewJob{}), s.put(core.Running, core.NewJob{})}
	release := s.hold(Hold{Kind: HoldRow, ID: jobs[0].ID})
	ends := []core.End{accepted(refOf(jobs[0])), accepted(refOf(jobs[1]))}
	got, err := s.store.Finish(s.ctx, ends)
	s.must(err)
	if want := []core.EndAnswer{{Busy: true}, {Status: core.Running}}; !slices.Equal(got, want) {
		s.Fatalf("got %+v, want %+v", got, want)
	}
	release(false)
	now := s.now()
	s.finishAs(core.Running, ends[0])
	s.handed(jobs[0], s.get(jobs[0].ID), now)
}

func acceptedBeat(s *stage) {
	job := s.putAccepted(core.NewJob{})
	s.advance(acceptedFor - time.Minute)
	beats, err := s.store.Heartbeat(s.ctx, []core.Ref{refOf(job)}, acceptedFor)
	if s.must(err); beats[0] != (core.Beat{}) {
		s.Fatalf("want it extended, got %+v", beats[0])
	}
	s.advance(2 * time.Minute)
	if lost := s.tick(tickRequest("holder-1")).Lost; len(lost) != 0 {
		s.Error("a lease its target extended is lost")
	}
	if got := s.get(job.ID); got.WorkerID != core.TargetWorkerID || got.Status != core.Running {
		s.Errorf("%+v", got)
	}
	s.cancel(job.ID)
	if got := s.beat(refOf(job)); !got.CancelWanted {
		s.Error("the target is not told that cancel is wanted")
	}
	s.finishAs(core.Cancelled, core.End{Ref: refOf(job), Outcome: core.EndFail, Errors: oneError(job, "stopped")})
	if got := s.beat(refOf(job)); !got.Stale {
		s.Errorf("after its end: %+v", got)
	}
}

// acceptedBeatLate sends a worker's heartbeat that was under way when the attempt was accepted.
func acceptedBeatLate(s *stage) {
	job := s.putAccepted(core.NewJob{})
	if got := s.beat(refOf(job)); got != (core.Beat{}) {
		s.Fatalf("answered %+v", got)
	}
	if got := s.get(job.ID).LeaseUntil; !got.Equal(job.LeaseUntil) {
		s.Errorf("the lease until %s was shortened to %s", job.LeaseUntil, got)
	}
	s.advance(acceptedFor - lease/2)
	now := s.now()
	s.beat(refOf(job))
	if got := s.get(job.ID).LeaseUntil; got.Before(now.Add(lease)) {
		s.Errorf("the lease was not extended: %s, want %s", got, now.Add(lease))
	}
}

func acceptedLost(s *stage) {
	job := s.putAccepted(core.NewJob{})
	wanted := s.putAccepted(core.NewJob{})
	s.cancel(wanted.ID)
	s.advance(acceptedFor - time.Minute)
	if lost := s.tick(tickRequest("holder-1")).Lost; len(lost) != 0 {
		s.Fatalf("before their leases passed %v are lost", idsOf(lost))
	}
	s.advance(time.Minute + time.Second)
	lost := s.tick(tickRequest("holder-1")).Lost
	if !slices.Equal(idsOf(lost), []int64{job.ID, wanted.ID}) {
		s.Fatalf("lost: %v, want both", idsOf(lost))
	}
	for i, want := range []core.Status{core.Scheduled, core.Cancelled} {
		s.finishAs(want, core.End{Ref: refOf(lost[i]), Outcome: core.EndRetry, Wait: time.Second, Errors: oneError(lost[i], "lost"), Lost: true})
	}
	if got := s.get(job.ID); got.Attempts != 1 || len(got.Errors) != 1 {
		s.Errorf("after its loss: %+v", got)
	}
	if got := s.finish(core.End{Ref: refOf(job), Outcome: core.EndDone}); !got.Stale && !got.Repeat {
		s.Errorf("the target's late end was answered %+v", got)
	}
}
