package queuetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
	"github.com/belfry-dev/belfry/core/work"
)

// Share runs n jobs of two types, one after the other, on workers that share a queue. First, two workers handle both types.
// Then, with a store and a queue of their own, each of two workers handles one type, so that many messages arrive at the
// wrong worker. Every job runs once and none is delayed. If the queue's workers may only receive, they return such messages
// through the jobs' rows.
func Share(t *testing.T, open func() (core.Store, core.Queue), n int, mayOnlyReceive bool) {
	t.Helper()
	types := []string{"x", "echo"}
	store, queue := open()
	like := lagsOf(t, store, queue, n, [][]string{types, types}, mayOnlyReceive)
	store, queue = open()
	apart := lagsOf(t, store, queue, n, [][]string{types[:1], types[1:]}, mayOnlyReceive)
	t.Logf("like workers: median %s, worst %s; different ones: median %s, worst %s", like[len(like)/2], like[len(like)-1], apart[len(apart)/2], apart[len(apart)-1])
	// A type without a handler is first delayed by 30 s. A job that waited this long was treated as one.
	if apart[len(apart)-1] > max(30*time.Second, 10*like[len(like)-1]) {
		t.Errorf("a job started after %s", apart[len(apart)-1])
	}
	stats, err := store.Stats(context.Background(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if strays := straysOf(stats); strays == 0 {
		t.Error("no message strayed")
	} else {
		t.Logf("%d strays", strays)
	}
	if fleet, err := store.Fleet(context.Background()); err != nil || len(fleet.Marked) > 0 {
		t.Errorf("marked as unhandled are %v, %v", fleet.Marked, err)
	}
}

// ShareApart runs the jobs of Share on two workers with one type each. One type has queues of its own, so no message arrives
// at the wrong worker.
func ShareApart(t *testing.T, store core.Store, open func(group string) (core.Queue, error), n int) {
	t.Helper()
	groups, err := queuegroup.New(map[string][]string{"exes": {"x"}})
	if err != nil {
		t.Fatal(err)
	}
	queue, err := queuegroup.NewQueue(groups, open)
	if err != nil {
		t.Fatal(err)
	}
	lags := lagsOf(t, store, queue, n, [][]string{{"x"}, {"echo"}}, false)
	t.Logf("median %s, worst %s", lags[len(lags)/2], lags[len(lags)-1])
	stats, err := store.Stats(context.Background(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if strays := straysOf(stats); strays != 0 {
		t.Errorf("%d messages strayed", strays)
	}
}

// straysOf counts the messages that arrived at a worker without a handler for their job.
func straysOf(stats core.Stats) (n int64) {
	for _, r := range stats.Totals {
		n += r.Strayed
	}
	return n
}

// lagsOf runs jobs on workers with the given types, and returns the sorted times from submit to start.
func lagsOf(t *testing.T, store core.Store, queue core.Queue, n int, workers [][]string, mayOnlyReceive bool) []time.Duration {
	t.Helper()
	c := &carried{T: t, store: store, queue: queue, entered: map[int64]int{}, done: make(chan struct{}, n)}
	entered := map[int64]time.Time{}
	handle := core.HandlerFunc(func(_ context.Context, job *core.Job) (json.RawMessage, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.entered[job.ID]++
		entered[job.ID] = time.Now()
		c.done <- struct{}{}
		return nil, nil
	})
	received := queue
	if mayOnlyReceive {
		received = receiveOnly{queue}
	}
	stops := []func(){c.schedule()}
	for i, of := range workers {
		handlers := core.Handlers{}
		for _, typ := range of {
			handlers[typ] = handle
		}
		worker, err := work.New(store, handlers, work.Options{ID: fmt.Sprint("worker ", i), Slots: 50})
		if err != nil {
			t.Fatal(err)
		}
		stops = append(stops, c.run(func(ctx context.Context) error { return worker.Receive(ctx, received) }))
	}
	submitted := map[int64]time.Time{}
	order := rand.New(rand.NewPCG(1, 2))
	for range n {
		at := time.Now()
		answers, err := store.Submit(t.Context(), []core.NewJob{{Type: []string{"x", "echo"}[order.IntN(2)], MaxAttempts: core.DefaultMaxAttempts}})
		if err != nil {
			t.Fatal(err)
		}
		submitted[answers[0].ID] = at
		c.wait(1) // so that every job finds idle workers
	}
	for _, stop := range slices.Backward(stops) {
		stop()
	}
	var lags []time.Duration
	for id, at := range submitted {
		job, err := store.Get(context.Background(), id)
		if err != nil || job.Status != core.Done || job.Attempts != 1 || c.entered[id] != 1 {
			t.Errorf("job %d is %s after %d attempts, entered %d times, %v; want done, once", id, job.Status, job.Attempts, c.entered[id], err)
		}
		lags = append(lags, entered[id].Sub(at))
	}
	slices.Sort(lags)
	return lags
}

// receiveOnly is a queue whose users have no right to send.
type receiveOnly struct{ core.Queue }

func (receiveOnly) OpenTopic(context.Context, core.Priority) (core.Topic, error) {
	return nil, errors.New("not allowed to send")
}
