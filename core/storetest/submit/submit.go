package submit

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func submitScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Submit/answers every job in order with the row it wrote", Run: submitAnswers},
		{Name: "Submit/keeps every field", Run: submitFields},
		{Name: "Submit/fills in the defaults", Run: submitDefaults},
		{Name: "Submit/a delay counts from the store's now", Run: submitDelay},
		{Name: "Submit/expires_after counts from run_at, unless the job names expires_at", Run: submitExpiresAfter},
		{Name: "Submit/an empty call writes nothing", Run: submitNothing},
		{Name: "Submit/a batch is written whole or not at all", Run: submitWhole},
		{Name: "Submit/what was accepted is there for another handle", Run: submitDurable},
		{Name: "Submit/a job queued at submit starts with the token it answered", Run: submitQueued},
		{Name: "Submit/a job queued at submit is published again once its dispatch lease has expired", Run: submitQueuedAgain},
		{Name: "Submit/a job due later is not queued at submit", Run: submitQueuedAhead},
	}
}

func submitAnswers(s *storetest.Stage) {
	at := s.Now().Add(time.Hour).Truncate(time.Microsecond)
	jobs := make([]core.NewJob, 100)
	for i := range jobs {
		jobs[i] = core.NewJob{Type: "a", RunAt: at.Add(time.Duration(100-i) * time.Second), Tags: []string{string(rune('a' + i%26))}}
	}
	seen := map[int64]bool{}
	for i, got := range s.Submit(jobs...) {
		row := s.Get(got.ID)
		if seen[got.ID] || got.ID <= 0 {
			s.Fatalf("job %d: id %d is not a fresh positive id", i, got.ID)
		}
		seen[got.ID] = true
		if !got.RunAt.Equal(jobs[i].RunAt) || !row.RunAt.Equal(jobs[i].RunAt) || !slices.Equal(row.Tags, jobs[i].Tags) {
			s.Fatalf("answer %d is for another job: %+v, row %+v", i, got, row)
		}
		if got.Status != core.Scheduled || row.Status != core.Scheduled || got.Token != row.LeaseToken || !got.CreatedAt.Equal(row.CreatedAt) {
			s.Fatalf("answer %d differs from its row: %+v, row %+v", i, got, row)
		}
		if row.Bucket != core.BucketOf(row.ID) {
			s.Fatalf("job %d is in bucket %d, want %d", row.ID, row.Bucket, core.BucketOf(row.ID))
		}
	}
}

func submitFields(s *storetest.Stage) {
	now := s.Now().Truncate(time.Microsecond)
	want := core.NewJob{
		Type: "mail", Payload: json.RawMessage(`{"to": "x"}`), Priority: core.Critical, Tenant: "acme",
		RunAt: now.Add(90 * time.Minute), DedupeKey: "k", MaxAttempts: 9, Timeout: 95 * time.Second, ExpiresAt: now.Add(48 * time.Hour),
		Backoff: []time.Duration{time.Second, 3 * time.Minute}, Target: json.RawMessage(`{"url":"https://example.org/x?a=1&b=<2>"}`),
		Tags: []string{"b", "a", "é"}, Trace: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	}
	got := s.Get(s.SubmitOne(want))
	back := core.NewJob{
		Type: got.Type, Payload: got.Payload, Priority: got.Priority, Tenant: got.Tenant, RunAt: got.RunAt.UTC(), DedupeKey: got.DedupeKey,
		MaxAttempts: got.MaxAttempts, Timeout: got.Timeout, ExpiresAt: got.ExpiresAt.UTC(), Backoff: got.Backoff, Target: got.Target, Tags: got.Tags, Trace: got.Trace,
	}
	want.RunAt, want.ExpiresAt = want.RunAt.UTC(), want.ExpiresAt.UTC()
	if !reflect.DeepEqual(back, want) {
		s.Fatalf("submitted and read back differ:\n got %+v\nwant %+v", back, want)
	}
}

func submitDefaults(s *storetest.Stage) {
	before := s.Now()
	got := s.Get(s.SubmitOne(core.NewJob{Type: "a"}))
	after := s.Now()
	if got.Priority != core.Default || got.MaxAttempts != core.DefaultMaxAttempts || string(got.Payload) != "{}" || got.Tenant != "" {
		s.Errorf("defaults are not filled in: %+v", got)
	}
	if got.RunAt.Before(before.Add(-time.Microsecond)) || got.RunAt.After(after) || got.CreatedAt.Before(before.Add(-time.Microsecond)) || got.CreatedAt.After(after) {
		s.Errorf("run_at %s and created_at %s are not within the call, %s to %s", got.RunAt, got.CreatedAt, before, after)
	}
	if got.Attempts != 0 || got.Snoozes != 0 || got.EndedToken != 0 || got.CancelWanted || len(got.Errors) != 0 || got.Result != nil || got.Reason != "" {
		s.Errorf("a new job has a past: %+v", got)
	}
	if !got.ExpiresAt.IsZero() || !got.StartedAt.IsZero() || !got.FinishedAt.IsZero() || got.Timeout != 0 || got.Target != nil || got.DedupeKey != "" {
		s.Errorf("what was not given is not zero: %+v", got)
	}
}

