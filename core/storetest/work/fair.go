package work

import (
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func fairScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "ClaimDue/one tenant's many jobs hide no other tenant", Run: func(s *storetest.Stage) { fairFirst(s, s.ClaimFair) }},
		{Name: "ClaimDue/the tenant cursor goes round and wraps", Run: func(s *storetest.Stage) { fairCursor(s, s.ClaimFair) }},
		{Name: "ClaimDue/a tenant's share is in order of run_at", Run: fairOrder},
		{Name: "ClaimDue/no tenant starves while others keep coming", Run: fairStarving},
		{Name: "Tick/one tenant's many jobs hide no other tenant", Run: func(s *storetest.Stage) { fairFirst(s, s.TickFair) }},
		{Name: "Tick/the tenant cursor goes round and wraps", Run: func(s *storetest.Stage) { fairCursor(s, s.TickFair) }},
	}
}

// submitTenants writes 5,000 jobs of tenant "big", then ten jobs for each of 49 tenants and ten without a tenant.
func submitTenants(s *storetest.Stage) {
	batch := make([]core.NewJob, 5_000)
	for i := range batch {
		batch[i] = core.NewJob{Type: "a", Tenant: "big"}
	}
	s.Submit(batch...)
	var small []core.NewJob
	for i := range 50 {
		tenant := fmt.Sprintf("small-%02d", i)
		if i == 0 {
			tenant = ""
		}
		for range 10 {
			small = append(small, core.NewJob{Type: "a", Tenant: tenant})
		}
	}
	s.Submit(small...)
}

func perTenant(jobs []core.Job) map[string]int {
	n := map[string]int{}
	for _, job := range jobs {
		n[job.Tenant]++
	}
	return n
}

func fairFirst(s *storetest.Stage, take func(core.Quota) ([]core.Job, core.Taken)) {
	submitTenants(s)
	jobs, taken := take(core.Quota{Priority: core.Default, Type: "a", Limit: 200, PerTenant: 3})
	n := perTenant(jobs)
	for tenant, got := range n {
		if got != 3 {
			s.Errorf("tenant %q got %d, want 3", tenant, got)
		}
	}
	if len(n) != 51 || taken.N != 153 || !taken.Wrapped || !taken.Tenants {
		s.Errorf("%d of 51 tenants got something, %+v", len(n), taken)
	}
}

// fairCursor claims for ten tenants at a time: every tenant is visited once per round.
func fairCursor(s *storetest.Stage, take func(core.Quota) ([]core.Job, core.Taken)) {
	submitTenants(s)
	seen := map[string]int{}
	q := core.Quota{Priority: core.Default, Type: "a", Limit: 20, PerTenant: 2}
	for call := range 11 { // 10 tenants each: 110 visits of 51 tenants are two rounds and 8 visits
		jobs, taken := take(q)
		n := perTenant(jobs)
		if len(n) != 10 || taken.N != 20 || taken.Wrapped || n[taken.LastTenant] == 0 {
			s.Fatalf("call %d: want 2 jobs each of 10 tenants, got %v, %+v", call, n, taken)
		}
		for tenant, got := range n {
			if seen[tenant]++; got != 2 {
				s.Fatalf("call %d: tenant %q got %d, want 2", call, tenant, got)
			}
		}
		q.TenantAfter = taken.LastTenant
	}
	for tenant, visits := range seen {
		if visits < 2 || visits > 3 {
			s.Errorf("tenant %q was visited %d times in 110 visits of 51 tenants", tenant, visits)
		}
	}
	if len(seen) != 51 {
		s.Errorf("%d of 51 tenants were visited", len(seen))
	}
}

func fairOrder(s *storetest.Stage) {
	base := s.Now().Add(-time.Hour)
	var jobs []core.NewJob
	for i := range 60 {
		jobs = append(jobs, core.NewJob{Type: "a", Tenant: string(rune('a' + i%3)), RunAt: base.Add(time.Duration(i*37%60) * time.Second)})
	}
	s.Submit(jobs...)
	last := map[string]time.Time{}
	for range 4 {
		for _, job := range s.ClaimDue(core.Quota{Priority: core.Default, Type: "a", Limit: 15, PerTenant: 5}).Jobs {
			if job.RunAt.Before(last[job.Tenant]) {
				s.Fatalf("tenant %s: run_at %s was claimed after %s", job.Tenant, job.RunAt, last[job.Tenant])
			}
			last[job.Tenant] = job.RunAt
		}
	}
	if got := s.Claim("a", 100); len(got) != 0 {
		s.Fatalf("%d jobs are left of four full shares", len(got))
	}
}

// fairStarving adds jobs for early tenants before each claim. The late tenant still gets its turn once per round.
func fairStarving(s *storetest.Stage) {
	s.Submit(core.NewJob{Type: "a", Tenant: "zz-late"}, core.NewJob{Type: "a", Tenant: "zz-late"})
	q := core.Quota{Priority: core.Default, Type: "a", Limit: 6, PerTenant: 2}
	for range 8 {
		var jobs []core.NewJob
		for i := range 10 {
			jobs = append(jobs, core.NewJob{Type: "a", Tenant: fmt.Sprintf("t%02d", i), RunAt: s.Now().Add(-time.Hour)}, core.NewJob{Type: "a", Tenant: fmt.Sprintf("t%02d", i)})
		}
		s.Submit(jobs...)
		got, taken := s.ClaimFair(q)
		if perTenant(got)["zz-late"] > 0 {
			return
		}
		q.TenantAfter = taken.LastTenant
	}
	s.Fatal("the last tenant was not served in two rounds")
}
