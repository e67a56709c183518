package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/local"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/fleet"
	"github.com/belfry-dev/belfry/core/queuegroup"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/core/work"
)

// group gives groups of types queues of their own, in memory.
func (w *works) group(patterns map[string][]string) {
	w.Helper()
	groups, err := queuegroup.New(patterns)
	if err != nil {
		w.Fatal(err)
	}
	w.from, err = queuegroup.NewQueue(groups, func(group string) (core.Queue, error) {
		if group == "" {
			return w.queue, nil
		}
		return local.Open(nil)
	})
	if err != nil {
		w.Fatal(err)
	}
	w.topics = map[core.Priority]core.Topic{}
	for _, p := range core.Priorities {
		topic, err := w.from.OpenTopic(w.Context(), p)
		if err != nil {
			w.Fatal(err)
		}
		w.Cleanup(func() { _ = topic.Close(context.Background()) })
		w.topics[p] = topic
	}
}

// strays counts the messages that came to a worker that could not run their jobs.
func (w *works) strays() (n int64) {
	w.Helper()
	stats, err := w.store.Stats(context.Background(), time.Hour)
	if err != nil {
		w.Fatal(err)
	}
	for _, r := range stats.Totals {
		n += r.Strayed
	}
	return n
}

// Workers whose types are in groups of their own get no message of the others', however jobs are published, and start them
// as like workers on one queue do.
func TestWorkersWithGroupsOfTypesGetNoStrays(t *testing.T) {
	types := []string{"x", "echo"}
	for _, patterns := range []map[string][]string{{"exes": {"x"}}, {"exes": {"x*"}, "echoes": {"echo"}}} {
		for _, atSubmit := range []bool{true, false} {
			t.Run(fmt.Sprint(len(patterns), " groups, published at submit: ", atSubmit), func(t *testing.T) {
				var like map[string][]time.Duration
				bubble(t, func(w *works) {
					like = w.lags(crew{workers: [][]string{types, types}, slots: 10, takes: 50 * time.Millisecond}, types, atSubmit)
				})
				bubble(t, func(w *works) {
					w.group(patterns)
					got := w.lags(crew{workers: [][]string{{"x"}, {"echo"}}, slots: 10, takes: 50 * time.Millisecond}, types, atSubmit)
					for _, typ := range types {
						judge(w.T, typ, got[typ], like[typ])
					}
					if n := w.strays(); n != 0 {
						w.Errorf("%d messages strayed", n)
					}
				})
			})
		}
	}
}

// groupWorker runs a worker and returns what stops it. Its jobs take a while.
func (w *works) groupWorker(o work.Options, takes time.Duration, types ...string) (stop func()) {
	w.Helper()
	handlers := core.Handlers{}
	for _, typ := range types {
		handlers[typ] = core.HandlerFunc(func(_ context.Context, job *core.Job) (json.RawMessage, error) {
			w.mu.Lock()
			w.entered[job.ID]++
			w.mu.Unlock()
			time.Sleep(takes)
			return nil, nil
		})
	}
	worker, err := work.New(w.store, handlers, o)
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.Context())
	from := w.from
	var working sync.WaitGroup
	working.Go(func() {
		if err := worker.Receive(ctx, from); err != nil {
			w.Errorf("Receive: %v", err)
		}
	})
	return func() { cancel(); working.Wait() }
}

