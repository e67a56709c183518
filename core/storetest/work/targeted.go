package work

import (
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

// targetedScenarios are about workers that run, for some types, only the jobs with a target of their own.
func targetedScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "ClaimDue/a quota of jobs with targets passes over the others", Run: claimTargeted},
		{Name: "Start/if only jobs with targets are wanted the others stay queued and are busy", Run: startTargeted},
	}
}

// claimTargeted alternates jobs with and without a target of their own, with and without tenants.
func claimTargeted(s *storetest.Stage) {
	var with, without []int64
	token := s.Get(s.SubmitOne(core.NewJob{Type: "c"})).LeaseToken
	for i := range 24 {
		job := core.NewJob{Type: "a", Tenant: []string{"", "", "t", "u"}[i%4]}
		if i%3 == 2 {
			job.Target = []byte(storetest.ATarget)
			with = append(with, s.SubmitOne(job))
		} else {
			without = append(without, s.SubmitOne(job))
		}
	}
	s.SubmitMany(3, "b")
	q := storetest.Quota("a", 5)
	q.Targeted = true
	res := s.ClaimDue(q, storetest.Quota("b", 10))
	if len(res.Jobs) != 8 || res.Taken[0].N != 5 || res.Taken[1].N != 3 {
		s.Errorf("%d jobs, taken %+v: want 5 with a target and 3 of the other lane", len(res.Jobs), res.Taken)
	}
	claimed := slices.DeleteFunc(res.Jobs, func(j core.Job) bool { return j.Type == "b" })
	q.PerTenant = 3
	rest := s.ClaimDue(q)
	claimed = append(claimed, rest.Jobs...)
	q.PerTenant = 0
	claimed = append(claimed, s.ClaimDue(q).Jobs...)
	got := storetest.IdsOf(claimed)
	if slices.Sort(got); !slices.Equal(got, with) {
		s.Errorf("claimed are %v, with a target %v", got, with)
	}
	if res := s.ClaimDue(q); len(res.Jobs) != 0 || res.Taken[0].N != 0 || res.DueIn < time.Second {
		s.Errorf("with none left: %+v", res)
	}
	for _, id := range without {
		if job := s.Get(id); job.Status != core.Scheduled || job.Attempts != 0 || job.LeaseToken != token || job.Snoozes != 0 {
			s.Errorf("job %d without a target: %s, attempts %d, token %d, snoozes %d", id, job.Status, job.Attempts, job.LeaseToken, job.Snoozes)
		}
	}
	if got := storetest.IdsOf(s.Claim("a", 100)); !slices.Equal(got, without) {
		s.Errorf("a claim of all takes %v, want %v", got, without)
	}
}

func startTargeted(s *storetest.Stage) {
	targeted := map[int64]bool{}
	for i := range 6 {
		job := core.NewJob{Type: "a"}
		if i%2 == 1 {
			job.Target = []byte(storetest.ATarget)
		}
		targeted[s.SubmitOne(job)] = i%2 == 1
	}
	queued := s.Dispatch("a", 6)
	refs := append(storetest.RefsOf(queued), core.Ref{ID: queued[0].ID, Token: queued[0].LeaseToken + 1})
	req := s.ClaimRequest()
	req.Targeted = true
	res, err := s.Store.Start(s.Ctx, refs, req)
	s.Must(err)
	started := map[int64]bool{}
	for _, job := range res.Jobs {
		started[job.ID] = true
	}
	if len(res.Jobs) != 3 || len(res.Busy) != 3 {
		s.Errorf("%d started and %d busy of 3 with a target, 3 without and one that is stale", len(res.Jobs), len(res.Busy))
	}
	for _, job := range queued {
		got := s.Get(job.ID)
		if targeted[job.ID] && (!started[job.ID] || got.Status != core.Running) {
			s.Errorf("job %d with a target is %s, started %t", job.ID, got.Status, started[job.ID])
		}
		if !targeted[job.ID] && (!slices.Contains(res.Busy, core.Ref{ID: job.ID, Token: job.LeaseToken}) || got.Status != core.Queued || got.Attempts != 0 || got.LeaseToken != job.LeaseToken) {
			s.Errorf("job %d without a target is %s under token %d after %d attempts", job.ID, got.Status, got.LeaseToken, got.Attempts)
		}
	}
	if again := s.Start(res.Busy...); len(again.Jobs) != 3 {
		s.Errorf("%d of 3 without a target start where all are wanted", len(again.Jobs))
	}
}
