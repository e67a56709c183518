package share

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// lanesSim holds the number of waiting rows of each lane in a simulated store.
type lanesSim map[laneKey]int

// claim answers quotas from the waiting rows.
func (sim lanesSim) claim(quotas []core.Quota) []core.Taken {
	taken := make([]core.Taken, len(quotas))
	for i, q := range quotas {
		key := laneKey{q.Priority, q.Type}
		taken[i].N = min(q.Limit, sim[key])
		sim[key] -= taken[i].N
	}
	return taken
}

func byPriority(quotas []core.Quota) (n [core.Bulk + 1]int) {
	for _, q := range quotas {
		n[q.Priority] += q.Limit
	}
	return n
}

// TestSharesByWeight: with a backlog in all priorities, starts follow the weights, even if only one slot is free at a time.
func TestSharesByWeight(t *testing.T) {
	for _, free := range []int{1, 2, 7, 100, 1000} {
		t.Run(fmt.Sprint(free, " free"), func(t *testing.T) {
			s, now := New([]string{"a"}, Weights{}), time.Unix(0, 0)
			sim := lanesSim{{core.Critical, "a"}: 1e9, {core.Default, "a"}: 1e9, {core.Bulk, "a"}: 1e9}
			var took [core.Bulk + 1]int
			for range 1000 {
				quotas := s.Plan(now, free, 0)
				for p, n := range byPriority(quotas) {
					took[p] += n
				}
				s.RecordTaken(sim.claim(quotas), time.Time{})
				now = now.Add(time.Millisecond)
			}
			total := 1000 * free
			for p, part := range map[core.Priority]float64{core.Critical: 0.6, core.Default: 0.3, core.Bulk: 0.1} {
				if got := float64(took[p]) / float64(total); got < part-0.01 || got > part+0.01 {
					t.Errorf("%s had %.3f of the slots, want %.1f", p, got, part)
				}
			}
		})
	}
}

// TestSharesFlow: slots that a priority does not use go to the others, and come back when it needs them.
func TestSharesFlow(t *testing.T) {
	s, now := New([]string{"a", "b"}, Weights{}), time.Unix(0, 0)
	sim := lanesSim{{core.Bulk, "a"}: 1e9}
	var quotas []core.Quota
	for range 4 {
		quotas = s.Plan(now, 1000, 0)
		s.RecordTaken(sim.claim(quotas), now.Add(time.Hour))
		now = now.Add(time.Millisecond)
	}
	if n := byPriority(quotas); n[core.Bulk] < 990 {
		t.Errorf("alone, bulk is offered %v of 1000", n)
	}
	sim[laneKey{core.Critical, "b"}] = 1e9
	now = now.Add(ProbeEvery)
	for range 3 {
		quotas = s.Plan(now, 700, 0)
		s.RecordTaken(sim.claim(quotas), now.Add(time.Hour))
	}
	if n := byPriority(quotas); n[core.Critical] != 600 || n[core.Bulk] != 100 {
		t.Errorf("beside critical: %v of 700, want 600 and 100", n)
	}
}

// TestSharesTypes: the types of one priority share equally, and the others share the part of an idle type.
func TestSharesTypes(t *testing.T) {
	s, now := New([]string{"a", "b", "c"}, Weights{}), time.Unix(0, 0)
	sim := lanesSim{{core.Default, "a"}: 1e9, {core.Default, "b"}: 1e9}
	took := map[string]int{}
	for range 1000 {
		quotas := s.Plan(now, 3, 0)
		for i, tk := range sim.claim(quotas) {
			took[quotas[i].Type] += tk.N
			sim[laneKey{quotas[i].Priority, quotas[i].Type}] += tk.N
		}
		s.RecordTaken(sim.claim(quotas), now.Add(time.Hour))
		now = now.Add(time.Millisecond)
	}
	if a, b := took["a"], took["b"]; a < 1350 || b < 1350 || a-b > 30 || b-a > 30 {
		t.Errorf("a %d, b %d of 3000: want nearly half each", a, b)
	}
}

