package work

import (
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

const (
	targetedSlow = 20 * time.Millisecond // a claim that takes longer may have read many jobs without a target
	targetedPart = 20                    // such claims take one part in so many of the time
)

// targetedLanes are lanes of which only jobs with a target of their own are run here. No index tells these jobs from the
// others of their lane, so a claim reads past all due ones that wait for another worker. While that takes long, the lanes
// are asked less often.
type targetedLanes struct {
	rest time.Time // they are not asked before
}

// plan marks the quotas of such lanes, and leaves them out while they rest. places are those of the quotas that stay.
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

// claimed notes how long a claim took that ended at now.
func (t *targetedLanes) claimed(asked []core.Quota, now time.Time, took time.Duration) {
	if took > targetedSlow && slices.ContainsFunc(asked, func(q core.Quota) bool { return q.Targeted }) {
		t.rest = now.Add(targetedPart * took)
	}
}

// spread puts the answers at the places of their quotas among n. Nil places mean that all were asked.
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
