package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/fleet"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/core/work"
)

// crew are workers that share a queue, each with handlers for some types.
type crew struct {
	name    string
	workers [][]string    // types of each
	slots   int           // of each
	takes   time.Duration // a job
}

// lags runs one job a second of each type for a minute, submitted as an API does or left to the tick, and returns how long
// after its run_at each was entered, by type and in order.
func (w *works) lags(c crew, types []string, atSubmit bool) map[string][]time.Duration {
	w.Helper()
	var mu sync.Mutex
	lags := map[string][]time.Duration{}
	handle := core.HandlerFunc(func(_ context.Context, job *core.Job) (json.RawMessage, error) {
		mu.Lock()
		lags[job.Type] = append(lags[job.Type], time.Since(job.RunAt))
		mu.Unlock()
		time.Sleep(c.takes)
		return nil, nil
	})
	ctx, cancel := context.WithCancel(w.Context())
	var working sync.WaitGroup
	for i, of := range c.workers {
		handlers := core.Handlers{}
		for _, typ := range of {
			handlers[typ] = handle
		}
		worker, err := work.New(w.store, handlers, work.Options{ID: fmt.Sprint("worker ", i), Slots: c.slots, CriticalSlots: -1})
		if err != nil {
			w.Fatal(err)
		}
		working.Go(func() {
			if err := worker.Receive(ctx, w.from); err != nil {
				w.Errorf("Receive: %v", err)
			}
		})
	}
	ticker := newTicker(w.T, w.store, tick.Options{Holder: "a", Topics: w.topics})
	stopTicker := run(w.T, ticker)
	var submitter core.SubmitStore = w.store
	if atSubmit {
		d, err := submit.NewDispatcher(w.store, submit.DispatchOptions{
			Topics: w.topics, Fleet: fleet.NewView(w.store), TakeCredit: ticker.TakeCredit,
		})
		if err != nil {
			w.Fatal(err)
		}
		submitter = d
	}
	time.Sleep(2 * time.Second)
	var ids []int64
	order := rand.New(rand.NewPCG(1, 2)) // else jobs and workers may take turns so that none meets the wrong one
	for range 60 {
		for _, i := range order.Perm(len(types)) {
			ids = append(ids, submitJobs(w.T, submitter, 1, core.NewJob{Type: types[i]})...)
			time.Sleep(time.Second / time.Duration(len(types)))
		}
		if stats, err := w.store.Stats(context.Background(), time.Minute); err != nil || stats.Unhandled != 0 {
			w.Errorf("%d jobs are unhandled, %v", stats.Unhandled, err)
		}
	}
	time.Sleep(30 * time.Second)
	stopTicker()
	cancel()
	working.Wait()
	for _, id := range ids {
		if job := get(w.T, w.store, id); job.Status != core.Done || job.Attempts != 1 || job.Snoozes != 0 {
			w.Errorf("job %d is %s after %d attempts and %d snoozes", id, job.Status, job.Attempts, job.Snoozes)
		}
	}
	for _, of := range lags {
		slices.Sort(of)
	}
	return lags
}

// Workers with different handlers on one queue start jobs as like workers do: half of the messages come to one that cannot
// run them, and no job waits for that.
func TestWorkersWithDifferentHandlersShareAQueue(t *testing.T) {
	types := []string{"x", "echo"}
	for _, atSubmit := range []bool{true, false} {
		var like map[string][]time.Duration
		bubble(t, func(w *works) {
			like = w.lags(crew{workers: [][]string{types, types}, slots: 10, takes: 50 * time.Millisecond}, types, atSubmit)
		})
		for _, c := range []crew{
			{name: "two", workers: [][]string{{"x"}, {"echo"}}, slots: 10, takes: 50 * time.Millisecond},
			{name: "one of six", workers: [][]string{{"x"}, {"echo"}, {"echo"}, {"echo"}, {"echo"}, {"echo"}}, slots: 10, takes: 50 * time.Millisecond},
			{name: "few slots", workers: [][]string{{"x"}, {"echo"}}, slots: 1, takes: 300 * time.Millisecond},
			{name: "overlapping", workers: [][]string{{"x", "y"}, {"echo", "y"}, {"y"}}, slots: 10, takes: 50 * time.Millisecond},
		} {
			t.Run(fmt.Sprint(c.name, ", published at submit: ", atSubmit), func(t *testing.T) {
				bubble(t, func(w *works) {
					got := w.lags(c, types, atSubmit)
					for _, typ := range types {
						judge(w.T, typ, got[typ], like[typ])
					}
					stats, err := w.store.Stats(context.Background(), time.Hour)
					if err != nil {
						w.Fatal(err)
					}
					strays := int64(0)
					for _, r := range stats.Totals {
						strays += r.Strayed
					}
					w.Logf("%d strays", strays)
					if strays == 0 || strays > 60*2*10 {
						w.Errorf("%d strays of 120 jobs are counted", strays)
					}
				})
			})
		}
	}
}