func submitExpiresAfter(s *storetest.Stage) {
	s.Advance(3 * time.Hour) // now the process's clock differs from the store's
	at := s.Now().Add(2 * time.Hour).Truncate(time.Microsecond)
	const after = 90 * time.Minute
	for name, job := range map[string]core.NewJob{
		"now": {}, "delay": {Delay: time.Hour}, "run_at": {RunAt: at}, "past": {RunAt: at.Add(-4 * time.Hour)}, "dedupe key": {DedupeKey: "k"}, "dedupe key and delay": {DedupeKey: "l", Delay: time.Hour},
	} {
		job.Type, job.ExpiresAfter = "a", after
		if got := s.Get(s.SubmitOne(job)); got.ExpiresAt.Sub(got.RunAt) != after {
			s.Errorf("%s: may start %s, expires %s", name, got.RunAt, got.ExpiresAt)
		}
		if job.ExpiresAt = at.Add(24 * time.Hour); job.DedupeKey != "" {
			job.DedupeKey += " again"
		}
		if got := s.Get(s.SubmitOne(job)); !got.ExpiresAt.Equal(job.ExpiresAt) {
			s.Errorf("%s, which names expires_at: %s", name, got.ExpiresAt)
		}
	}
}

func submitDelay(s *storetest.Stage) {
	before := s.Now()
	got := s.Submit(core.NewJob{Type: "a", Delay: 90 * time.Second})[0]
	after := s.Now()
	if got.RunAt.Before(before.Add(90*time.Second-time.Microsecond)) || got.RunAt.After(after.Add(90*time.Second)) {
		s.Fatalf("run_at %s is not 90 s after the call, %s to %s", got.RunAt, before, after)
	}
	if jobs := s.Claim("a", 1); len(jobs) != 0 {
		s.Fatal("claimed before its delay had passed")
	}
	s.Advance(91 * time.Second)
	if jobs := s.Claim("a", 1); len(jobs) != 1 {
		s.Fatal("not claimed after its delay had passed")
	}
}

func submitNothing(s *storetest.Stage) {
	out, err := s.Store.Submit(s.Ctx, nil)
	s.Must(err)
	if len(out) != 0 || len(s.List(core.ListQuery{Limit: 10})) != 0 {
		s.Fatalf("an empty call answered %v", out)
	}
}

// submitWhole cancels batches while they are written. A call that failed may have written all or nothing.
func submitWhole(s *storetest.Stage) {
	const size = 300
	cut := 0
	for round := range 12 {
		typ := s.NewType()
		jobs := make([]core.NewJob, size)
		for i := range jobs {
			jobs[i] = core.NewJob{Type: typ}
		}
		ctx, cancel := context.WithTimeout(s.Ctx, time.Duration(round*round)*80*time.Microsecond)
		_, err := s.Store.Submit(ctx, jobs)
		cancel()
		n := len(s.List(core.ListQuery{Type: typ, Limit: 1000}))
		if n != size && (n != 0 || err == nil) {
			s.Fatalf("%d of %d jobs were written; Submit answered %v", n, size, err)
		}
		if err != nil {
			cut++
		}
	}
	if cut == 0 {
		s.Fatal("no call was cut off: the context is ignored")
	}
}

func submitDurable(s *storetest.Stage) {
	ids := make([][]int64, 16)
	s.Times(len(ids), func(i int) error {
		for range 10 {
			out, err := s.Store.Submit(s.Ctx, []core.NewJob{{Type: "a"}, {Type: "a"}})
			if err != nil {
				return err
			}
			ids[i] = append(ids[i], out[0].ID, out[1].ID)
		}
		return nil
	})
	other, seen := s.Second(), map[int64]bool{}
	for _, id := range slices.Concat(ids...) {
		if seen[id] || other.Get(id).Status != core.Scheduled {
			s.Fatalf("job %d was answered twice or is not scheduled", id)
		}
		seen[id] = true
	}
}

func submitQueued(s *storetest.Stage) {
	got := s.Submit(core.NewJob{Type: "a", Queued: true, QueuedLease: storetest.DispatchLease, Fence: 7})[0]
	row := s.Get(got.ID)
	if got.Status != core.Queued || row.Status != core.Queued || row.DispatchFence != 7 {
		s.Fatalf("want it queued under fence 7, got %+v, row %+v", got, row)
	}
	if jobs := s.Claim("a", 1); len(jobs) != 0 {
		s.Fatal("a queued job was claimed as if it were scheduled")
	}
	started := s.Start(core.Ref{ID: got.ID, Token: got.Token}).Jobs
	if len(started) != 1 || started[0].Status != core.Running || started[0].Attempts != 1 {
		s.Fatalf("not started by the token it answered: %+v", started)
	}
}

func submitQueuedAgain(s *storetest.Stage) {
	fence := s.Tick(storetest.TickRequest("holder-1")).Held[0].Token
	got := s.Submit(core.NewJob{Type: "a", Queued: true, QueuedLease: storetest.DispatchLease, Fence: fence})[0]
	if jobs := s.Dispatch("a", 10); len(jobs) != 0 {
		s.Fatal("published by the tick while the submitter's dispatch lease is live")
	}
	s.Advance(storetest.DispatchLease + time.Second)
	jobs := s.Dispatch("a", 10)
	if len(jobs) != 1 || storetest.RefOf(jobs[0]) != (core.Ref{ID: got.ID, Token: got.Token}) {
		s.Fatalf("want job %d published again under token %d, got %+v", got.ID, got.Token, jobs)
	}
}

func submitQueuedAhead(s *storetest.Stage) {
	got := s.Submit(core.NewJob{Type: "a", Delay: time.Hour, Queued: true, QueuedLease: storetest.DispatchLease})[0]
	if got.Status != core.Scheduled || s.Get(got.ID).Status != core.Scheduled {
		s.Fatalf("want it scheduled, got %s", got.Status)
	}
	if _, err := s.Store.Get(s.Ctx, got.ID+1_000_000); !errors.Is(err, core.ErrNotFound) {
		s.Fatalf("Get of an unknown id: want ErrNotFound, got %v", err)
	}
}
