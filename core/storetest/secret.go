package storetest

import (
	"bytes"
	"fmt"
	"sync"
)

func secretScenarios() []scenario {
	return []scenario{
		{"Secret/the first caller's bytes become it and all others get them", secretFirst},
		{"Secret/of many callers at once all get the same", secretRace},
	}
}

func (s *stage) secret(name string, fresh []byte) []byte {
	s.Helper()
	value, err := s.store.Secret(s.ctx, name, fresh)
	s.must(err)
	return value
}

func secretFirst(s *stage) {
	first := []byte{0, 1, 2, 0xff, 0xfe, '\'', '\\', 0}
	if got := s.secret("a", first); !bytes.Equal(got, first) {
		s.Fatalf("the first caller got %x, want its own %x", got, first)
	}
	other := s.second()
	if got := other.secret("a", []byte("other")); !bytes.Equal(got, first) {
		s.Errorf("the second caller got %x, want the first one's %x", got, first)
	}
	if got := other.secret("b", []byte("other")); !bytes.Equal(got, []byte("other")) {
		s.Errorf("another secret is %x", got)
	}
}

func secretRace(s *stage) {
	handles := []*stage{s, s.second()}
	var mu sync.Mutex
	got := map[string]int{}
	var acts []func() error
	for i := range 16 {
		acts = append(acts, func() error {
			value, err := handles[i%2].store.Secret(s.ctx, "a", fmt.Appendf(nil, "secret %d", i))
			mu.Lock()
			defer mu.Unlock()
			got[string(value)]++
			return err
		})
	}
	s.together(acts...)
	if len(got) != 1 || got[""] != 0 {
		s.Fatalf("want one secret for all, got %v", got)
	}
}
