package work

import (
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func unhandledScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Unhandled/returns queued jobs without an attempt", Run: unhandledReturns},
		{Name: "Unhandled/marks the type for 30 s, doubling to 5 min", Run: unhandledDoubles},
		{Name: "Unhandled/ends when a process announces the type", Run: unhandledAnnounced},
		{Name: "Unhandled/stale references change nothing", Run: unhandledStale},
		{Name: "Tick/many due jobs of an unhandled type at the head are not read", Run: unhandledHead},
	}
}

func unhandledReturns(s *storetest.Stage) {
	queued := s.Queue(5, "a")
	s.Must(s.Store.Unhandled(s.Ctx, storetest.RefsOf(queued[:3])))
	for i, job := range queued {
		got := s.Get(job.ID)
		if i < 3 && (got.Status != core.Scheduled || got.Attempts != 0 || got.LeaseToken != job.LeaseToken+1 || len(got.Errors) != 0) {
			s.Errorf("want it scheduled under the next token without an attempt: %+v", got)
		}
		if i >= 3 && (got.Status != core.Queued || got.LeaseToken != job.LeaseToken) {
			s.Errorf("a job that was not refused changed: %+v", got)
		}
	}
	if jobs := s.Start(storetest.RefsOf(queued)...).Jobs; len(jobs) != 2 {
		s.Errorf("%d messages started a job, want those of the 2 not refused", len(jobs))
	}
}

func unhandledDoubles(s *storetest.Stage) {
	const margin = 5 * time.Second
	s.SubmitMany(1, "a")
	for i, seconds := range []int{30, 60, 120, 240, 300, 300} {
		want := time.Duration(seconds) * time.Second
		jobs := s.Dispatch("a", 1)
		if len(jobs) != 1 {
			s.Fatalf("refusal %d: the job was not dispatched again", i)
		}
		s.Must(s.Store.Unhandled(s.Ctx, storetest.RefsOf(jobs)))
		if s.Waits("a") {
			s.Fatalf("refusal %d: the type is still named", i)
		}
		s.Advance(want - margin)
		if s.Waits("a") {
			s.Fatalf("refusal %d: the type is named again before %s have passed", i, want)
		}
		s.Advance(margin + time.Second)
		if !s.Waits("a") {
			s.Fatalf("refusal %d: the type is not named again after %s", i, want)
		}
	}
}

func unhandledAnnounced(s *storetest.Stage) {
	s.SubmitMany(1, "a")
	for range 3 {
		s.Must(s.Store.Withdraw(s.Ctx, storetest.Worker("b", "a").ID))
		s.Must(s.Store.Unhandled(s.Ctx, storetest.RefsOf(s.Dispatch("a", 1))))
		s.Announce("b", "c")
		if s.Waits("a") {
			s.Fatal("another type was announced, yet this one is named again")
		}
		s.Announce("b", "a")
		s.Announce()
		if !s.Waits("a") {
			s.Fatal("the type was announced, yet it is not named")
		}
	}
	s.Must(s.Store.Withdraw(s.Ctx, storetest.Worker("b", "a").ID))
	s.Must(s.Store.Unhandled(s.Ctx, storetest.RefsOf(s.Dispatch("a", 1))))
	s.Advance(31 * time.Second)
	if !s.Waits("a") {
		s.Fatal("refused again after an announcement, the mark is longer than 30 s")
	}
}

func unhandledStale(s *storetest.Stage) {
	queued := s.Put(core.Queued, core.NewJob{})
	refs, before := []core.Ref{{ID: queued.ID, Token: queued.LeaseToken + 1}, {ID: 1 << 60}}, []core.Job{queued}
	for _, status := range []core.Status{core.Scheduled, core.Running, core.Done, core.Failed, core.Cancelled} {
		job := s.Put(status, core.NewJob{})
		before, refs = append(before, job), append(refs, storetest.RefOf(job))
	}
	s.Must(s.Store.Unhandled(s.Ctx, refs))
	for _, job := range before {
		s.Unchanged(job)
	}
}

// unhandledHead puts many due jobs without a handler before one job with a handler.
func unhandledHead(s *storetest.Stage) {
	n := map[bool]int{false: 20_000, true: 1_000_000}[s.H.Large]
	batch := make([]core.NewJob, core.MaxBatch)
	for i := range batch {
		batch[i] = core.NewJob{Type: "nobody's", RunAt: s.Now().Add(-time.Hour)}
	}
	for range n / len(batch) {
		s.Submit(batch...)
	}
	s.Must(s.Store.Unhandled(s.Ctx, storetest.RefsOf(s.Dispatch("nobody's", 1))))
	ids := s.SubmitMany(20, "a")
	s.Tick(storetest.TickRequest("holder-1")) // the first tick also does one-time work
	read := RowsRead(s, func() {
		if s.Waits("nobody's") {
			s.Error("an unhandled type is named as waiting")
		}
		if got := storetest.IdsOf(s.Dispatch("a", 10)); !slices.Equal(got, ids[:10]) {
			s.Errorf("dispatched %v, want %v", got, ids[:10])
		}
		if got := storetest.IdsOf(s.Claim("a", 10)); !slices.Equal(got, ids[10:]) {
			s.Errorf("claimed %v, want %v", got, ids[10:])
		}
	})
	if read > 1000 {
		s.Errorf("two ticks and a claim with %d jobs without a handler read %d rows", n, read)
	}
}
