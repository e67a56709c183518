package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/adapters/local"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/core/work"
)

// mortal is what a process that can be killed has of the store: nothing any more, once it is dead.
type mortal struct {
	core.Store
	dead atomic.Bool
}

func (m *mortal) call(do func() error) error {
	if m.dead.Load() {
		return core.ErrUnavailable
	}
	err := do()
	if m.dead.Load() {
		return core.ErrUnavailable // nobody is left to hear the answer
	}
	return err
}

func (m *mortal) ClaimDue(ctx context.Context, req core.ClaimRequest) (res core.ClaimResult, err error) {
	err = m.call(func() (err error) { res, err = m.Store.ClaimDue(ctx, req); return err })
	return res, err
}

func (m *mortal) Start(ctx context.Context, refs []core.Ref, req core.ClaimRequest) (res core.StartResult, err error) {
	err = m.call(func() (err error) { res, err = m.Store.Start(ctx, refs, req); return err })
	return res, err
}

func (m *mortal) ReadClaim(ctx context.Context, id int64) (jobs []core.Job, err error) {
	err = m.call(func() (err error) { jobs, err = m.Store.ReadClaim(ctx, id); return err })
	return jobs, err
}

func (m *mortal) Heartbeat(ctx context.Context, refs []core.Ref, lease time.Duration) (beats []core.Beat, err error) {
	err = m.call(func() (err error) { beats, err = m.Store.Heartbeat(ctx, refs, lease); return err })
	return beats, err
}

func (m *mortal) Finish(ctx context.Context, ends []core.End) (answers []core.EndAnswer, err error) {
	err = m.call(func() (err error) { answers, err = m.Store.Finish(ctx, ends); return err })
	return answers, err
}

func (m *mortal) AddRollups(ctx context.Context, shard int, rows []core.Rollup) error {
	return m.call(func() error { return m.Store.AddRollups(ctx, shard, rows) })
}

// fixedChance draws the same numbers in each run of a test. Safe for concurrent use.
func fixedChance(seed uint64) func() float64 {
	var mu sync.Mutex
	numbers := rand.New(rand.NewPCG(seed, seed))
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return numbers.Float64()
	}
}

// supervise runs worker processes, each a new one when the one before has died, until the test ends. A job of type poison
// kills the process that runs it after a second; others take five.
func supervise(t *testing.T, store core.Store, queue core.Queue, slots int) (deaths *atomic.Int64) {
	t.Helper()
	deaths = new(atomic.Int64)
	ctx, stop := context.WithCancel(t.Context())
	var processes sync.WaitGroup
	processes.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			life, die := context.WithCancel(ctx)
			m := &mortal{Store: store}
			handlers := core.Handlers{
				"echo": core.HandlerFunc(func(context.Context, *core.Job) (json.RawMessage, error) {
					time.Sleep(5 * time.Second)
					return nil, nil
				}),
				"poison": core.HandlerFunc(func(ctx context.Context, _ *core.Job) (json.RawMessage, error) {
					time.Sleep(time.Second)
					if !m.dead.Swap(true) {
						deaths.Add(1)
						die()
					}
					<-ctx.Done()
					return nil, ctx.Err()
				}),
			}
			w, err := work.New(m, handlers, work.Options{ID: fmt.Sprint("process ", n), Slots: slots, StopGrace: -1, Chance: fixedChance(uint64(n))})
			if err != nil {
				t.Error(err)
				return
			}
			if queue != nil {
				err = w.Receive(life, queue)
			} else {
				err = w.Run(life)
			}
			if !m.dead.Load() && err != nil {
				t.Error(err)
			}
			die()
		}
	})
	t.Cleanup(func() { stop(); processes.Wait() })
	return deaths
}

