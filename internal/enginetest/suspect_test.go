package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/adapters/local"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/core/work"
)

// loseAgain makes suspects of jobs that are due: each has been lost with its worker so many times in a row.
func loseAgain(t *testing.T, store core.Store, jobs map[string]int, times int) {
	t.Helper()
	reaper := newTicker(t, store, tick.Options{})
	for range times {
		all := 0
		for typ, n := range jobs {
			claim(t, store, typ, n, time.Minute)
			all += n
		}
		time.Sleep(time.Minute + time.Second)
		if report := tickOnce(t, reaper); report.Lost != all {
			t.Fatalf("%d of %d jobs were lost", report.Lost, all)
		}
		time.Sleep(time.Minute)
	}
}

// A job that ends its process, among suspects that a worker has begun to let in together, takes each of them once at most,
// and is quarantined.
func TestPoisonAmongSuspects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, nil)
		innocent := submitJobs(t, store, 60, core.NewJob{Backoff: []time.Duration{0}})
		poison := submitJobs(t, store, 1, core.NewJob{Type: "poison", Backoff: []time.Duration{0}})
		loseAgain(t, store, map[string]int{"echo": 60, "poison": 1}, core.SuspectLosses)
		if _, err := store.Reschedule(t.Context(), poison[0], core.When{At: time.Now().Add(40 * time.Second)}); err != nil {
			t.Fatal(err)
		}
		stop := run(t, newTicker(t, store, tick.Options{}))
		deaths := supervise(t, store, nil, 100)
		sparesInnocent(t, store, innocent, poison)
		taken := 0
		for _, id := range innocent {
			job := get(t, store, id)
			taken += job.Losses() - core.SuspectLosses
		}
		if n := deaths.Load(); n != core.MaxLosses-core.SuspectLosses || taken == 0 {
			t.Errorf("%d processes died, and %d suspects were lost with them", n, taken)
		}
		t.Logf("%d suspects were lost with the poison", taken)
		stop()
	})
}

// Innocent suspects are through soon: a worker lets more of them in as they end well, short or long, and those turned
// away come back when it is their turn. Those that were lost once more run one at a time. Times are those of a bubble, and
// bounds are twice what docs/handlers.md says.
func TestSuspectsAreThroughSoon(t *testing.T) {
	for _, c := range []struct {
		name    string
		queue   bool
		workers int
		jobs    int
		losses  int
		takes   time.Duration
	}{
		{"short ones", false, 1, 64, 2, 20 * time.Millisecond},
		{"of some seconds", false, 1, 64, 2, 5 * time.Second},
		{"of some seconds, two workers", false, 2, 64, 2, 5 * time.Second},
		{"of some seconds, over a queue", true, 1, 64, 2, 5 * time.Second},
		{"of half an hour", false, 1, 64, 2, 30 * time.Minute},
		{"lost once more", false, 1, 16, 3, 5 * time.Second},
		{"lost once more, two workers", false, 2, 16, 3, 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := openStore(t, nil)
				ids := submitJobs(t, store, c.jobs, core.NewJob{Backoff: []time.Duration{0}, Timeout: 24 * time.Hour})
				loseAgain(t, store, map[string]int{"echo": c.jobs}, c.losses)
				opts := tick.Options{}
				var queue core.Queue
				if c.queue {
					queue, opts.Topics = memoryQueue(t)
				}
				stop := run(t, newTicker(t, store, opts))
				ctx, end := context.WithCancel(t.Context())
				echo := core.HandlerFunc(func(ctx context.Context, _ *core.Job) (json.RawMessage, error) {
					time.Sleep(c.takes)
					return nil, nil
				})
				done := make(chan error)
				for n := range c.workers {
					w, err := work.New(store, core.Handlers{"echo": echo}, work.Options{ID: fmt.Sprint("worker ", n), Slots: 100})
					if err != nil {
						t.Fatal(err)
					}
					go func() {
						if queue != nil {
							done <- w.Receive(ctx, queue)
						} else {
							done <- w.Run(ctx)
						}
					}()
				}
				began := time.Now()
				for live := true; live; time.Sleep(max(c.takes/10, 10*time.Millisecond)) {
					page, err := store.List(t.Context(), core.ListQuery{Statuses: []core.Status{core.Scheduled, core.Queued, core.Running}, Limit: 1})
					if err != nil {
						t.Fatal(err)
					}
					live = len(page.Jobs) > 0
				}
				took, tries := time.Since(began), 0
				for _, id := range ids {
					job := get(t, store, id)
					if job.Status != core.Done || job.Attempts > 2 {
						t.Errorf("job %d is %s after %d attempts", id, job.Status, job.Attempts)
					}
					tries += int(job.LeaseToken)/2 - c.losses
				}
				step := min(c.takes, 5*time.Minute)
				bound := step * time.Duration(c.jobs/(8*c.workers)+3)
				if c.losses > core.SuspectLosses {
					bound = step * time.Duration(c.jobs/c.workers)
				}
				if took > 2*bound+c.takes+10*time.Second {
					t.Errorf("%d suspects of %s at %d workers took %s, want about %s", c.jobs, c.takes, c.workers, took, bound)
				}
				if tries > 20*c.jobs {
					t.Errorf("%d suspects were started %d times", c.jobs, tries)
				}
				t.Logf("%d suspects of %s at %d workers took %s, of about %s, and were started %d times", c.jobs, c.takes, c.workers, took, bound, tries)
				end()
				for range c.workers {
					if err := <-done; err != nil {
						t.Error(err)
					}
				}
				stop()
				for _, topic := range opts.Topics {
					_ = topic.Close(t.Context())
				}
			})
		})
	}
}

// memoryQueue is a queue in memory and its topics.
func memoryQueue(t *testing.T) (core.Queue, map[core.Priority]core.Topic) {
	t.Helper()
	queue, err := local.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	topics := map[core.Priority]core.Topic{}
	for _, p := range core.Priorities {
		if topics[p], err = queue.OpenTopic(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	return queue, topics
}
