package submit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func dedupeScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Submit/a live job keeps its dedupe key in every live status", Run: dedupeLive},
		{Name: "Submit/the end of a job frees its dedupe key", Run: dedupeFreed},
		{Name: "Submit/a retry and a snooze keep the dedupe key", Run: dedupeKept},
		{Name: "Submit/two tenants may use the same dedupe key", Run: dedupeTenants},
		{Name: "Submit/the first of equal keys in one batch is written", Run: dedupeBatch},
		{Name: "Submit/several holders of keys come without large payloads", Run: dedupeBrief},
		{Name: "Submit/a batch and single calls obey the same keys", Run: dedupeMixed},
		{Name: "Submit/many submits of one key make one job", Run: dedupeRace},
		{Name: "Submit/64 submits of one key whose first rolls back make one job", Run: func(s *storetest.Stage) { dedupeHeld(s, false) }},
		{Name: "Submit/64 submits of one key whose first commits answer that job", Run: func(s *storetest.Stage) { dedupeHeld(s, true) }},
		{Name: "Submit/batches with the same keys in opposite order do not deadlock", Run: dedupeOpposite},
		{Name: "Submit/a key held by an open transaction is busy and no other submit waits", Run: dedupeBusy},
		{Name: "Submit/a key never has two live jobs while its holder ends", Run: dedupeEnding},
		{Name: "Submit/a key that comes free again and again always answers a job", Run: dedupeFreeing},
	}
}

func dedupeLive(s *storetest.Stage) {
	for _, status := range []core.Status{core.Scheduled, core.Queued, core.Running} {
		job := s.Put(status, core.NewJob{DedupeKey: "k-" + status.String(), Payload: []byte(`"first"`)})
		got := s.Existing(core.NewJob{Type: "other", DedupeKey: job.DedupeKey, Payload: []byte(`"second"`)})
		if got.ID != job.ID || got.Status != status || string(got.Payload) != `"first"` {
			s.Errorf("%s: want job %d unchanged, got %+v", status, job.ID, got)
		}
	}
}

func dedupeFreed(s *storetest.Stage) {
	for _, status := range []core.Status{core.Done, core.Failed, core.Cancelled} {
		old := s.Put(status, core.NewJob{DedupeKey: "k-" + status.String()})
		fresh := s.SubmitOne(core.NewJob{Type: "b", DedupeKey: old.DedupeKey})
		if got := s.Existing(core.NewJob{Type: "b", DedupeKey: old.DedupeKey}); got.ID != fresh {
			s.Errorf("%s: want the new job %d to hold the key, got %d", status, fresh, got.ID)
		}
		if got := s.Get(old.ID); got.Status != status {
			s.Errorf("the old job went from %s to %s", status, got.Status)
		}
	}
}

func dedupeKept(s *storetest.Stage) {
	for _, outcome := range []core.Outcome{core.EndRetry, core.EndSnooze, core.EndHandBack, core.EndLoss} {
		job := s.ClaimOne(core.NewJob{Type: s.NewType(), DedupeKey: fmt.Sprint("k", outcome)})
		s.FinishAs(core.Scheduled, core.End{Ref: storetest.RefOf(job), Outcome: outcome, Wait: time.Hour})
		if got := s.Existing(core.NewJob{Type: "b", DedupeKey: job.DedupeKey}); got.ID != job.ID {
			s.Errorf("outcome %d: job %d holds the key, want %d", outcome, got.ID, job.ID)
		}
	}
}

func dedupeTenants(s *storetest.Stage) {
	out := s.Submit(core.NewJob{Type: "a", DedupeKey: "k"}, core.NewJob{Type: "a", Tenant: "t", DedupeKey: "k"}, core.NewJob{Type: "a", Tenant: "T", DedupeKey: "k"},
		core.NewJob{Type: "a", DedupeKey: "K"}, core.NewJob{Type: "a", DedupeKey: "k "}, core.NewJob{Type: "a"}, core.NewJob{Type: "a"})
	if got := s.Existing(core.NewJob{Type: "a", Tenant: "t", DedupeKey: "k"}); got.ID != out[1].ID {
		s.Fatalf("job %d holds tenant t's key, want %d", got.ID, out[1].ID)
	}
}

func dedupeBatch(s *storetest.Stage) {
	out, err := s.Store.Submit(s.Ctx, []core.NewJob{
		{Type: "a", DedupeKey: "k", Payload: []byte("1")}, {Type: "a"}, {Type: "a", DedupeKey: "k", Payload: []byte("2")}, {Type: "a", DedupeKey: "l"}, {Type: "a", DedupeKey: "k", Payload: []byte("3")}})
	s.Must(err)
	if out[0].Existing != nil || out[1].Existing != nil || out[3].Existing != nil {
		s.Fatalf("want jobs 0, 1 and 3 written: %+v", out)
	}
	for _, i := range []int{2, 4} {
		if out[i].Existing == nil || out[i].Existing.ID != out[0].ID || string(out[i].Existing.Payload) != "1" {
			s.Fatalf("want job %d answered with the first of its key, got %+v", i, out[i])
		}
	}
	if n := len(s.List(core.ListQuery{Limit: 100})); n != 3 {
		s.Fatalf("%d jobs were written, want 3", n)
	}
}