// TestSharesReserved: reserved slots are offered to critical lanes and to no others.
func TestSharesReserved(t *testing.T) {
	s, now := New([]string{"a"}, Weights{}), time.Unix(0, 0)
	sim := lanesSim{{core.Bulk, "a"}: 1e9, {core.Default, "a"}: 1e9}
	for range 50 {
		quotas := s.Plan(now, 50, 50)
		if n := byPriority(quotas); n[core.Critical] != 50 || n[core.Default]+n[core.Bulk] != 0 {
			t.Fatalf("50 reserved slots: %v", n)
		}
		s.RecordTaken(sim.claim(quotas), now.Add(time.Hour))
		quotas = s.Plan(now, 60, 50)
		if n := byPriority(quotas); n[core.Default]+n[core.Bulk] > 10 {
			t.Fatalf("10 open and 50 reserved slots: %v", n)
		}
		s.RecordTaken(sim.claim(quotas), now.Add(time.Hour))
		now = now.Add(time.Millisecond)
	}
}

// TestSharesProperties: a plan never exceeds the free slots and contains no lane twice. While rows wait and a slot is free,
// something is claimed within two plans.
func TestSharesProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	types := []string{"a", "b", "c", "d"}
	for range 300 {
		s, now, sim := New(types, Weights{}), time.Unix(0, 0), lanesSim{}
		idle := 0
		s.Begin(now)
		for range 200 {
			if rng.IntN(4) == 0 {
				sim[laneKey{core.Priorities[rng.IntN(3)], types[rng.IntN(4)]}] += rng.IntN(50)
				s.Begin(now)
			}
			free := rng.IntN(20)
			reserved := 0
			if free > 0 {
				reserved = rng.IntN(free)
			}
			quotas := s.Plan(now, free, reserved)
			seen, sum := map[laneKey]bool{}, 0
			for _, q := range quotas {
				key := laneKey{q.Priority, q.Type}
				if q.Limit <= 0 || seen[key] {
					t.Fatalf("quotas %+v", quotas)
				}
				seen[key] = true
				sum += q.Limit
			}
			if n := byPriority(quotas); sum > free || n[core.Default]+n[core.Bulk] > free-reserved {
				t.Fatalf("%d free, %d of them reserved: %+v", free, reserved, quotas)
			}
			took := 0
			for _, tk := range func() []core.Taken { tk := sim.claim(quotas); s.RecordTaken(tk, now.Add(time.Hour)); return tk }() {
				took += tk.N
			}
			waiting := 0
			for _, n := range sim {
				waiting += n
			}
			if took > 0 || waiting == 0 || free == reserved {
				idle = 0
			} else if idle++; idle > 3*len(types)*3 {
				t.Fatalf("%d wait, %d plans in a row took nothing", waiting, idle)
			}
			now = now.Add(time.Duration(rng.IntN(3)) * time.Millisecond)
		}
	}
}

// TestSharesForget: a plan whose claim failed charges no lane.
func TestSharesForget(t *testing.T) {
	s, now := New([]string{"a"}, Weights{}), time.Unix(0, 0)
	sim := lanesSim{{core.Critical, "a"}: 1e9, {core.Bulk, "a"}: 1e9}
	s.RecordTaken(sim.claim(s.Plan(now, 10, 0)), now.Add(time.Hour))
	bulk := 0
	for i := range 700 {
		quotas := s.Plan(now, 1, 0)
		if i%2 == 0 {
			s.Forget()
			continue
		}
		bulk += byPriority(quotas)[core.Bulk]
		s.RecordTaken(sim.claim(quotas), time.Time{})
	}
	if bulk < 45 || bulk > 55 {
		t.Errorf("bulk had %d of 350 slots beside failing claims, want 50", bulk)
	}
}

