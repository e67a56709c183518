package storetest

import (
	"strings"
	"sync"

	"github.com/belfry-dev/belfry/core"
)

func installationScenarios() []scenario {
	return []scenario{
		{"Installations/of a new database is one, the same for all who ask", installationKept},
		{"Installations/of many who ask first at once is one", installationRace},
		{"Installations/of two databases differ", installationsDiffer},
	}
}

func (s *stage) installations() []core.Installation {
	s.Helper()
	list, err := s.store.Installations(s.ctx)
	s.must(err)
	return list
}

func installationKept(s *stage) {
	job := s.submitOne(core.NewJob{Type: "a"})
	first := s.installations()
	if len(first) != 1 || first[0].FirstID > job || len(first[0].ID) < 16 || strings.Trim(first[0].ID, "abcdefghijklmnopqrstuvwxyz0123456789") != "" || first[0].BegunAt.After(s.now()) {
		s.Fatalf("%+v", first)
	}
	for _, handle := range []*stage{s, s.second()} {
		if got := handle.installations(); len(got) != 1 || got[0] != first[0] {
			s.Errorf("%+v, want %+v", got, first)
		}
	}
}

func installationRace(s *stage) {
	handles := []*stage{s, s.second()}
	var mu sync.Mutex
	got := map[core.Installation]int{}
	var acts []func() error
	for i := range 16 {
		acts = append(acts, func() error {
			list, err := handles[i%2].store.Installations(s.ctx)
			mu.Lock()
			defer mu.Unlock()
			for _, in := range list {
				got[in]++
			}
			return err
		})
	}
	s.together(acts...)
	if len(got) != 1 {
		s.Fatalf("want one installation for all, got %v", got)
	}
}

func installationsDiffer(s *stage) {
	own := s.installations()
	list, err := s.h.Open(s.T).Store().Installations(s.ctx)
	s.must(err)
	if own[0].ID == list[0].ID {
		s.Errorf("both are %s", list[0].ID)
	}
}
