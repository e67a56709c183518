package queuetest

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/core/work"
)

// Carry runs n jobs of each priority through a queue with one scheduler and two workers, of which one leaves half way. Each
// job's handler is entered once, and each job ends done. If broken is not nil, it is called while the jobs run; it breaks
// subscriptions.
func Carry(t *testing.T, store core.Store, queue core.Queue, n int, broken func()) {
	t.Helper()
	c := &carried{T: t, store: store, queue: queue, entered: map[int64]int{}, done: make(chan struct{}, 3*n)}
	stop := c.schedule()
	first, second := c.work("first"), c.work("second")
	for _, p := range core.Priorities {
		c.submit(p, n)
	}
	c.wait(n)
	first()
	if broken != nil {
		broken()
	}
	c.wait(2 * n)
	second() // by then every end is recorded
	stop()
	for _, id := range c.ids {
		job, err := store.Get(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		if job.Status != core.Done || c.entered[id] != 1 {
			t.Errorf("job %d is %s, its handler was entered %d times; want done, once", id, job.Status, c.entered[id])
		}
	}
}

type carried struct {
	*testing.T
	store core.Store
	queue core.Queue
	ids   []int64
	done  chan struct{}

	mu      sync.Mutex
	entered map[int64]int
}

func (c *carried) submit(p core.Priority, n int) {
	jobs := make([]core.NewJob, n)
	for i := range jobs {
		jobs[i] = core.NewJob{Type: "echo", Priority: p, Tenant: "acme", MaxAttempts: core.DefaultMaxAttempts}
	}
	answers, err := c.store.Submit(c.Context(), jobs)
	if err != nil {
		c.Fatal(err)
	}
	for _, a := range answers {
		c.ids = append(c.ids, a.ID)
	}
}

// run starts f and returns stop, which cancels it and waits for its end.
func (c *carried) run(f func(ctx context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := f(ctx); err != nil && ctx.Err() == nil {
			c.Error(err)
		}
	})
	stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	c.Cleanup(stop)
	return stop
}

func (c *carried) schedule() (stop func()) {
	topics := map[core.Priority]core.Topic{}
	for _, p := range core.Priorities {
		topic, err := c.queue.OpenTopic(c.Context(), p)
		if err != nil {
			c.Fatal(err)
		}
		c.Cleanup(func() {
			if err := topic.Close(context.Background()); err != nil {
				c.Error(err)
			}
		})
		topics[p] = topic
	}
	ticker, err := tick.New(c.store, tick.Options{Holder: "a", Topics: topics, Period: 200 * time.Millisecond})
	if err != nil {
		c.Fatal(err)
	}
	return c.run(ticker.Run)
}

func (c *carried) work(id string) (stop func()) {
	handle := core.HandlerFunc(func(_ context.Context, job *core.Job) (json.RawMessage, error) {
		c.mu.Lock()
		c.entered[job.ID]++
		c.mu.Unlock()
		c.done <- struct{}{}
		return nil, nil
	})
	worker, err := work.New(c.store, core.Handlers{"echo": handle}, work.Options{ID: id, Slots: 50})
	if err != nil {
		c.Fatal(err)
	}
	return c.run(func(ctx context.Context) error { return worker.Receive(ctx, c.queue) })
}

// wait waits until n more handlers have been entered.
func (c *carried) wait(n int) {
	c.Helper()
	timeout := time.After(3 * time.Minute)
	for range n {
		select {
		case <-c.done:
		case <-timeout:
			c.mu.Lock()
			defer c.mu.Unlock()
			c.Fatalf("%d jobs were entered", len(c.entered))
		}
	}
}