// A job that ends the process that runs it takes no innocent one to the dead letters: an innocent job is lost a few times
// at most, and charged once. The poison is quarantined and named. With two poisons, too, and whatever the waits are.
func TestPoisonSparesTheInnocent(t *testing.T) {
	for _, c := range []struct {
		name     string
		queue    bool
		poisons  int
		waits    []time.Duration
		attempts int
	}{
		{"claimed from the table", false, 1, []time.Duration{3 * time.Second, 12 * time.Second, time.Minute}, 0},
		{"claimed from the table, with no waits", false, 1, []time.Duration{0}, 0},
		{"claimed from the table, two of them", false, 2, []time.Duration{2 * time.Second}, 0},
		{"claimed from the table, two attempts", false, 1, []time.Duration{time.Second}, 2},
		{"over a queue", true, 1, []time.Duration{3 * time.Second, 12 * time.Second, time.Minute}, 0},
		{"over a queue, three of them", true, 3, []time.Duration{time.Second}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := openStore(t, nil)
				opts := tick.Options{Chance: fixedChance(100)}
				var queue core.Queue
				if c.queue {
					memory, err := local.Open(nil)
					if err != nil {
						t.Fatal(err)
					}
					queue, opts.Topics = memory, map[core.Priority]core.Topic{}
					for _, p := range core.Priorities {
						if opts.Topics[p], err = memory.OpenTopic(t.Context(), p); err != nil {
							t.Fatal(err)
						}
					}
				}
				var named []tick.Event
				opts.OnEvent = func(e tick.Event) {
					if e.Kind == tick.JobQuarantined {
						named = append(named, e)
					}
				}
				stop := run(t, newTicker(t, store, opts))
				deaths := supervise(t, store, queue, 100)
				innocent := submitJobs(t, store, 40, core.NewJob{Backoff: c.waits, MaxAttempts: c.attempts})
				poison := submitJobs(t, store, c.poisons, core.NewJob{Type: "poison", Backoff: c.waits, MaxAttempts: c.attempts})
				sparesInnocent(t, store, innocent, poison)
				if n := deaths.Load(); n > int64(c.poisons*core.MaxLosses) {
					t.Errorf("%d processes died of %d jobs", n, c.poisons)
				}
				stop()
				for _, e := range named {
					if e.Type != "poison" || e.Count != core.MaxLosses || e.Job != poison[0] && c.poisons == 1 {
						t.Errorf("quarantined: %+v", e)
					}
				}
				if len(named) != c.poisons {
					t.Errorf("%d jobs were named as the poison, want %d", len(named), c.poisons)
				}
				for _, topic := range opts.Topics {
					_ = topic.Close(t.Context())
				}
			})
		})
	}
}

// sparesInnocent waits until all jobs have ended and looks at how.
func sparesInnocent(t *testing.T, store core.Store, innocent, poison []int64) {
	t.Helper()
	for live := true; live; time.Sleep(10 * time.Second) {
		page, err := store.List(t.Context(), core.ListQuery{Statuses: []core.Status{core.Scheduled, core.Queued, core.Running}, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		live = len(page.Jobs) > 0
	}
	for _, id := range innocent {
		if job := get(t, store, id); job.Status != core.Done || job.Attempts > 2 || job.Losses() >= core.MaxLosses-1 {
			t.Errorf("an innocent job is %s after %d attempts and %d losses", job.Status, job.Attempts, job.Losses())
		}
	}
	for _, id := range poison {
		if job := get(t, store, id); job.Status != core.Failed || job.Losses() != core.MaxLosses {
			t.Errorf("the poison is %s after %d losses: %+v", job.Status, job.Losses(), job.Errors)
		}
	}
}

// A job of one attempt is promised not to run twice: with its worker it fails at once, as lost.
func TestOneAttemptIsOneRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, nil)
		id := submitJobs(t, store, 1, core.NewJob{MaxAttempts: 1})[0]
		claim(t, store, "echo", 1, time.Minute)
		time.Sleep(time.Minute + time.Second)
		tickOnce(t, newTicker(t, store, tick.Options{}))
		job := get(t, store, id)
		if job.Status != core.Failed || job.Attempts != 1 || len(job.Errors) != 1 || job.Errors[0].Kind != core.KindLost {
			t.Errorf("%s after %d attempts: %+v", job.Status, job.Attempts, job.Errors)
		}
		if _, err := store.Retry(t.Context(), id); err != nil && !errors.Is(err, core.ErrConflict) {
			t.Error(err)
		}
	})
}