func TestSharesDue(t *testing.T) {
	s, now := New([]string{"a"}, Weights{}), time.Unix(0, 0)
	s.Begin(now)
	if s.Due(now, time.Minute, false) != 0 {
		t.Error("lanes never asked: a claim is due")
	}
	sim := lanesSim{}
	s.RecordTaken(sim.claim(s.Plan(now, 100, 0)), now.Add(700*time.Millisecond))
	if got := s.Due(now, time.Minute, false); got != 700*time.Millisecond {
		t.Errorf("next row due in 700ms: waits %s", got)
	}
	if got := s.Due(now, 200*time.Millisecond, false); got != 200*time.Millisecond {
		t.Errorf("waits %s, want 200ms at most", got)
	}
	now = now.Add(700 * time.Millisecond)
	if s.Due(now, time.Minute, false) != 0 || len(s.Plan(now, 100, 0)) != 3 {
		t.Error("a row has become due: all lanes are to be asked")
	}
	s.RecordTaken(sim.claim(s.asQuotas()), now.Add(time.Hour))
	s.Begin(now.Add(1))
	if s.Due(now.Add(1), time.Minute, false) != 0 {
		t.Error("a new round: a claim is due")
	}
}

// asQuotas returns the current plan again.
func (s *Shares) asQuotas() []core.Quota {
	var quotas []core.Quota
	for _, l := range s.asked {
		quotas = append(quotas, core.Quota{Priority: l.priority, Type: l.typ, Limit: l.quota})
	}
	return quotas
}

// TestLaneMark: a busy lane is claimed from its mark, and from the full range once a second; a quiet lane has no mark.
func TestLaneMark(t *testing.T) {
	s, now := New([]string{"a"}, Weights{}), time.Unix(0, 0)
	mark := core.Mark{RunAt: time.Unix(5, 0), ID: 9}
	full, marked := 0, 0
	for i := range 40 { // four seconds
		quotas := s.Plan(now, 10, 0)
		taken := make([]core.Taken, len(quotas))
		for k, q := range quotas {
			if q.Priority != core.Default {
				continue
			}
			if q.After == (core.Mark{}) {
				full++
			} else if marked++; q.After != mark {
				t.Fatalf("after %+v", q.After)
			}
			taken[k] = core.Taken{N: q.Limit, Last: mark}
			if i == 39 {
				taken[k].N = 0
			}
		}
		s.RecordTaken(taken, now.Add(time.Hour))
		now = now.Add(100 * time.Millisecond)
	}
	if full < 4 || full > 5 || marked < 30 {
		t.Errorf("%d full-range claims and %d from the mark in four seconds", full, marked)
	}
	for _, q := range s.Plan(now, 10, 0) {
		if q.After != (core.Mark{}) {
			t.Errorf("a quiet lane is claimed after %+v", q.After)
		}
	}
}

// TestLaneTenants: division by tenant begins when a full quota contained several tenants, adapts, and ends when slots are
// left.
func TestLaneTenants(t *testing.T) {
	l := &lane{claimant: claimant{weight: 1}, priority: core.Default, typ: "a"}
	step := func(quota int, tk core.Taken) core.Quota {
		l.reset()
		l.quota = quota
		q := l.claimQuota(time.Unix(0, 0))
		l.recordTaken(tk, time.Time{})
		return q
	}
	if q := step(160, core.Taken{N: 160, Tenants: true, Last: core.Mark{ID: 1}}); q.PerTenant != 0 || l.perTenant != 10 || !l.busy {
		t.Fatalf("after a full quota with tenants: %+v", l)
	}
	if q := step(160, core.Taken{N: 160, LastTenant: "t16", Tenants: true}); q.PerTenant != 10 || q.TenantAfter != "" || q.After != (core.Mark{}) || l.perTenant != 2 {
		t.Fatalf("not all had their turn: %+v, %+v", q, l)
	}
	if q := step(160, core.Taken{N: 160, LastTenant: "t70", Wrapped: true, Tenants: true}); q.TenantAfter != "t16" || l.perTenant != 2 {
		t.Fatalf("all had their turn and slots are full: %+v, %+v", q, l)
	}
	if q := step(160, core.Taken{N: 40, LastTenant: "t20", Wrapped: true, Tenants: true}); q.TenantAfter != "t70" || l.perTenant != 8 || !l.busy {
		t.Fatalf("slots are left, tenants may hold more: %+v, %+v", q, l)
	}
	l.perTenant = 500
	if step(160, core.Taken{N: 40, LastTenant: "t20", Wrapped: true, Tenants: true}); l.perTenant != 0 || l.tenantAfter != "" || l.busy {
		t.Fatalf("whole quotas per tenant and slots are left: %+v", l)
	}
}
