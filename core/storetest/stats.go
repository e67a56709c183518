package storetest

import (
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func statsScenarios() []scenario {
	return []scenario{
		{"Stats/counts live jobs by priority and status", statsCounts},
		{"Stats/an empty store is all zero", statsEmpty},
		{"Stats/counts what is stuck, dead and unhandled", statsTroubles},
		{"StatsOf/counts one tenant's live jobs and dead letters, and nothing of another's", statsOf},
		{"Stats/says how late schedules are and how many alerts are open, by kind", statsAlerts},
		{"CountSchedules/by state", countSchedules},
		{"Ping/a store in order answers, a closed one does not", ping},
	}
}

// stats reads the whole in numbers, and the live rows by priority.
func (s *stage) stats() (core.Stats, map[core.Priority]core.QueueStats) {
	s.Helper()
	stats, err := s.store.Stats(s.ctx, time.Hour)
	s.must(err)
	queues := map[core.Priority]core.QueueStats{}
	for _, q := range stats.Queues {
		queues[q.Priority] = q
	}
	if len(queues) != len(core.Priorities) || len(stats.Queues) != len(queues) {
		s.Fatalf("want each priority once, got %+v", stats.Queues)
	}
	return stats, queues
}

// statsCounts: Scheduled counts all jobs of that status, Due those of them whose time has come.
func statsCounts(s *stage) {
	base := s.now()
	for i, p := range core.Priorities {
		typ := s.newType()
		for n := range 10 + i {
			s.submitOne(core.NewJob{Type: typ, Priority: p, RunAt: base.Add(-time.Duration(n) * time.Minute)})
		}
		s.submit(core.NewJob{Type: typ, Priority: p, Delay: time.Hour}, core.NewJob{Type: typ, Priority: p, Delay: 2 * time.Hour})
		s.claimDue(core.Quota{Priority: p, Type: typ, Limit: 1 + i})
		s.tick(tickRequest("holder-1", core.Quota{Priority: p, Type: typ, Limit: 2}))
	}
	s.put(core.Done, core.NewJob{})
	s.put(core.Cancelled, core.NewJob{})
	_, queues := s.stats()
	for i, p := range core.Priorities {
		got := queues[p]
		oldest := time.Duration(10+i-1-(1+i)-2) * time.Minute // the earliest were claimed and queued
		if got.Running != 1+i || got.Queued != 2 || got.Due != 7 || got.Scheduled != 9 || got.OldestDue < oldest || got.OldestDue > oldest+patience {
			s.Errorf("%s: want %d running, 2 queued, 7 due of 9 scheduled, the oldest for %s; got %+v", p, 1+i, oldest, got)
		}
	}
}

func statsEmpty(s *stage) {
	stats, queues := s.stats()
	for p, q := range queues {
		if q != (core.QueueStats{Priority: p}) {
			s.Errorf("%s: %+v", p, q)
		}
	}
	if stats.DeadLetters != 0 || stats.Stuck != 0 || stats.Unhandled != 0 || stats.HistoryOverflow != 0 || len(stats.Rollups) != 0 || len(stats.Totals) != 0 {
		s.Errorf("%+v", stats)
	}
	if now := s.now(); stats.Now.After(now) || now.Sub(stats.Now) > patience {
		s.Errorf("the stats' now is %s, the store's %s", stats.Now, now)
	}
}

func statsTroubles(s *stage) {
	s.put(core.Failed, core.NewJob{Type: "a"})
	s.put(core.Failed, core.NewJob{Type: "a"})
	s.put(core.Running, core.NewJob{Type: "a"})
	s.submitMany(4, "b")
	s.submitOne(core.NewJob{Type: "b", Delay: time.Hour})
	s.announce("a")
	if stats, _ := s.stats(); stats.DeadLetters != 2 || stats.Stuck != 0 || stats.Unhandled != 4 {
		s.Errorf("want 2 dead, none stuck, 4 due and unhandled; got %d, %d, %d", stats.DeadLetters, stats.Stuck, stats.Unhandled)
	}
	s.advance(lease + time.Second)
	s.announce("b")
	if stats, _ := s.stats(); stats.Stuck != 1 || stats.Unhandled != 0 {
		s.Errorf("want one stuck and none unhandled; got %d, %d", stats.Stuck, stats.Unhandled)
	}
}

func statsOf(s *stage) {
	tenants := []string{"t", "", "u"}
	base := s.now()
	for i, tenant := range tenants {
		for n := range 4 + i {
			s.submitOne(core.NewJob{Type: "a", Tenant: tenant, RunAt: base.Add(-time.Duration(n) * time.Minute)})
		}
		s.submit(core.NewJob{Type: "b", Tenant: tenant, Delay: time.Hour}, core.NewJob{Type: "b", Tenant: tenant, Delay: -time.Hour},
			core.NewJob{Type: "b", Tenant: tenant, Priority: core.Bulk, Delay: time.Hour})
		for range i + 1 {
			s.put(core.Running, core.NewJob{Tenant: tenant})
			s.put(core.Queued, core.NewJob{Tenant: tenant})
			s.put(core.Failed, core.NewJob{Tenant: tenant})
		}
		s.put(core.Done, core.NewJob{Tenant: tenant})
	}
	for i, tenant := range append(tenants, "nobody") {
		got, err := s.store.StatsOf(s.ctx, tenant)
		s.must(err)
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
		if tenant != "nobody" && (oldest < time.Hour || oldest > time.Hour+patience) || tenant == "nobody" && oldest != 0 {
			s.Errorf("%q: the oldest has been due for %s", tenant, oldest)
		}
		if now := s.now(); got.Now.After(now) || now.Sub(got.Now) > patience {
			s.Errorf("the stats' now is %s, the store's %s", got.Now, now)
		}
	}
}

func ping(s *stage) {
	s.must(s.store.Ping(s.ctx))
	if s.h.Single {
		return
	}
	other := s.db.OpenAgain(s.T)
	if err := other.Close(); err != nil {
		s.Fatal(err)
	}
	if err := other.Ping(s.ctx); err == nil {
		s.Error("a closed store answers")
	}
	s.must(s.store.Ping(s.ctx))
}