func dedupeBrief(s *storetest.Stage) {
	text := func(n int) []byte { return []byte(`"` + strings.Repeat("x", n-2) + `"`) }
	jobs := []core.NewJob{
		{Type: "a", DedupeKey: "large", Payload: text(core.MaxBriefBytes + 1)},
		{Type: "a", DedupeKey: "small", Payload: text(core.MaxBriefBytes)},
	}
	s.Submit(jobs...)
	out, err := s.Store.Submit(s.Ctx, append(jobs, jobs[0]))
	s.Must(err)
	for i, want := range []int{0, core.MaxBriefBytes, 0} {
		if e := out[i].Existing; e == nil || len(e.Payload) != want {
			s.Fatalf("job %d: want its holder with %d bytes of payload: %+v", i, want, e)
		}
	}
	if got := s.Existing(jobs[0]); len(got.Payload) != core.MaxBriefBytes+1 {
		s.Fatalf("a holder alone has %d bytes of payload", len(got.Payload))
	}
}

func dedupeMixed(s *storetest.Stage) {
	first := s.SubmitOne(core.NewJob{Type: "a", DedupeKey: "k1"})
	out, err := s.Store.Submit(s.Ctx, []core.NewJob{{Type: "a", DedupeKey: "k0"}, {Type: "a", DedupeKey: "k1"}, {Type: "a", DedupeKey: "k2"}})
	s.Must(err)
	if out[0].Existing != nil || out[2].Existing != nil || out[1].Existing == nil || out[1].Existing.ID != first {
		s.Fatalf("want only k1 answered with job %d, got %+v", first, out)
	}
	if got := s.Existing(core.NewJob{Type: "a", DedupeKey: "k2"}); got.ID != out[2].ID {
		s.Fatalf("job %d holds k2, want %d", got.ID, out[2].ID)
	}
}

func dedupeRace(s *storetest.Stage) {
	other := s.Second()
	for range 10 {
		key := fmt.Sprint("k", s.Number())
		var written atomic.Int64
		ids := make([]int64, 24)
		s.Times(len(ids), func(i int) error {
			out, err := []core.Store{s.Store, other.Store}[i%2].Submit(s.Ctx, []core.NewJob{{Type: "a", DedupeKey: key}})
			if err != nil {
				return err
			}
			if ids[i] = out[0].ID; out[0].Existing == nil {
				written.Add(1)
			}
			return nil
		})
		if distinct := slices.Compact(slices.Sorted(slices.Values(ids))); written.Load() != 1 || len(distinct) != 1 {
			s.Fatalf("%d jobs were written for one key; the calls answered %v", written.Load(), distinct)
		}
	}
}

// dedupeHeld lets a foreign transaction write the key first. All other submits meet it while it is open.
func dedupeHeld(s *storetest.Stage, commit bool) {
	release := s.Hold(storetest.Hold{Kind: storetest.HoldJob, Type: "foreign", Key: "k", RunAt: s.Now()})
	var written, answered atomic.Int64
	ids := make([]int64, 64)
	acts := []func() error{func() error {
		if w, ok := s.DB.(storetest.WaitCounter); ok {
			s.Eventually("a submit waits for the stranger", func() bool { return w.Waiting(s.T) > 0 || answered.Load() > 0 })
		}
		release(commit)
		return nil
	}}
	for i := range ids {
		acts = append(acts, func() error {
			return storetest.NotBusy(s.Ctx, func() error {
				out, err := s.Store.Submit(s.Ctx, []core.NewJob{{Type: "own", DedupeKey: "k"}})
				if err != nil {
					return err
				}
				answered.Add(1)
				if ids[i] = out[0].ID; out[0].Existing == nil {
					written.Add(1)
				}
				return nil
			})
		})
	}
	s.Together(acts...)
	distinct := slices.Compact(slices.Sorted(slices.Values(ids)))
	live := s.List(core.ListQuery{Limit: 10})
	if len(distinct) != 1 || len(live) != 1 || live[0].ID != distinct[0] {
		s.Fatalf("want one job that all calls answer; they answered %v, there are %v", distinct, storetest.IdsOf(live))
	}
	if want := map[bool]int64{true: 0, false: 1}[commit]; written.Load() != want {
		s.Fatalf("%d calls wrote a job, want %d", written.Load(), want)
	}
}

