package operate

import (
	"strings"
	"sync"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func installationScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Installations/a new database has one, the same for every caller", Run: installationKept},
		{Name: "Installations/many first callers at once get the same", Run: installationRace},
		{Name: "Installations/two databases have different ones", Run: installationsDiffer},
	}
}

func installations(s *storetest.Stage) []core.Installation {
	s.Helper()
	list, err := s.Store.Installations(s.Ctx)
	s.Must(err)
	return list
}

func installationKept(s *storetest.Stage) {
	job := s.SubmitOne(core.NewJob{Type: "a"})
	first := installations(s)
	if len(first) != 1 || first[0].FirstID > job || len(first[0].ID) < 16 || strings.Trim(first[0].ID, "abcdefghijklmnopqrstuvwxyz0123456789") != "" || first[0].BegunAt.After(s.Now()) {
		s.Fatalf("%+v", first)
	}
	for _, handle := range []*storetest.Stage{s, s.Second()} {
		if got := installations(handle); len(got) != 1 || got[0] != first[0] {
			s.Errorf("%+v, want %+v", got, first)
		}
	}
}

func installationRace(s *storetest.Stage) {
	handles := []*storetest.Stage{s, s.Second()}
	var mu sync.Mutex
	got := map[core.Installation]int{}
	var acts []func() error
	for i := range 16 {
		acts = append(acts, func() error {
			list, err := handles[i%2].Store.Installations(s.Ctx)
			mu.Lock()
			defer mu.Unlock()
			for _, in := range list {
				got[in]++
			}
			return err
		})
	}
	s.Together(acts...)
	if len(got) != 1 {
		s.Fatalf("want one installation for all, got %v", got)
	}
}

func installationsDiffer(s *storetest.Stage) {
	own := installations(s)
	list, err := s.H.Open(s.T).Store().Installations(s.Ctx)
	s.Must(err)
	if own[0].ID == list[0].ID {
		s.Errorf("both are %s", list[0].ID)
	}
}
