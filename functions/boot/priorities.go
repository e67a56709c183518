package boot

import (
	"slices"

	"github.com/belfry-dev/belfry/core"
)

// TakenPriorities returns the priorities whose jobs a worker takes, most urgent first; all if WorkerPriorities is empty.
func (s Settings) TakenPriorities() (taken []core.Priority) {
	if len(s.WorkerPriorities) == 0 {
		return core.Priorities[:]
	}
	for _, p := range core.Priorities {
		if slices.Contains(s.WorkerPriorities, p.String()) {
			taken = append(taken, p)
		}
	}
	return taken
}

func (s Settings) checkPriorities(bad tellFault) {
	const name = "BELFRY_WORKER_PRIORITIES"
	for i, word := range s.WorkerPriorities {
		if _, err := core.ParsePriority(word); err != nil {
			bad(name, "%s", err)
		} else if slices.Contains(s.WorkerPriorities[:i], word) {
			bad(name, "%s is given twice", word)
		}
	}
	if s.CriticalWorkers > 0 && len(s.WorkerPriorities) > 0 && !slices.Contains(s.WorkerPriorities, core.Critical.String()) {
		bad("BELFRY_CRITICAL_WORKERS", "is %d, but this worker takes no critical jobs (BELFRY_WORKER_PRIORITIES)", s.CriticalWorkers)
	}
}