// judge holds lags against those of like workers.
func judge(t *testing.T, typ string, got, like []time.Duration) {
	t.Helper()
	if len(got) != 60 || len(like) != 60 {
		t.Fatalf("%s: %d lags, of like workers %d", typ, len(got), len(like))
	}
	median, p99 := len(got)/2, len(got)*99/100
	t.Logf("%s: median %s, p99 %s; like workers %s, %s", typ, got[median], got[p99], like[median], like[p99])
	if got[median] > 2*like[median]+10*time.Millisecond || got[p99] > time.Second+like[p99] {
		t.Errorf("%s: median %s, p99 %s; like workers %s, %s", typ, got[median], got[p99], like[median], like[p99])
	}
}

// A worker that is told to stop, or dies, takes nobody along: its type waits, and the others go on.
func TestATypeWhoseWorkerIsGoneWaitsAndHoldsNobodyUp(t *testing.T) {
	for _, clean := range []bool{true, false} {
		t.Run(fmt.Sprint("clean stop: ", clean), func(t *testing.T) {
			bubble(t, func(w *works) { goneWorker(w, clean) })
		})
	}
}

func goneWorker(w *works, clean bool) {
	stopTicker := run(w.T, newTicker(w.T, w.store, tick.Options{Holder: "a", Topics: w.topics}))
	defer stopTicker()
	defer w.work("other", 10, time.Millisecond)()
	if clean {
		stop := w.workOf("gone", "x")
		time.Sleep(2 * time.Second)
		stop()
	} else if err := w.store.Announce(w.Context(), core.Presence{ID: "gone", Queues: true, Types: []string{"x"}}); err != nil {
		w.Fatal(err)
	}
	rare := submitJobs(w.T, w.store, 20, core.NewJob{Type: "x"})
	var ids []int64
	for range 100 {
		ids = append(ids, submitJobs(w.T, w.store, 1, core.NewJob{})...)
		time.Sleep(time.Second)
	}
	w.ended(ids)
	stats, err := w.store.Stats(context.Background(), time.Minute)
	if err != nil || stats.Unhandled != len(rare) || len(stats.UnhandledTypes) != 1 || stats.UnhandledTypes[0].Type != "x" {
		w.Errorf("100 s later %d are unhandled, %+v, %v", stats.Unhandled, stats.UnhandledTypes, err)
	}
	stop := w.workOf("back", "x")
	time.Sleep(3 * time.Second)
	stop()
	w.ended(rare)
}

// workOf runs a worker that has a handler for one type.
func (w *works) workOf(id, typ string) (stop func()) {
	w.Helper()
	worker, err := work.New(w.store, core.Handlers{typ: core.HandlerFunc(func(_ context.Context, job *core.Job) (json.RawMessage, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.entered[job.ID]++
		return nil, nil
	})}, work.Options{ID: id})
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.Context())
	var working sync.WaitGroup
	working.Go(func() {
		if err := worker.Receive(ctx, w.from); err != nil {
			w.Errorf("Receive: %v", err)
		}
	})
	return func() {
		cancel()
		working.Wait()
	}
}
