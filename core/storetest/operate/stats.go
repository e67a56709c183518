package operate

import (
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func statsScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Stats/counts live jobs by priority and status", Run: statsCounts},
		{Name: "Stats/an empty store is all zero", Run: statsEmpty},
		{Name: "Stats/counts what is stuck, dead and unhandled", Run: statsTroubles},
		{Name: "StatsOf/counts one tenant's live jobs and dead letters, and nothing of another's", Run: statsOf},
		{Name: "Stats/says how late schedules are and how many alerts are open, by kind", Run: statsAlerts},
		{Name: "CountSchedules/by state", Run: countSchedules},
		{Name: "Ping/a store in order answers, a closed one does not", Run: ping},
	}
}

// statsCounts: Scheduled counts all jobs of that status, and Due those of them that are due.
func statsCounts(s *storetest.Stage) {
	base := s.Now()
	for i, p := range core.Priorities {
		typ := s.NewType()
		for n := range 10 + i {
			s.SubmitOne(core.NewJob{Type: typ, Priority: p, RunAt: base.Add(-time.Duration(n) * time.Minute)})
		}
		s.Submit(core.NewJob{Type: typ, Priority: p, Delay: time.Hour}, core.NewJob{Type: typ, Priority: p, Delay: 2 * time.Hour})
		s.ClaimDue(core.Quota{Priority: p, Type: typ, Limit: 1 + i})
		s.Tick(storetest.TickRequest("holder-1", core.Quota{Priority: p, Type: typ, Limit: 2}))
	}
	s.Put(core.Done, core.NewJob{})
	s.Put(core.Cancelled, core.NewJob{})
	_, queues := s.Stats()
	for i, p := range core.Priorities {
		got := queues[p]
		oldest := time.Duration(10+i-1-(1+i)-2) * time.Minute // the earliest were already claimed and queued
		if got.Running != 1+i || got.Queued != 2 || got.Due != 7 || got.Scheduled != 9 || got.OldestDue < oldest || got.OldestDue > oldest+storetest.Patience {
			s.Errorf("%s: want %d running, 2 queued, 7 due of 9 scheduled, the oldest for %s; got %+v", p, 1+i, oldest, got)
		}
	}
}

func statsEmpty(s *storetest.Stage) {
	stats, queues := s.Stats()
	for p, q := range queues {
		if q != (core.QueueStats{Priority: p}) {
			s.Errorf("%s: %+v", p, q)
		}
	}
	if stats.DeadLetters != 0 || stats.Stuck != 0 || stats.Unhandled != 0 || stats.HistoryOverflow != 0 || len(stats.Rollups) != 0 || len(stats.Totals) != 0 {
		s.Errorf("%+v", stats)
	}
	if now := s.Now(); stats.Now.After(now) || now.Sub(stats.Now) > storetest.Patience {
		s.Errorf("the stats' now is %s, the store's %s", stats.Now, now)
	}
}

func statsTroubles(s *storetest.Stage) {
	s.Put(core.Failed, core.NewJob{Type: "a"})
	s.Put(core.Failed, core.NewJob{Type: "a"})
	s.Put(core.Running, core.NewJob{Type: "a"})
	s.SubmitMany(4, "b")
	s.SubmitOne(core.NewJob{Type: "b", Delay: time.Hour})
	s.Announce("a")
	if stats, _ := s.Stats(); stats.DeadLetters != 2 || stats.Stuck != 0 || stats.Unhandled != 4 {
		s.Errorf("want 2 dead, none stuck, 4 due and unhandled; got %d, %d, %d", stats.DeadLetters, stats.Stuck, stats.Unhandled)
	}
	s.Advance(storetest.Lease + time.Second)
	s.Announce("b")
	if stats, _ := s.Stats(); stats.Stuck != 1 || stats.Unhandled != 0 {
		s.Errorf("want one stuck and none unhandled; got %d, %d", stats.Stuck, stats.Unhandled)
	}
}

func statsOf(s *storetest.Stage) {
	tenants := []string{"t", "", "u"}
	base := s.Now()
	for i, tenant := range tenants {
		for n := range 4 + i {
			s.SubmitOne(core.NewJob{Type: "a", Tenant: tenant, RunAt: base.Add(-time.Duration(n) * time.Minute)})
		}
		s.Submit(core.NewJob{Type: "b", Tenant: tenant, Delay: time.Hour}, core.NewJob{Type: "b", Tenant: tenant, Delay: -time.Hour},
			core.NewJob{Type: "b", Tenant: tenant, Priority: core.Bulk, Delay: time.Hour})
		for range i + 1 {
			s.Put(core.Running, core.NewJob{Tenant: tenant})
			s.Put(core.Queued, core.NewJob{Tenant: tenant})
			s.Put(core.Failed, core.NewJob{Tenant: tenant})
		}
		s.Put(core.Done, core.NewJob{Tenant: tenant})
	}
	for i, tenant := range append(tenants, "nobody") {
		got, err := s.Store.StatsOf(s.Ctx, tenant)
		s.Must(err)
		want := []core.QueueStats{
			{Priority: core.Critical},
			{Priority: core.Default, Scheduled: 6 + i, Due: 5 + i, Queued: i + 1, Running: i + 1},
			{Priority: core.Bulk, Scheduled: 1},
		}
		if tenant == "nobody" {
			want, i = []core.QueueStats{{Priority: core.Critical}, {Priority: core.Default}, {Priority: core.Bulk}}, -1
		}
		oldest := time.Duration(0)
		for n, q := range got.Queues {
			oldest, got.Queues[n].OldestDue = max(oldest, q.OldestDue), 0
		}
		if !slices.Equal(got.Queues, want) || got.DeadLetters != i+1 {
			s.Errorf("%q: %+v and %d dead letters, want %+v and %d", tenant, got.Queues, got.DeadLetters, want, i+1)
		}
		if tenant != "nobody" && (oldest < time.Hour || oldest > time.Hour+storetest.Patience) || tenant == "nobody" && oldest != 0 {
			s.Errorf("%q: the oldest has been due for %s", tenant, oldest)
		}
		if now := s.Now(); got.Now.After(now) || now.Sub(got.Now) > storetest.Patience {
			s.Errorf("the stats' now is %s, the store's %s", got.Now, now)
		}
	}
}

func ping(s *storetest.Stage) {
	s.Must(s.Store.Ping(s.Ctx))
	if s.H.Single {
		return
	}
	other := s.DB.OpenAgain(s.T)
	if err := other.Close(); err != nil {
		s.Fatal(err)
	}
	if err := other.Ping(s.Ctx); err == nil {
		s.Error("a closed store answers")
	}
	s.Must(s.Store.Ping(s.Ctx))
}
