package operate

import (
	"slices"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func listScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "List/sees a job in every table, and so do Get and Ended", Run: listEverywhere},
		{Name: "List/every filter keeps its own", Run: listFilters},
		{Name: "List/finds the jobs of a schedule", Run: listSchedule},
		{Name: "List/pages by id without gap or duplicate while jobs move", Run: listPages},
		{Name: "List/ends a page by the bytes of its jobs, and loses none", Run: listBytes},
		{Name: "List/finds few among many within a bounded number of short pages", Run: listFew},
		{Name: "List/finds the jobs of a small tenant and those in flight at once", Run: listSmall},
		{Name: "Ended/returns the jobs that have ended and no others", Run: endedOnly},
	}
}

func listEverywhere(s *storetest.Stage) {
	all := []core.Status{core.Scheduled, core.Queued, core.Running, core.Done, core.Failed, core.Cancelled}
	var jobs []core.Job
	for _, status := range all {
		jobs = append(jobs, s.Put(status, core.NewJob{Payload: []byte(`"x"`)}))
	}
	other := s.Second()
	listed := other.List(core.ListQuery{Limit: 100})
	slices.Reverse(listed)
	ended, err := other.Store.Ended(s.Ctx, storetest.IdsOf(jobs))
	s.Must(err)
	for i, status := range all {
		got := other.Get(jobs[i].ID)
		if got.Status != status || len(listed) != len(all) || listed[i].ID != got.ID || listed[i].Status != status || string(listed[i].Payload) != `"x"` {
			s.Errorf("%s: Get answers %+v, List %v", status, got, storetest.IdsOf(listed))
		}
		if one := other.List(core.ListQuery{Statuses: []core.Status{status}, Limit: 100}); len(one) != 1 || one[0].ID != got.ID {
			s.Errorf("List of %s answers %v", status, storetest.IdsOf(one))
		}
		if is, ok := ended[got.ID]; ok != status.Ended() || ok && is != status {
			s.Errorf("Ended says %s, %t of a %s job", is, ok, status)
		}
	}
}

func listFilters(s *storetest.Stage) {
	base := s.Now().Truncate(time.Second).Add(-time.Hour)
	var jobs []core.NewJob
	for i := range 48 {
		jobs = append(jobs, core.NewJob{Type: []string{"a", "b"}[i%2], Tenant: []string{"", "t", "u"}[i%3], Priority: core.Priorities[i%3], RunAt: base.Add(time.Duration(i) * time.Minute),
			Tags: [][]string{nil, {"x"}, {"x", "y"}, {"xy"}}[i%4]})
	}
	ids := map[int64]int{}
	for i, one := range s.Submit(jobs...) {
		ids[one.ID] = i
	}
	for _, job := range s.Claim("a", 8) {
		s.Finish(core.End{Ref: storetest.RefOf(job), Outcome: core.Outcome(1 + job.ID%2)})
	}
	none, t := "", "t"
	for name, c := range map[string]struct {
		q    core.ListQuery
		keep func(i int, j core.Job) bool
	}{
		"everything": {core.ListQuery{}, func(int, core.Job) bool { return true }},
		"type":       {core.ListQuery{Type: "a"}, func(i int, _ core.Job) bool { return i%2 == 0 }},
		"no tenant":  {core.ListQuery{Tenant: &none}, func(i int, _ core.Job) bool { return i%3 == 0 }},
		"tenant":     {core.ListQuery{Tenant: &t}, func(i int, _ core.Job) bool { return i%3 == 1 }},
		"priority":   {core.ListQuery{Priority: core.Bulk}, func(i int, _ core.Job) bool { return i%3 == 2 }},
		"tag":        {core.ListQuery{Tag: "x"}, func(i int, _ core.Job) bool { return i%4 == 1 || i%4 == 2 }},
		"run_at": {core.ListQuery{RunAfter: base.Add(5 * time.Minute), RunBefore: base.Add(20 * time.Minute)},
			func(i int, _ core.Job) bool { return i >= 5 && i < 20 }},
		"statuses": {core.ListQuery{Statuses: []core.Status{core.Done, core.Failed, core.Queued}}, func(_ int, j core.Job) bool { return j.Status.Ended() }},
		"all at once": {core.ListQuery{Type: "b", Tenant: &t, Priority: core.Default, Tag: "x", Statuses: []core.Status{core.Scheduled}, RunAfter: base.Add(2 * time.Minute)},
			func(i int, _ core.Job) bool { return i%2 == 1 && i%3 == 1 && i%4 == 1 && i >= 2 }},
	} {
		var want []int64
		for id, i := range ids {
			if c.keep(i, s.Get(id)) {
				want = append(want, id)
			}
		}
		slices.Sort(want)
		slices.Reverse(want)
		c.q.Limit = 1000
		if got := storetest.IdsOf(s.List(c.q)); !slices.Equal(got, want) {
			s.Errorf("%s: got %v, want %v, newest first", name, got, want)
		}
		if c.q.Limit = 2; !slices.Equal(storetest.IdsOf(s.List(c.q)), want[:min(2, len(want))]) {
			s.Errorf("%s: a limit of 2 answers others than the newest", name)
		}
	}
}

