package scheduletest

import (
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// archive keeps the jobs of a store whose history is dropped after a while.
type archive struct {
	jobs  map[int64]core.Job
	floor int64 // all jobs below have ended
}

// gather adds the jobs that the store has, from the oldest that had not ended when it was asked last.
func (a *archive) gather(t *testing.T, store core.Store) {
	t.Helper()
	if a.jobs == nil {
		a.jobs = map[int64]core.Job{}
	}
	below, newest := a.floor, int64(0)
	for q := (core.ListQuery{Limit: 1000}); ; {
		page, err := store.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		done := page.Next == 0
		for _, job := range page.Jobs {
			if job.ID < below {
				done = true
				break
			}
			a.jobs[job.ID] = job
			newest = max(newest, job.ID)
		}
		if done {
			break
		}
		q.Before = page.Next
	}
	a.floor = max(newest, below)
	for id, job := range a.jobs {
		if job.FinishedAt.IsZero() {
			a.floor = min(a.floor, id)
		}
	}
}

// bySchedule are the jobs kept, by the schedule that made them.
func (a *archive) bySchedule(t *testing.T) map[string][]core.Job {
	t.Helper()
	all := map[string][]core.Job{}
	for id, job := range a.jobs {
		if job.Run == nil {
			t.Fatalf("job %d has no schedule", id)
		}
		all[job.Run.Schedule] = append(all[job.Run.Schedule], job)
	}
	return all
}

// keeper gathers the jobs of a database that a span's processes drop history from.
type keeper struct {
	archive
	store *clocked
	next  time.Time
}

// keepEvery is well below the retention, whatever the steps of a span.
const keepEvery = 2 * 24 * time.Hour

func (k *keeper) at(t *testing.T, now time.Time) {
	t.Helper()
	if k.store != nil && !now.Before(k.next) {
		k.next = now.Add(keepEvery)
		k.gather(t, k.store)
	}
}
