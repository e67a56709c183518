package operate

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/belfry-dev/belfry/core/storetest"
)

func secretScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Secret/the first caller's bytes become it and all others get them", Run: secretFirst},
		{Name: "Secret/many callers at once all get the same", Run: secretRace},
	}
}

func secret(s *storetest.Stage, name string, fresh []byte) []byte {
	s.Helper()
	value, err := s.Store.Secret(s.Ctx, name, fresh)
	s.Must(err)
	return value
}

func secretFirst(s *storetest.Stage) {
	first := []byte{0, 1, 2, 0xff, 0xfe, '\'', '\\', 0}
	if got := secret(s, "a", first); !bytes.Equal(got, first) {
		s.Fatalf("the first caller got %x, want its own %x", got, first)
	}
	other := s.Second()
	if got := secret(other, "a", []byte("other")); !bytes.Equal(got, first) {
		s.Errorf("the second caller got %x, want the first one's %x", got, first)
	}
	if got := secret(other, "b", []byte("other")); !bytes.Equal(got, []byte("other")) {
		s.Errorf("another secret is %x", got)
	}
}

func secretRace(s *storetest.Stage) {
	handles := []*storetest.Stage{s, s.Second()}
	var mu sync.Mutex
	got := map[string]int{}
	var acts []func() error
	for i := range 16 {
		acts = append(acts, func() error {
			value, err := handles[i%2].Store.Secret(s.Ctx, "a", fmt.Appendf(nil, "secret %d", i))
			mu.Lock()
			defer mu.Unlock()
			got[string(value)]++
			return err
		})
	}
	s.Together(acts...)
	if len(got) != 1 || got[""] != 0 {
		s.Fatalf("want one secret for all, got %v", got)
	}
}
