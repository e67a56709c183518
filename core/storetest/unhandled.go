package storetest

import (
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func unhandledScenarios() []scenario {
	return []scenario{
		{"Unhandled/returns queued jobs without an attempt", unhandledReturns},
		{"Unhandled/marks the type for 30 s, doubling to 5 min", unhandledDoubles},
		{"Unhandled/ends when a process announces the type", unhandledAnnounced},
		{"Unhandled/stale references change nothing", unhandledStale},
		{"Tick/many due jobs of an unhandled type at the head are not read", unhandledHead},
	}
}

// waits reports whether a tick names a type among those waiting.
func (s *stage) waits(typ string) bool {
	s.Helper()
	return slices.ContainsFunc(s.tick(tickRequest("holder-1")).Waiting, func(l core.Lane) bool { return l.Type == typ })
}

func unhandledReturns(s *stage) {
	queued := s.queue(5, "a")
	s.must(s.store.Unhandled(s.ctx, refsOf(queued[:3])))
	for i, job := range queued {
		got := s.get(job.ID)
		if i < 3 && (got.Status != core.Scheduled || got.Attempts != 0 || got.LeaseToken != job.LeaseToken+1 || len(got.Errors) != 0) {
			s.Errorf("want it scheduled under the next token without an attempt: %+v", got)
		}
		if i >= 3 && (got.Status != core.Queued || got.LeaseToken != job.LeaseToken) {
			s.Errorf("a job nobody refused changed: %+v", got)
		}
	}
	if jobs := s.start(refsOf(queued)...).Jobs; len(jobs) != 2 {
		s.Errorf("%d messages started a job, want those of the 2 not refused", len(jobs))
	}
}

func unhandledDoubles(s *stage) {
	const margin = 5 * time.Second
	s.submitMany(1, "a")
	for i, seconds := range []int{30, 60, 120, 240, 300, 300} {
		want := time.Duration(seconds) * time.Second
		jobs := s.dispatch("a", 1)
		if len(jobs) != 1 {
			s.Fatalf("refusal %d: the job was not dispatched again", i)
		}
		s.must(s.store.Unhandled(s.ctx, refsOf(jobs)))
		if s.waits("a") {
			s.Fatalf("refusal %d: the type is still named", i)
		}
		s.advance(want - margin)
		if s.waits("a") {
			s.Fatalf("refusal %d: the type is named again before %s have passed", i, want)
		}
		s.advance(margin + time.Second)
		if !s.waits("a") {
			s.Fatalf("refusal %d: the type is not named again after %s", i, want)
		}
	}
}

func unhandledAnnounced(s *stage) {
	s.submitMany(1, "a")
	for range 3 {
		s.must(s.store.Withdraw(s.ctx, worker("b", "a").ID))
		s.must(s.store.Unhandled(s.ctx, refsOf(s.dispatch("a", 1))))
		s.announce("b", "c")
		if s.waits("a") {
			s.Fatal("another type was announced, yet this one is named again")
		}
		s.announce("b", "a")
		s.announce()
		if !s.waits("a") {
			s.Fatal("the type was announced, yet it is not named")
		}
	}
	s.must(s.store.Withdraw(s.ctx, worker("b", "a").ID))
	s.must(s.store.Unhandled(s.ctx, refsOf(s.dispatch("a", 1))))
	s.advance(31 * time.Second)
	if !s.waits("a") {
		s.Fatal("refused again after an announcement, the mark is longer than 30 s")
	}
}

func unhandledStale(s *stage) {
	queued := s.put(core.Queued, core.NewJob{})
	refs, before := []core.Ref{{ID: queued.ID, Token: queued.LeaseToken + 1}, {ID: 1 << 60}}, []core.Job{queued}
	for _, status := range []core.Status{core.Scheduled, core.Running, core.Done, core.Failed, core.Cancelled} {
		job := s.put(status, core.NewJob{})
		before, refs = append(before, job), append(refs, refOf(job))
	}
	s.must(s.store.Unhandled(s.ctx, refs))
	for _, job := range before {
		s.unchanged(job)
	}
}

// unhandledHead puts many due jobs nobody handles before one job that somebody does.
func unhandledHead(s *stage) {
	n := map[bool]int{false: 20_000, true: 1_000_000}[s.h.Large]
	batch := make([]core.NewJob, core.MaxBatch)
	for i := range batch {
		batch[i] = core.NewJob{Type: "nobody's", RunAt: s.now().Add(-time.Hour)}
	}
	for range n / len(batch) {
		s.submit(batch...)
	}
	s.must(s.store.Unhandled(s.ctx, refsOf(s.dispatch("nobody's", 1))))
	ids := s.submitMany(20, "a")
	s.tick(tickRequest("holder-1")) // whatever a first tick does once is done
	read := s.rowsRead(func() {
		if s.waits("nobody's") {
			s.Error("an unhandled type is named as waiting")
		}
		if got := idsOf(s.dispatch("a", 10)); !slices.Equal(got, ids[:10]) {
			s.Errorf("dispatched %v, want %v", got, ids[:10])
		}
		if got := idsOf(s.claim("a", 10)); !slices.Equal(got, ids[10:]) {
			s.Errorf("claimed %v, want %v", got, ids[10:])
		}
	})
	if read > 1000 {
		s.Errorf("two ticks and a claim beside %d jobs nobody handles read %d rows", n, read)
	}
}
