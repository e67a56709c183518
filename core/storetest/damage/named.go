package damage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

// namedScenarios: a job that nothing is ever done with is named, though it raises no error.
func namedScenarios() []storetest.Scenario {
	var all []storetest.Scenario
	for what, c := range map[storetest.Damage]struct{ status, text string }{
		storetest.StatusUnknown:   {"scheduled queued running", "the status is 42"},
		storetest.StatusZero:      {"scheduled queued running", "the status is 0"},
		storetest.PriorityUnknown: {"queued running", "the priority is 9"}, // waiting ones are named by their lane
		storetest.RunAtInfinity:   {"scheduled", "never comes"},
		storetest.RunAtFar:        {"scheduled", "never comes"},
	} {
		for status := range strings.FieldsSeq(c.status) {
			all = append(all, storetest.Scenario{
				Name: fmt.Sprintf("NameDamaged/a %s job with %s is named and counted", status, what),
				Run:  func(s *storetest.Stage) { nameDamaged(s, what, status, c.text) },
			})
		}
	}
	slices.SortFunc(all, func(a, b storetest.Scenario) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func nameDamaged(s *storetest.Stage, what storetest.Damage, status, text string) {
	s.SubmitMany(2, "sound")
	jobs := map[string]int64{
		"running": s.Queue(1, "bad")[0].ID,
		"queued":  0, "scheduled": 0,
	}
	s.Start(core.Ref{ID: jobs["running"], Token: s.Get(jobs["running"]).LeaseToken})
	jobs["queued"] = s.Queue(1, "bad")[0].ID
	jobs["scheduled"] = s.SubmitOne(core.NewJob{Type: "bad"})
	s.Must(s.Store.NameDamaged(s.Ctx))
	if got := setApart(s); len(got) != 0 {
		s.Fatalf("named before the damage: %+v", got)
	}
	id := jobs[status]
	if !s.DB.Damage(s.T, what, id) {
		s.Skip("this schema cannot hold it")
	}
	s.Must(s.Store.NameDamaged(s.Ctx))
	got := setApart(s)
	if len(got) != 1 || got[0].Kind != core.ApartDamaged || got[0].String() != fmt.Sprintf("damaged job %d (bad)", id) || !strings.Contains(got[0].Error, text) {
		s.Errorf("named: %+v", got)
	}
	stats, err := s.Store.Stats(s.Ctx, 0)
	if s.Must(err); !slices.Contains(stats.SetApart, core.ApartCount{Kind: core.ApartDamaged, Rows: 1}) {
		s.Errorf("counted: %+v", stats.SetApart)
	}
	told, err := s.Store.TellApart(s.Ctx)
	if s.Must(err); len(told) != 1 {
		s.Errorf("told: %+v", told)
	}
}
