// Package typestoretest is a store of types in memory, for tests.
package typestoretest

import (
	"context"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Store is a TypeStore in memory, shared by several caches as one database is by processes.
type Store struct {
	core.TypeStore
	mu     sync.Mutex
	Known  map[string]core.JobType
	reads  int
	writes int
	fail   error
	Slow   time.Duration // how long a read takes to come back
}

// NewStore returns a Store that knows no types.
func NewStore() *Store { return &Store{Known: map[string]core.JobType{}} }

func (s *Store) Types(context.Context) ([]core.JobType, error) {
	s.mu.Lock()
	s.reads++
	var all []core.JobType
	for _, t := range s.Known {
		all = append(all, t)
	}
	fail, slow := s.fail, s.Slow
	s.mu.Unlock()
	if slow > 0 {
		<-time.After(slow)
	}
	return all, fail
}

func (s *Store) PutType(_ context.Context, t core.JobType) (core.JobType, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.Known[t.Name]
	t.Defined, t.Delivered, t.UpdatedAt, t.CreatedAt = true, old.Delivered, time.Now(), time.Now()
	s.Known[t.Name] = t
	s.writes++
	return t, !old.Defined, s.fail
}

func (s *Store) DeleteType(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.Known, name); s.fail == nil {
		s.writes++
	}
	return s.fail
}

func (s *Store) MarkDelivered(_ context.Context, names []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	for _, name := range names {
		t := s.Known[name]
		t.Name, t.Delivered = name, true
		s.Known[name] = t
	}
	s.writes++
	return nil
}

func (s *Store) Count() (reads, writes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads, s.writes
}

func (s *Store) Failing(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

// Target is one that types may have.
var Target = []byte(`{"url":"https://example.com"}`)

// Deliver gives types a target.
func (s *Store) Deliver(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		s.Known[name] = core.JobType{Name: name, Target: Target}
	}
}
