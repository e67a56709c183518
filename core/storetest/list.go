package storetest

import "github.com/belfry-dev/belfry/core"

// list lists jobs.
func (s *stage) list(q core.ListQuery) []core.Job {
	s.Helper()
	jobs, err := s.store.List(s.ctx, q)
	s.must(err)
	return jobs
}
