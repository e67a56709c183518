package work

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// TestPushAtTheEnd: when the worker stops, what runs is handed back and is done with, what waits too, what comes then is sent away.
func TestPushAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := newPushRig(t, store, handle(untilEnd), Options{Slots: 1, CriticalSlots: -1, StopGrace: time.Second})
		var ids []int64
		var answers []<-chan pushedAnswer
		for i := range 6 {
			id, message := store.message(t, core.NewJob{Priority: core.Priorities[i%3]})
			ids, answers = append(ids, id), append(answers, r.push(t.Context(), PushOptions{}, message))
			synctest.Wait()
		}
		if _, err := r.end(); err != nil {
			t.Error(err)
		}
		for i, id := range ids {
			(<-answers[i]).check(t, []Verdict{Finished, HandedBack, HandedBack, HandedBack, HandedBack, HandedBack}[i])
			store.check(t, "at the end", id, core.Scheduled, 0)
		}
		late, message := store.message(t, core.NewJob{})
		(<-r.push(t.Context(), PushOptions{}, []byte("damaged"), message)).check(t, Unreadable, Stopped)
		store.check(t, "after the end", late, core.Queued, 0)
	})
}

// TestPushGivenBack: a message that the worker gives back when its time is over, or while the worker stops, does not wait for another try.
func TestPushGivenBack(t *testing.T) {
	for _, stops := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			store := &pausedStore{memStore: newMemStore()}
			r := newPushRig(t, store, handle(untilEnd), Options{StopGrace: time.Minute})
			id, message := store.message(t, core.NewJob{})
			store.pause.Store(int64(time.Minute))
			var lost atomic.Bool
			store.setFaults(func(method string) error {
				if method == "Start" && !lost.Swap(true) {
					return core.ErrUnavailable
				}
				return nil
			}, nil)
			answer := r.push(t.Context(), PushOptions{StartBy: time.Now().Add(30 * time.Second)}, message)
			synctest.Wait() // its start is under way
			if stops {
				r.stop()
			}
			(<-answer).check(t, HandedBack)
			store.check(t, "given back", id, core.Scheduled, 0)
		})
	}
}

// TestPushUnrecorded: a message comes again only if the row could not be written, and Push says what the store said.
func TestPushUnrecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := newPushRig(t, store, handle(untilEnd), Options{Slots: 1, CriticalSlots: -1, StopGrace: time.Second})
		running, first := store.message(t, core.NewJob{})
		one := r.push(t.Context(), PushOptions{}, first)
		synctest.Wait()
		waiting, second := store.message(t, core.NewJob{})
		two := r.push(t.Context(), PushOptions{}, second)
		synctest.Wait()
		store.setFaults(only("Finish", core.ErrUnavailable), nil)
		if _, err := r.end(); err == nil {
			t.Error("the worker recorded the end of what ran")
		}
		if a := <-one; !slices.Equal(a.verdicts, []Verdict{Unrecorded}) || a.err != nil {
			t.Errorf("what ran: %+v", a)
		}
		if a := <-two; !slices.Equal(a.verdicts, []Verdict{Unrecorded}) || !errors.Is(a.err, core.ErrUnavailable) {
			t.Errorf("what waited: %+v", a)
		}
		store.check(t, "what ran", running, core.Running, 1)
		store.check(t, "what waited", waiting, core.Running, 1) // until its lease ends, as that of any worker that died
	})
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := newPushRig(t, store, handle(untilEnd), Options{})
		store.setFaults(only("Start", core.ErrUnavailable), nil)
		id, message := store.message(t, core.NewJob{})
		a := <-r.push(t.Context(), PushOptions{MaxReleases: 3}, message)
		if !slices.Equal(a.verdicts, []Verdict{Unrecorded}) || !errors.Is(a.err, core.ErrUnavailable) || store.called("Start") != 5 {
			t.Errorf("what never started: %+v after %d starts", a, store.called("Start"))
		}
		store.check(t, "what never started", id, core.Queued, 0)
	})
}

// TestBatch: a batch is run and the worker ends with it; near its deadline what runs and what waits is handed back, within the time that
// a worker takes to stop.
func TestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		batch := func(limit time.Duration, n int, work func(context.Context, *core.Job) error) (verdicts []Verdict, took time.Duration) {
			w, err := New(store, handle(work), Options{ID: "w", Slots: 2, CriticalSlots: -1, StopGrace: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			var messages [][]byte
			for range n {
				_, message := store.message(t, core.NewJob{})
				messages = append(messages, message)
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			began := time.Now()
			if verdicts, err = w.Batch(ctx, messages, PushOptions{MaxReleases: 3}); err != nil {
				t.Error(err)
			}
			return verdicts, time.Since(began)
		}
		verdicts, took := batch(time.Minute, 5, func(context.Context, *core.Job) error { time.Sleep(time.Second); return nil })
		if !slices.Equal(verdicts, []Verdict{Finished, Finished, Finished, Finished, Finished}) || took < 3*time.Second || took > 4*time.Second {
			t.Errorf("%v after %s", verdicts, took)
		}
		for range 20 {
			verdicts, took = batch(10*time.Second, 3, untilEnd)
			if !slices.Equal(verdicts, []Verdict{Finished, Finished, HandedBack}) || took > 10*time.Second+2500*time.Millisecond {
				t.Errorf("at the deadline: %v after %s", verdicts, took)
			}
		}
		if n := store.tally(); n[core.Done] != 5 || n[core.Scheduled] != 60 {
			t.Errorf("%v", n)
		}
		for range 20 {
			if verdicts, _ = batch(0, 2, untilEnd); !slices.Equal(verdicts, []Verdict{HandedBack, HandedBack}) {
				t.Errorf("with no time at all: %v", verdicts)
			}
		}
		if verdicts, _ = batch(time.Minute, 0, untilEnd); len(verdicts) != 0 {
			t.Errorf("of nothing: %v", verdicts)
		}
	})
}

// TestPushManyCalls: whoever leaves, is late or comes near the worker's end is answered, and the answer agrees with the row.
func TestPushManyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := newPushRig(t, store, handle(func(ctx context.Context, job *core.Job) error {
			select {
			case <-time.After(time.Duration(job.ID%7) * 100 * time.Millisecond):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}), Options{Slots: 10, StopGrace: 100 * time.Millisecond})
		var calls sync.WaitGroup
		for i := range 1_000 {
			var ids []int64
			var messages [][]byte
			for range i%3 + 1 {
				id, message := store.message(t, core.NewJob{Priority: core.Priorities[i%3]})
				ids, messages = append(ids, id), append(messages, message)
			}
			calls.Go(func() {
				time.Sleep(time.Duration(i) * 10 * time.Millisecond)
				o := PushOptions{AnswerBy: time.Now().Add(time.Minute)}
				if i%4 == 0 {
					o.StartBy = time.Now().Add(time.Duration(i%50) * 10 * time.Millisecond)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute/time.Duration(i%100+1))
				defer cancel()
				verdicts, err := r.worker.Push(ctx, messages, o)
				if err != nil || len(verdicts) != len(ids) {
					t.Errorf("%v, %v", verdicts, err)
				}
				for k, v := range verdicts {
					status := store.get(ids[k]).Status
					if v.Done() != (status == core.Done || status == core.Scheduled) || !v.Done() && status != core.Queued || v == Unrecorded {
						t.Errorf("verdict %d on a job that is %s", v, status)
					}
				}
			})
		}
		time.Sleep(9 * time.Second)
		if _, err := r.end(); err != nil {
			t.Error(err)
		}
		calls.Wait()
	})
}
