package storetest

import (
	"time"

	"github.com/belfry-dev/belfry/core"
)

func heartbeatScenarios() []scenario {
	return []scenario{
		{"Heartbeat/extends the lease of a running job", beatExtends},
		{"Heartbeat/answers every beat in order", beatOrder},
		{"Heartbeat/keeps a job that outlives its first lease", beatKeeps},
		{"Heartbeat/a lease that has passed but was not reaped is extended", beatLate},
		{"Heartbeat/repeated and unknown rows in one call", beatOdd},
		{"Heartbeat/one row held by a stranger for three leases costs no other lease", beatHeld},
	}
}

func beatExtends(s *stage) {
	job := s.put(core.Running, core.NewJob{})
	s.advance(lease / 2)
	now := s.now()
	if got := s.beat(refOf(job)); got != (core.Beat{}) {
		s.Fatalf("want it extended, got %+v", got)
	}
	got := s.get(job.ID)
	if got.LeaseUntil.Sub(now.Add(lease)).Abs() > patience || got.LeaseToken != job.LeaseToken || got.Attempts != job.Attempts || got.Status != core.Running {
		s.Fatalf("want only the lease changed, to %s: %+v", now.Add(lease), got)
	}
}

func beatOrder(s *stage) {
	var refs []core.Ref
	var want []core.Beat
	s.submitMany(60, "a")
	for i, job := range s.claim("a", 60) {
		ref, beat := refOf(job), core.Beat{}
		switch i % 4 {
		case 1:
			s.cancel(job.ID)
			beat.CancelWanted = true
		case 2:
			ref.Token--
			beat.Stale = true
		case 3:
			s.finishAs(core.Scheduled, core.End{Ref: ref, Outcome: core.EndRetry, Wait: time.Hour})
			beat.Stale = true
		}
		refs, want = append(refs, ref), append(want, beat)
	}
	for i, j := 0, len(refs)-1; i < j; i, j = i+3, j-3 { // not in order of id
		refs[i], refs[j], want[i], want[j] = refs[j], refs[i], want[j], want[i]
	}
	got, err := s.store.Heartbeat(s.ctx, refs, lease)
	s.must(err)
	if len(got) != len(want) {
		s.Fatalf("%d answers for %d beats", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			s.Errorf("beat %d of job %d: got %+v, want %+v", i, refs[i].ID, got[i], want[i])
		}
	}
}

func beatKeeps(s *stage) {
	job := s.put(core.Running, core.NewJob{})
	for range 8 {
		s.advance(lease * 3 / 5)
		if lost := s.tick(tickRequest("holder-1")).Lost; len(lost) != 0 {
			s.Fatal("a job with a live lease was listed as lost")
		}
		if got := s.beat(refOf(job)); got != (core.Beat{}) {
			s.Fatalf("want it extended, got %+v", got)
		}
	}
	s.finishAs(core.Done, core.End{Ref: refOf(job), Outcome: core.EndDone})
}

func beatLate(s *stage) {
	job := s.put(core.Running, core.NewJob{})
	s.advance(2 * lease)
	if got := s.beat(refOf(job)); got != (core.Beat{}) {
		s.Fatalf("nobody took the job, yet the beat was answered %+v", got)
	}
	if lost := s.tick(tickRequest("holder-1")).Lost; len(lost) != 0 {
		s.Fatal("an extended job was listed as lost")
	}
}

func beatOdd(s *stage) {
	job := s.put(core.Running, core.NewJob{})
	got, err := s.store.Heartbeat(s.ctx, []core.Ref{refOf(job), {ID: 1 << 60, Token: 1}, refOf(job), {ID: -1}, {ID: job.ID, Token: job.LeaseToken + 1}}, lease)
	s.must(err)
	want := []core.Beat{{}, {Stale: true}, {}, {Stale: true}, {Stale: true}}
	for i := range want {
		if len(got) != len(want) || got[i] != want[i] {
			s.Fatalf("got %+v, want %+v", got, want)
		}
	}
	if got, err = s.store.Heartbeat(s.ctx, nil, lease); err != nil || len(got) != 0 {
		s.Fatalf("an empty call: %v, %v", got, err)
	}
}

// beatHeld beats for 1,000 jobs through three leases while a stranger holds the row of one.
func beatHeld(s *stage) {
	s.submitMany(1000, "a")
	jobs := s.claim("a", 1000)
	held := jobs[500]
	release := s.hold(Hold{Kind: HoldRow, ID: held.ID})
	for range 6 {
		s.advance(lease / 2)
		beats, err := s.store.Heartbeat(s.ctx, refsOf(jobs), lease)
		s.must(err)
		for i, beat := range beats {
			if want := (core.Beat{Busy: jobs[i].ID == held.ID}); beat != want {
				s.Fatalf("beat of job %d: got %+v, want %+v", jobs[i].ID, beat, want)
			}
		}
		for _, lost := range s.tick(tickRequest("holder-1")).Lost {
			if lost.ID != held.ID {
				s.Fatalf("job %d lost its lease because a stranger holds job %d", lost.ID, held.ID)
			}
		}
	}
	release(false)
	if got := s.beat(refOf(held)); got != (core.Beat{}) {
		s.Fatalf("after the release: %+v", got)
	}
}