// listPages reads page after page while every job runs and ends, and some come back.
func listPages(s *storetest.Stage) {
	const jobs = 300
	want := s.SubmitMany(jobs, "a")
	slices.Reverse(want)
	moved := make(chan struct{})
	s.Together(func() error {
		defer close(moved)
		for {
			res, err := s.Store.ClaimDue(s.Ctx, s.ClaimRequest(storetest.Quota("a", 7)))
			if err != nil || len(res.Jobs) == 0 {
				return err
			}
			for i, job := range res.Jobs {
				if _, err := s.Store.Finish(s.Ctx, []core.End{{Ref: storetest.RefOf(job), Outcome: core.Outcome(1 + i%3), Wait: time.Hour}}); err != nil {
					return err
				}
				if i%3 == 1 {
					if _, err := s.Store.Retry(s.Ctx, job.ID); err != nil {
						return err
					}
					if _, err := s.Store.Reschedule(s.Ctx, job.ID, core.When{Delay: time.Hour}); err != nil {
						return err
					}
				}
			}
		}
	}, func() error {
		for range 1000 {
			var seen []int64
			for q := (core.ListQuery{Limit: 37}); ; {
				page, err := s.Store.List(s.Ctx, q)
				if err != nil {
					return err
				}
				seen = append(seen, storetest.IdsOf(page.Jobs)...)
				if page.Next == 0 {
					break
				}
				q.Before = page.Next
			}
			if !slices.Equal(seen, want) {
				s.Errorf("paging saw %d of %d jobs, or some twice or out of order", len(seen), len(want))
				return nil
			}
			select {
			case <-moved:
				return nil
			default:
			}
		}
		return nil
	})
}

// listBytes pages through jobs of 1,000 bytes in every table with all kinds of queries, 2,500 bytes at a time.
func listBytes(s *storetest.Stage) {
	tenant := "t"
	all := []core.Status{core.Scheduled, core.Queued, core.Running, core.Done, core.Failed, core.Cancelled}
	for range 4 {
		for _, status := range all {
			s.Put(status, core.NewJob{Tenant: tenant, Payload: []byte(`"` + strings.Repeat("x", 998) + `"`)})
		}
	}
	for name, q := range map[string]core.ListQuery{
		"everything": {}, "tenant": {Tenant: &tenant}, "waiting": {Statuses: []core.Status{core.Scheduled}}, "in flight": {Statuses: []core.Status{core.Queued, core.Running}},
		"ended": {Statuses: []core.Status{core.Done, core.Cancelled}}, "dead letters": {Statuses: []core.Status{core.Failed}},
	} {
		q.Limit = 100
		want, got := storetest.IdsOf(s.List(q)), []int64(nil)
		for q.Bytes = 2_500; ; {
			page, err := s.Store.List(s.Ctx, q)
			s.Must(err)
			if len(page.Jobs) > 3 {
				s.Errorf("%s: a page of %d jobs", name, len(page.Jobs))
			}
			if got = append(got, storetest.IdsOf(page.Jobs)...); page.Next == 0 {
				break
			}
			q.Before = page.Next
		}
		if len(want) < 4 || !slices.Equal(got, want) {
			s.Errorf("%s: got %v, want %v", name, got, want)
		}
		if q.Before, q.Bytes = 0, 1; len(s.List(q)) != 1 {
			s.Errorf("%s: a page of less than one job answers %d", name, len(s.List(q)))
		}
	}
}

