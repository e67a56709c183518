package storetest

import (
	"slices"

	"github.com/belfry-dev/belfry/core"
)

// listSchedule finds the jobs of one schedule, in every state, and of each tenant that has one of that name.
func listSchedule(s *stage) {
	acts := core.NewScheduleActs(s.store, core.ScheduleOptions{}, nil)
	other := s.submitMany(2, "work")
	made := map[string][]int64{}
	for _, of := range [][2]string{{"", "nightly"}, {"t", "nightly"}, {"", "weekly"}} {
		if _, _, err := acts.Put(s.ctx, of[0], of[1], core.ScheduleRule{Cron: "@yearly", Type: "work"}, core.Match{}); err != nil {
			s.Fatal(err)
		}
		for range 3 {
			id, err := acts.Trigger(s.ctx, of[0], of[1])
			if err != nil {
				s.Fatal(err)
			}
			made[of[1]] = append([]int64{id}, made[of[1]]...)
		}
	}
	for i, job := range s.claim("work", 6) {
		if outcome := core.Outcome(1 + i%2); i < 4 {
			s.finish(core.End{Ref: refOf(job), Outcome: outcome})
		}
	}
	for name, want := range map[string][]int64{"nightly": made["nightly"], "weekly": made["weekly"], "daily": nil} {
		if got := idsOf(s.list(core.ListQuery{Schedule: name, Limit: 100})); !slices.Equal(got, want) {
			s.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	t := "t"
	if got := idsOf(s.list(core.ListQuery{Schedule: "nightly", Tenant: &t, Limit: 100})); !slices.Equal(got, made["nightly"][:3]) {
		s.Errorf("of a tenant: got %v, want %v", got, made["nightly"][:3])
	}
	for _, job := range s.list(core.ListQuery{Schedule: "nightly", Statuses: []core.Status{core.Running}, Limit: 100}) {
		if job.Run == nil || job.Run.Schedule != "nightly" || slices.Contains(other, job.ID) {
			s.Errorf("in flight: %+v", job)
		}
	}
}
