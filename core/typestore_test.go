package core

import (
	"context"
	"sync"
	"time"
)

// typeStore is a TypeStore in memory, shared by several Types as one database is by processes.
type typeStore struct {
	TypeStore
	mu     sync.Mutex
	known  map[string]JobType
	reads  int
	writes int
	fail   error
	slow   time.Duration // how long a read takes to come back
}

func newTypeStore() *typeStore { return &typeStore{known: map[string]JobType{}} }

func (s *typeStore) Types(context.Context) ([]JobType, error) {
	s.mu.Lock()
	s.reads++
	var all []JobType
	for _, t := range s.known {
		all = append(all, t)
	}
	fail, slow := s.fail, s.slow
	s.mu.Unlock()
	if slow > 0 {
		<-time.After(slow)
	}
	return all, fail
}

func (s *typeStore) PutType(_ context.Context, t JobType) (JobType, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.known[t.Name]
	t.Defined, t.Delivered, t.UpdatedAt, t.CreatedAt = true, old.Delivered, time.Now(), time.Now()
	s.known[t.Name] = t
	s.writes++
	return t, !old.Defined, s.fail
}

func (s *typeStore) DeleteType(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.known, name); s.fail == nil {
		s.writes++
	}
	return s.fail
}

func (s *typeStore) MarkDelivered(_ context.Context, names []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	for _, name := range names {
		t := s.known[name]
		t.Name, t.Delivered = name, true
		s.known[name] = t
	}
	s.writes++
	return nil
}

func (s *typeStore) count() (reads, writes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads, s.writes
}

func (s *typeStore) failing(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

// someTarget is one that types may have.
var someTarget = []byte(`{"url":"https://example.com"}`)

// deliver gives types a target.
func (s *typeStore) deliver(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		s.known[name] = JobType{Name: name, Target: someTarget}
	}
}