// listFew: rare jobs lie behind more rows than one call reads. Every call says where to continue, even if it found nothing.
func listFew(s *storetest.Stage) {
	n := map[bool]int{false: 22_000, true: 200_000}[s.H.Large]
	rare := s.SubmitOne(core.NewJob{Type: "rare", Tags: []string{"x"}})
	s.SubmitMany(n/2, "common")
	middle := s.SubmitOne(core.NewJob{Type: "rare", Priority: core.Bulk})
	s.SubmitMany(n/2, "common")
	for name, c := range map[string]struct {
		q    core.ListQuery
		want []int64
	}{
		"type":     {core.ListQuery{Type: "rare"}, []int64{middle, rare}},
		"tag":      {core.ListQuery{Tag: "x"}, []int64{rare}},
		"priority": {core.ListQuery{Priority: core.Bulk, Statuses: []core.Status{core.Scheduled, core.Done}}, []int64{middle}},
		"nothing":  {core.ListQuery{Tag: "y"}, nil},
	} {
		var got []int64
		c.q.Limit = 100
		pages := 0
		for page := (core.Page{Next: 1}); page.Next != 0; pages++ {
			var err error
			page, err = s.Store.List(s.Ctx, c.q)
			s.Must(err)
			if page.Next != 0 && c.q.Before != 0 && page.Next >= c.q.Before || pages > n/1000 {
				s.Fatalf("%s: page %d continues at %d, the previous one at %d", name, pages, page.Next, c.q.Before)
			}
			got = append(got, storetest.IdsOf(page.Jobs)...)
			c.q.Before = page.Next
		}
		if !slices.Equal(got, c.want) {
			s.Errorf("%s: got %v in %d pages, want %v", name, got, pages, c.want)
		}
	}
}

func listSmall(s *storetest.Stage) {
	var want []int64
	small := "small"
	for range 3 {
		want = append(want, s.SubmitOne(core.NewJob{Type: "a", Tenant: small}))
	}
	running := s.Claim("a", 2)
	dead, done := running[0], running[1]
	s.FinishAs(core.Failed, core.End{Ref: storetest.RefOf(dead), Outcome: core.EndFail})
	s.FinishAs(core.Done, core.End{Ref: storetest.RefOf(done), Outcome: core.EndDone})
	flight := s.Put(core.Running, core.NewJob{Type: "flight"})
	s.SubmitMany(15_000, "common")
	slices.Reverse(want)
	page, err := s.Store.List(s.Ctx, core.ListQuery{Tenant: &small, Limit: 100})
	if s.Must(err); !slices.Equal(storetest.IdsOf(page.Jobs), want) || page.Next != 0 {
		s.Errorf("a tenant of three jobs: %v, next %d; want %v and no next", storetest.IdsOf(page.Jobs), page.Next, want)
	}
	page, err = s.Store.List(s.Ctx, core.ListQuery{Statuses: []core.Status{core.Running, core.Queued}, Limit: 100})
	if s.Must(err); !slices.Equal(storetest.IdsOf(page.Jobs), []int64{flight.ID}) || page.Next != 0 {
		s.Errorf("in flight: %v, next %d; want %d and no next", storetest.IdsOf(page.Jobs), page.Next, flight.ID)
	}
	if page, err = s.Store.List(s.Ctx, core.ListQuery{Statuses: []core.Status{core.Running}, Before: flight.ID, Limit: 100}); err != nil || len(page.Jobs) != 0 {
		s.Errorf("in flight below the only one: %v, %v", storetest.IdsOf(page.Jobs), err)
	}
}

func endedOnly(s *storetest.Stage) {
	done, failed, running := s.Put(core.Done, core.NewJob{}), s.Put(core.Failed, core.NewJob{}), s.Put(core.Running, core.NewJob{})
	got, err := s.Store.Ended(s.Ctx, []int64{done.ID, 1 << 60, failed.ID, running.ID, done.ID, -1})
	if s.Must(err); len(got) != 2 || got[done.ID] != core.Done || got[failed.ID] != core.Failed {
		s.Errorf("want the done and the failed job, got %v", got)
	}
	if got, err = s.Store.Ended(s.Ctx, nil); err != nil || len(got) != 0 {
		s.Errorf("an empty call: %v, %v", got, err)
	}
	_, err = s.Store.Retry(s.Ctx, failed.ID)
	s.Must(err)
	if got, err = s.Store.Ended(s.Ctx, []int64{failed.ID}); err != nil || len(got) != 0 {
		s.Errorf("a retried job: %v, %v", got, err)
	}
}
