package jobs

import (
	"sync/atomic"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/call"
)

// steps says how many jobs a page asks the store for at a time: as many as come to StepBytes, if they are as large as those
// of the step before, whosever that was. The store ends a step where it is full in any case; what it has read beyond that
// it has read in vain.
type steps struct{ size atomic.Int64 } // bytes of a job, about

func (s *steps) next(wanted int) int {
	fit := call.StepBytes/max(s.size.Load(), 1) + 1
	return int(min(int64(wanted), call.StepPage, fit))
}

// large reports whether so many jobs may come to so much that reading them needs a turn.
func (s *steps) large(jobs int) bool {
	size := s.size.Load()
	return size == 0 || int64(jobs)*size > answer.LargeWork // 0: nothing has been read yet
}

// note remembers how large jobs were, and says how many bytes their documents come to, about.
func (s *steps) note(jobs []core.Job) int {
	if len(jobs) == 0 {
		return 0
	}
	size := sizeOf(jobs)
	s.size.Store(int64(size / len(jobs)))
	return size + len(jobs)*jobBytes
}

func sizeOf(jobs []core.Job) (size int) {
	for i := range jobs {
		size += jobs[i].Size()
	}
	return size
}
