package work

import (
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/internal/wait"
)

// recoverClaim recovers a claim or start whose answer was lost: the store may have carried it out. Its slots stay taken
// until the store says which rows have its id; these run. Rows that the lost call commits even later are handed back, once
// the store's timeout must have ended the call. deliveries maps the ids of a lost start to their messages; it is nil for a
// claim.
func (w *Worker) recoverClaim(id int64, sent time.Time, slots [core.Bulk + 1]int, deliveries map[int64]core.Delivery) {
	w.promise(slots, 1)
	w.tasks.Go(func() {
		jobs, ok := w.readClaim(id)
		w.promise(slots, -1)
		w.adopt(jobs, sent, deliveries)
		w.releaseRest(jobs, deliveries)
		if !ok {
			return
		}
		wait.Sleep(w.active, w.opts.StoreTimeout-time.Since(sent)+w.opts.StoreTimeout/4)
		known := make(map[int64]bool, len(jobs))
		for i := range jobs {
			known[jobs[i].ID] = true
		}
		again, _ := w.readClaim(id)
		for i := range again {
			if !known[again[i].ID] {
				w.giveBack(&again[i], sent)
			}
		}
	})
}

// releaseRest releases the messages of a lost start whose rows it did not make running.
func (w *Worker) releaseRest(jobs []core.Job, deliveries map[int64]core.Delivery) {
	for i := range jobs {
		delete(deliveries, jobs[i].ID)
	}
	for _, d := range deliveries {
		w.release([]held{{delivery: d}}, releaseSoon)
	}
}

// promise reserves slots that have no attempt yet, or frees them again.
func (w *Worker) promise(slots [core.Bulk + 1]int, sign int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for p, n := range slots {
		w.promised[p] += sign * n
	}
	w.slotFreed()
}

// readClaim asks for the rows of a claim until the store answers; ok is false when there was no time left.
func (w *Worker) readClaim(id int64) (jobs []core.Job, ok bool) {
	for try := 1; w.calls.Err() == nil; try++ {
		ctx, cancel := w.call()
		jobs, err := w.store.ReadClaim(ctx, id)
		cancel()
		if err == nil {
			return jobs, true
		}
		wait.Sleep(w.calls, wait.Pause(try, claimWaitMin, claimWaitMax, w.opts.Chance()))
	}
	return nil, false
}

// adopt runs the rows of a claim whose answer was lost. The store's time in that call is not known, so a row's started_at,
// if it has one, is used.
func (w *Worker) adopt(jobs []core.Job, sent time.Time, deliveries map[int64]core.Delivery) {
	if len(jobs) == 0 {
		return
	}
	batch := &claimed{sent: sent, store: jobs[0].StartedAt}
	if batch.store.IsZero() {
		batch.store = jobs[0].LeaseUntil.Add(-w.opts.Lease)
	}
	var messages []core.Delivery
	if deliveries != nil {
		for i := range jobs {
			messages = append(messages, deliveries[jobs[i].ID])
		}
	}
	w.begin(jobs, batch, messages)
}

// giveBack ends the attempt of a row that was claimed and will not run here.
func (w *Worker) giveBack(job *core.Job, sent time.Time) {
	a := w.newAttempt(job, &claimed{sent: sent, store: job.StartedAt}, time.Now())
	w.mu.Lock()
	defer w.mu.Unlock()
	a.place = len(w.held)
	w.held = append(w.held, a)
	w.running[a.priority]++
	w.endLocked(a, core.End{Ref: a.ref, Outcome: core.EndHandBack})
}
