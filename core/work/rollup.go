package work

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/rollup"
)

// rollupLoop writes the counts, if there are any, once a second until done ends.
func (w *Worker) rollupLoop(done context.Context) {
	ticker := time.NewTicker(rollup.Every)
	defer ticker.Stop()
	for {
		select {
		case <-done.Done():
			return
		case <-ticker.C:
			ctx, cancel := w.call()
			w.rollups.Flush(ctx, w.store)
			cancel()
		}
	}
}

// countEnds counts the ends of a batch that the store recorded. An accepted attempt is counted by the process that records
// its end.
func (w *Worker) countEnds(batch []*attempt, answers []core.EndAnswer) {
	now := time.Now()
	for i, a := range batch {
		if !answers[i].Stale && !answers[i].Busy && a.end.Outcome != core.EndAccepted {
			w.rollups.Ended(a.priority, a.typ, a.batch.storeTime(now), answers[i].Status, a.end.Outcome)
		}
	}
}
