package work

import (
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

const (
	targetedSlow = 20 * time.Millisecond // a longer claim may have read many jobs without a target
	targetedPart = 20                    // slow claims take at most 1/targetedPart of the time
)

// targetedLanes are lanes of which this worker runs only jobs with a target of their own. No index has these jobs apart from
// the others of their lane, so a claim reads past all due jobs that wait for another worker. While that takes long, these
// lanes are claimed less often.
type targetedLanes struct {
	rest time.Time // no claim before
}

// plan marks the quotas of such lanes, and leaves them out while they rest. places are the indexes of the remaining quotas.
func (t *targetedLanes) plan(w *Worker, quotas []core.Quota, now time.Time) (asked []core.Quota, places []int) {
	if !w.delivers() {
		return quotas, nil
	}
	resting := now.Before(t.rest)
	for i := range quotas {
		quotas[i].Targeted = w.onlyTargeted(quotas[i].Type)
		if !quotas[i].Targeted || !resting {
			asked, places = append(asked, quotas[i]), append(places, i)
		}
	}
	return asked, places
}

// claimed notes the duration of a claim that ended at now.
func (t *targetedLanes) claimed(asked []core.Quota, now time.Time, took time.Duration) {
	if took > targetedSlow && slices.ContainsFunc(asked, func(q core.Quota) bool { return q.Targeted }) {
		t.rest = now.Add(targetedPart * took)
	}
}

// spread puts the answers at the indexes of their quotas among n. Nil places mean that all quotas were claimed.
func spread(taken []core.Taken, places []int, n int) []core.Taken {
	if places == nil || len(taken) != len(places) {
		return taken
	}
	all := make([]core.Taken, n)
	for i, place := range places {
		all[place] = taken[i]
	}
	return all
}
