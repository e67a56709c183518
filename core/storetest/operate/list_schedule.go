package operate

import (
	"slices"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/storetest"
)

// listSchedule finds the jobs of one schedule in every state, for each tenant with a schedule of that name.
func listSchedule(s *storetest.Stage) {
	acts := schedule.NewActs(s.Store, schedule.Options{}, nil)
	other := s.SubmitMany(2, "work")
	made := map[string][]int64{}
	for _, of := range [][2]string{{"", "nightly"}, {"t", "nightly"}, {"", "weekly"}} {
		if _, _, err := acts.Put(s.Ctx, of[0], of[1], core.ScheduleRule{Cron: "@yearly", Type: "work"}, schedule.Match{}); err != nil {
			s.Fatal(err)
		}
		for range 3 {
			id, err := acts.Trigger(s.Ctx, of[0], of[1])
			if err != nil {
				s.Fatal(err)
			}
			made[of[1]] = append([]int64{id}, made[of[1]]...)
		}
	}
	for i, job := range s.Claim("work", 6) {
		if outcome := core.Outcome(1 + i%2); i < 4 {
			s.Finish(core.End{Ref: storetest.RefOf(job), Outcome: outcome})
		}
	}
	for name, want := range map[string][]int64{"nightly": made["nightly"], "weekly": made["weekly"], "daily": nil} {
		if got := storetest.IdsOf(s.List(core.ListQuery{Schedule: name, Limit: 100})); !slices.Equal(got, want) {
			s.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	t := "t"
	if got := storetest.IdsOf(s.List(core.ListQuery{Schedule: "nightly", Tenant: &t, Limit: 100})); !slices.Equal(got, made["nightly"][:3]) {
		s.Errorf("of a tenant: got %v, want %v", got, made["nightly"][:3])
	}
	for _, job := range s.List(core.ListQuery{Schedule: "nightly", Statuses: []core.Status{core.Running}, Limit: 100}) {
		if job.Run == nil || job.Run.Schedule != "nightly" || slices.Contains(other, job.ID) {
			s.Errorf("in flight: %+v", job)
		}
	}
}