func dedupeOpposite(s *storetest.Stage) {
	for range 15 {
		forward := make([]core.NewJob, 60)
		for i := range forward {
			forward[i] = core.NewJob{Type: "a", DedupeKey: fmt.Sprint("k", s.Number())}
		}
		backward := slices.Clone(forward)
		slices.Reverse(backward)
		var written atomic.Int64
		s.Times(4, func(i int) error {
			out, err := s.Store.Submit(s.Ctx, [][]core.NewJob{forward, backward}[i%2])
			for _, one := range out {
				if one.Existing == nil {
					written.Add(1)
				}
			}
			return err
		})
		if written.Load() != int64(len(forward)) {
			s.Fatalf("%d jobs were written for %d keys", written.Load(), len(forward))
		}
	}
}

func dedupeBusy(s *storetest.Stage) {
	release := s.Hold(storetest.Hold{Kind: storetest.HoldJob, Type: "foreign", Key: "k", RunAt: s.Now()})
	const waiting = 40 // more than a store has connections
	held := make(chan error, waiting)
	for range waiting {
		go func() {
			_, err := s.Store.Submit(s.Ctx, []core.NewJob{{Type: "own", DedupeKey: "k"}})
			held <- err
		}()
	}
	s.Times(16, func(i int) error {
		for j := range 20 {
			job := core.NewJob{Type: "own"}
			if j%2 == 0 {
				job.DedupeKey = fmt.Sprint("free-", i, "-", j)
			}
			if _, err := s.Store.Submit(s.Ctx, []core.NewJob{job}); err != nil {
				return err
			}
		}
		return nil
	})
	if n := len(s.List(core.ListQuery{Type: "own", Limit: 1000})); n != 320 {
		s.Fatalf("%d of 320 jobs were written while another transaction held another key", n)
	}
	for range waiting {
		if err := <-held; !errors.Is(err, core.ErrBusy) {
			s.Fatalf("a submit of the held key: want ErrBusy, got %v", err)
		}
	}
	release(false)
	s.SubmitOne(core.NewJob{Type: "own", DedupeKey: "k"})
}

// dedupeEnding keeps submitting a key while the job that holds it ends.
func dedupeEnding(s *storetest.Stage) {
	other := s.Second()
	for round := range 25 {
		typ, key := s.NewType(), fmt.Sprint("k", round)
		job := s.ClaimOne(core.NewJob{Type: typ, DedupeKey: key})
		end := []core.End{{Ref: storetest.RefOf(job), Outcome: core.EndDone}, {Ref: storetest.RefOf(job), Outcome: core.EndFail}}[round%2]
		var written atomic.Int64
		submit := func() error {
			for range 4 {
				out, err := other.Store.Submit(s.Ctx, []core.NewJob{{Type: typ, DedupeKey: key}})
				if err != nil {
					return err
				}
				if out[0].Existing == nil {
					written.Add(1)
				} else if e := out[0].Existing; !e.Status.Live() || e.DedupeKey != key {
					return fmt.Errorf("the existing job %d is %s under key %q", e.ID, e.Status, e.DedupeKey)
				}
			}
			return nil
		}
		s.Together(submit, submit, func() error { _, err := s.Store.Finish(s.Ctx, []core.End{end}); return err })
		live := s.List(core.ListQuery{Type: typ, Statuses: []core.Status{core.Scheduled, core.Queued, core.Running}, Limit: 10})
		if written.Load() > 1 || len(live) != int(written.Load()) {
			s.Fatalf("%d jobs were written after the holder of the key, %d are live", written.Load(), len(live))
		}
	}
}

// dedupeFreeing submits one key from many callers. The one that writes the job cancels it at once, so that the key becomes
// free between any two steps of the others.
func dedupeFreeing(s *storetest.Stage) {
	other := s.Second()
	var written atomic.Int64
	s.Times(6, func(i int) error {
		store := []core.Store{s.Store, other.Store}[i%2]
		for range 60 {
			out, err := store.Submit(s.Ctx, []core.NewJob{{Type: "a", DedupeKey: "k"}})
			if errors.Is(err, core.ErrBusy) {
				continue
			}
			if err != nil {
				return err
			}
			if e := out[0].Existing; e != nil {
				if e.ID <= 0 || e.ID != out[0].ID || !e.Status.Live() || e.DedupeKey != "k" {
					return fmt.Errorf("answered with %+v", e)
				}
				continue
			}
			if out[0].ID <= 0 {
				return fmt.Errorf("answered with no job: %+v", out[0])
			}
			written.Add(1)
			if err := storetest.Tolerant(s, func() error { _, err := store.Cancel(s.Ctx, out[0].ID); return err }); err != nil {
				return err
			}
		}
		return nil
	})
	if n := len(s.List(core.ListQuery{Statuses: []core.Status{core.Cancelled}, Limit: 1000})); n != int(written.Load()) || n == 0 {
		s.Fatalf("%d jobs were written, %d are there", written.Load(), n)
	}
}