// A group whose workers are slow fills its own queue and not that of others, whose jobs start at once.
func TestASlowGroupHoldsUpNoOther(t *testing.T) {
	for _, atSubmit := range []bool{true, false} {
		t.Run(fmt.Sprint("published at submit: ", atSubmit), func(t *testing.T) {
			bubble(t, func(w *works) {
				w.group(map[string][]string{"slow": {"slow.*"}})
				ticker := newTicker(w.T, w.store, tick.Options{Holder: "a", Topics: w.topics})
				defer run(w.T, ticker)()
				defer w.groupWorker(work.Options{ID: "slow", Slots: 2, CriticalSlots: -1}, 20*time.Second, "slow.job")()
				defer w.groupWorker(work.Options{ID: "quick", Slots: 10, CriticalSlots: -1}, time.Millisecond, "echo")()
				var store core.SubmitStore = w.store
				if atSubmit {
					store = w.atSubmit(ticker, func(o *submit.DispatchOptions) { o.Fleet = fleet.NewView(w.store) })
				}
				time.Sleep(2 * time.Second)
				submitJobs(w.T, store, 1000, core.NewJob{Type: "slow.job"})
				time.Sleep(30 * time.Second)
				for range 30 {
					id := submitJobs(w.T, store, 1, core.NewJob{Type: "echo"})[0]
					time.Sleep(2 * time.Second)
					if job := get(w.T, w.store, id); job.Status != core.Done || job.StartedAt.Sub(job.RunAt) > 1100*time.Millisecond {
						w.Errorf("job %d is %s, started %s after it was due", id, job.Status, job.StartedAt.Sub(job.RunAt))
					}
				}
				stats, err := w.store.Stats(context.Background(), time.Minute)
				if err != nil || stats.Queues[1].Queued > tick.WindowFloor+10 || stats.Queues[1].Queued < tick.WindowFloor/2 {
					w.Errorf("%+v, %v: want a window of the slow group's jobs queued", stats.Queues, err)
				}
			})
		})
	}
}

// A worker of several groups divides its slots among them, and none waits for another that holds what it has in hand.
func TestAWorkerOfAllGroupsServesEach(t *testing.T) {
	bubble(t, func(w *works) {
		w.group(map[string][]string{"a": {"a.*"}, "b": {"b.*"}})
		defer run(w.T, newTicker(w.T, w.store, tick.Options{Holder: "a", Topics: w.topics}))()
		stop := w.groupWorker(work.Options{ID: "all", Slots: 4, CriticalSlots: -1}, 100*time.Millisecond, "a.x", "b.x", "echo")
		defer stop()
		var ids []int64
		for _, p := range core.Priorities {
			ids = append(ids, submitJobs(w.T, w.store, 300, core.NewJob{Type: "a.x", Priority: p})...)
		}
		time.Sleep(5 * time.Second)
		few := append(submitJobs(w.T, w.store, 5, core.NewJob{Type: "b.x"}), submitJobs(w.T, w.store, 5, core.NewJob{})...)
		time.Sleep(5 * time.Second)
		w.ended(few) // beside 900 of the other group, of which 40 run a second
		time.Sleep(30 * time.Second)
		w.ended(ids)
	})
}

// While messages are in flight the groups become others: what lies in queues that have lost their meaning is passed on or
// published again, and each job runs once.
func TestAChangeOfGroupsLosesNothing(t *testing.T) {
	bubble(t, func(w *works) {
		before := map[string][]string{"media": {"video.*", "image.*"}}
		after := map[string][]string{"media": {"image.*"}, "film": {"video.*"}, "rest": {"echo"}}
		w.group(before)
		ticker := newTicker(w.T, w.store, tick.Options{Holder: "before", Topics: w.topics, Unannounced: true})
		stop := run(w.T, ticker)
		var ids []int64
		for _, typ := range []string{"video.x", "image.x", "echo"} {
			ids = append(ids, submitJobs(w.T, w.store, 20, core.NewJob{Type: typ})...)
		}
		time.Sleep(3 * time.Second)
		stop()
		old := w.from
		w.group(after)
		defer run(w.T, newTicker(w.T, w.store, tick.Options{Holder: "after", Topics: w.topics}))()
		var stops []func()
		for _, typ := range []string{"video.x", "image.x", "echo"} {
			stops = append(stops, w.groupWorker(work.Options{ID: "new " + typ, Slots: 10}, time.Millisecond, typ))
		}
		changed := w.from
		w.from = old // one that was not restarted still receives what was sent to the old queues
		stops = append(stops, w.groupWorker(work.Options{ID: "old", Slots: 10, Groups: []string{"media", ""}}, time.Millisecond, "image.x"))
		w.from = changed
		time.Sleep(2 * time.Minute)
		for _, stop := range stops {
			stop()
		}
		w.ended(ids)
	})
}
