package work

import (
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func heartbeatScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Heartbeat/extends the lease of a running job", Run: beatExtends},
		{Name: "Heartbeat/answers every beat in order", Run: beatOrder},
		{Name: "Heartbeat/keeps a job that outlives its first lease", Run: beatKeeps},
		{Name: "Heartbeat/a lease that has expired but was not reaped is extended", Run: beatLate},
		{Name: "Heartbeat/repeated and unknown rows in one call", Run: beatOdd},
		{Name: "Heartbeat/a row locked by another transaction for three leases costs no other lease", Run: beatHeld},
	}
}

func beatExtends(s *storetest.Stage) {
	job := s.Put(core.Running, core.NewJob{})
	s.Advance(storetest.Lease / 2)
	now := s.Now()
	if got := s.Beat(storetest.RefOf(job)); got != (core.Beat{}) {
		s.Fatalf("want it extended, got %+v", got)
	}
	got := s.Get(job.ID)
	if got.LeaseUntil.Sub(now.Add(storetest.Lease)).Abs() > storetest.Patience || got.LeaseToken != job.LeaseToken || got.Attempts != job.Attempts || got.Status != core.Running {
		s.Fatalf("want only the lease changed, to %s: %+v", now.Add(storetest.Lease), got)
	}
}

func beatOrder(s *storetest.Stage) {
	var refs []core.Ref
	var want []core.Beat
	s.SubmitMany(60, "a")
	for i, job := range s.Claim("a", 60) {
		ref, beat := storetest.RefOf(job), core.Beat{}
		switch i % 4 {
		case 1:
			s.Cancel(job.ID)
			beat.CancelWanted = true
		case 2:
			ref.Token--
			beat.Stale = true
		case 3:
			s.FinishAs(core.Scheduled, core.End{Ref: ref, Outcome: core.EndRetry, Wait: time.Hour})
			beat.Stale = true
		}
		refs, want = append(refs, ref), append(want, beat)
	}
	for i, j := 0, len(refs)-1; i < j; i, j = i+3, j-3 { // not in the order of ids
		refs[i], refs[j], want[i], want[j] = refs[j], refs[i], want[j], want[i]
	}
	got, err := s.Store.Heartbeat(s.Ctx, refs, storetest.Lease)
	s.Must(err)
	if len(got) != len(want) {
		s.Fatalf("%d answers for %d beats", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			s.Errorf("beat %d of job %d: got %+v, want %+v", i, refs[i].ID, got[i], want[i])
		}
	}
}

func beatKeeps(s *storetest.Stage) {
	job := s.Put(core.Running, core.NewJob{})
	for range 8 {
		s.Advance(storetest.Lease * 3 / 5)
		if lost := s.Tick(storetest.TickRequest("holder-1")).Lost; len(lost) != 0 {
			s.Fatal("a job with a live lease was listed as lost")
		}
		if got := s.Beat(storetest.RefOf(job)); got != (core.Beat{}) {
			s.Fatalf("want it extended, got %+v", got)
		}
	}
	s.FinishAs(core.Done, core.End{Ref: storetest.RefOf(job), Outcome: core.EndDone})
}

func beatLate(s *storetest.Stage) {
	job := s.Put(core.Running, core.NewJob{})
	s.Advance(2 * storetest.Lease)
	if got := s.Beat(storetest.RefOf(job)); got != (core.Beat{}) {
		s.Fatalf("no worker took the job, but the heartbeat was answered %+v", got)
	}
	if lost := s.Tick(storetest.TickRequest("holder-1")).Lost; len(lost) != 0 {
		s.Fatal("an extended job was listed as lost")
	}
}

func beatOdd(s *storetest.Stage) {
	job := s.Put(core.Running, core.NewJob{})
	got, err := s.Store.Heartbeat(s.Ctx, []core.Ref{storetest.RefOf(job), {ID: 1 << 60, Token: 1}, storetest.RefOf(job), {ID: -1}, {ID: job.ID, Token: job.LeaseToken + 1}}, storetest.Lease)
	s.Must(err)
	want := []core.Beat{{}, {Stale: true}, {}, {Stale: true}, {Stale: true}}
	for i := range want {
		if len(got) != len(want) || got[i] != want[i] {
			s.Fatalf("got %+v, want %+v", got, want)
		}
	}
	if got, err = s.Store.Heartbeat(s.Ctx, nil, storetest.Lease); err != nil || len(got) != 0 {
		s.Fatalf("an empty call: %v, %v", got, err)
	}
}

// beatHeld sends heartbeats for 1,000 jobs over three leases while a foreign transaction locks one of the rows.
func beatHeld(s *storetest.Stage) {
	s.SubmitMany(1000, "a")
	jobs := s.Claim("a", 1000)
	held := jobs[500]
	release := s.Hold(storetest.Hold{Kind: storetest.HoldRow, ID: held.ID})
	for range 6 {
		s.Advance(storetest.Lease / 2)
		beats, err := s.Store.Heartbeat(s.Ctx, storetest.RefsOf(jobs), storetest.Lease)
		s.Must(err)
		for i, beat := range beats {
			if want := (core.Beat{Busy: jobs[i].ID == held.ID}); beat != want {
				s.Fatalf("beat of job %d: got %+v, want %+v", jobs[i].ID, beat, want)
			}
		}
		for _, lost := range s.Tick(storetest.TickRequest("holder-1")).Lost {
			if lost.ID != held.ID {
				s.Fatalf("job %d lost its lease because another transaction locks job %d", lost.ID, held.ID)
			}
		}
	}
	release(false)
	if got := s.Beat(storetest.RefOf(held)); got != (core.Beat{}) {
		s.Fatalf("after the release: %+v", got)
	}
}
