package work

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// newPushRig starts a worker that serves calls of Push.
func newPushRig(t *testing.T, store core.WorkStore, handlers core.Handlers, opts Options) *rig {
	t.Helper()
	return startRig(t, store, handlers, opts, func(ctx context.Context, w *Worker) error { return w.Serve(ctx) })
}

// message writes a queued job and returns its id and the message that names it.
func (m *memStore) message(t *testing.T, job core.NewJob) (int64, []byte) {
	t.Helper()
	job.Queued = true
	id := m.submit(t, job)
	return id, core.MessageOf(m.get(id)).Encode()
}

// pushedAnswer is what a call of Push returned, and after how long.
type pushedAnswer struct {
	verdicts []Verdict
	err      error
	took     time.Duration
}

// push calls Push and returns where its answer comes.
func (r *rig) push(ctx context.Context, o PushOptions, messages ...[]byte) <-chan pushedAnswer {
	answer, began := make(chan pushedAnswer, 1), time.Now()
	go func() {
		verdicts, err := r.worker.Push(ctx, messages, o)
		answer <- pushedAnswer{verdicts, err, time.Since(began)}
	}()
	return answer
}

func (a pushedAnswer) check(t *testing.T, want ...Verdict) {
	t.Helper()
	if !slices.Equal(a.verdicts, want) || a.err != nil {
		t.Errorf("verdicts %v, want %v; %v", a.verdicts, want, a.err)
	}
}

// check looks at a job's row.
func (m *memStore) check(t *testing.T, what string, id int64, status core.Status, attempts int) {
	t.Helper()
	if job := m.get(id); job.Status != status || job.Attempts != attempts {
		t.Errorf("%s: %s after %d attempts, want %s after %d", what, job.Status, job.Attempts, status, attempts)
	}
}

// untilEnd is a handler that works until it is told to stop.
func untilEnd(ctx context.Context, _ *core.Job) error { <-ctx.Done(); return context.Cause(ctx) }

// TestPushVerdicts: each message of a call has its own verdict, in the order in which they came, and each job its row.
func TestPushVerdicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := newPushRig(t, store, handle(func(_ context.Context, job *core.Job) error {
			time.Sleep(time.Second)
			if job.Priority == core.Bulk {
				return errors.New("failed")
			}
			return nil
		}), Options{})
		done, message := store.message(t, core.NewJob{})
		failing, failure := store.message(t, core.NewJob{Priority: core.Bulk})
		urgent, critical := store.message(t, core.NewJob{Priority: core.Critical})
		unhandled, strange := store.message(t, core.NewJob{Type: "of another worker"})
		answer := <-r.push(t.Context(), PushOptions{}, message, []byte("\xff\x00 not ours"), failure, message, nil, critical, strange,
			[]byte(`{"v":99,"id":"1","token":"0","priority":"default"}`), core.Message{ID: 4711, Priority: core.Default, Type: "work"}.Encode())
		answer.check(t, Finished, Unreadable, Finished, Finished, Unreadable, Finished, Finished, Unreadable, Finished)
		store.check(t, "done", done, core.Done, 1)
		store.check(t, "critical", urgent, core.Done, 1)
		store.check(t, "failing", failing, core.Scheduled, 1)
		store.check(t, "of another worker", unhandled, core.Scheduled, 0)
		if r.told(MessageRefused) != 3 || r.worker.Counts().Refused != 3 {
			t.Errorf("%d messages refused", r.told(MessageRefused))
		}
		(<-r.push(t.Context(), PushOptions{}, message)).check(t, Finished) // delivered again, and stale
		(<-r.push(t.Context(), PushOptions{})).check(t)
		if store.called("Heartbeat") != 0 || store.called("ClaimDue") != 0 {
			t.Error("the worker asked for more than it was told")
		}
	})
}

// TestPushOlderMessage: a message that was made worthless since, by a reschedule for one, is done with although it waits beside the
// one that took its place.
func TestPushOlderMessage(t *testing.T) {
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		synctest.Test(t, func(t *testing.T) {
			store := newMemStore()
			r := newPushRig(t, store, handle(func(context.Context, *core.Job) error { return nil }), Options{})
			id, older := store.message(t, core.NewJob{})
			store.mu.Lock()
			store.jobs[id].LeaseToken++
			store.mu.Unlock()
			messages := [][]byte{older, core.MessageOf(store.get(id)).Encode()}
			(<-r.push(t.Context(), PushOptions{AnswerBy: time.Now().Add(time.Minute)}, messages[order[0]], messages[order[1]])).check(t, Finished, Finished)
			store.check(t, "the job", id, core.Done, 1)
		})
	}
}

// TestPushStartsTogether: messages of a priority that wait at the same time are started by one statement, whether one call brought
// them or many.
func TestPushStartsTogether(t *testing.T) {
	for name, each := range map[string]int{"in one call": 300, "in calls of one": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &pausedStore{memStore: newMemStore()}
				r := newPushRig(t, store, handle(func(context.Context, *core.Job) error { return nil }), Options{})
				_, first := store.message(t, core.NewJob{})
				store.pause.Store(int64(time.Second))
				answers := []<-chan pushedAnswer{r.push(t.Context(), PushOptions{}, first)}
				synctest.Wait() // the first start is under way
				var messages [][]byte
				for range 300 {
					_, message := store.message(t, core.NewJob{})
					if messages = append(messages, message); len(messages) == each {
						answers, messages = append(answers, r.push(t.Context(), PushOptions{}, messages...)), nil
					}
				}
				for _, answer := range answers {
					if a := <-answer; a.err != nil || slices.ContainsFunc(a.verdicts, func(v Verdict) bool { return v != Finished }) {
						t.Fatal(a)
					}
				}
				if n := store.called("Start"); n > 3 || store.tally()[core.Done] != 301 {
					t.Errorf("%d starts, %v", n, store.tally())
				}
			})
		})
	}
}

// TestPushStartBy: a job that gets no slot in time is handed back and no attempt is counted; the one that runs goes on.
func TestPushStartBy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := newPushRig(t, store, handle(func(context.Context, *core.Job) error { time.Sleep(time.Minute); return nil }), Options{Slots: 1, CriticalSlots: -1})
		o := PushOptions{StartBy: time.Now().Add(30 * time.Second), AnswerBy: time.Now().Add(10 * time.Minute)}
		long, first := store.message(t, core.NewJob{})
		running := r.push(t.Context(), o, first)
		synctest.Wait()
		late, second := store.message(t, core.NewJob{})
		answer := <-r.push(t.Context(), o, second)
		if answer.check(t, HandedBack); answer.took != 30*time.Second {
			t.Errorf("handed back after %s", answer.took)
		}
		store.check(t, "late", late, core.Scheduled, 0)
		(<-running).check(t, Finished)
		store.check(t, "long", long, core.Done, 1)
		if store.get(late).LeaseToken == 0 {
			t.Error("the message is not stale")
		}
	})
}

// TestPushLockedRow: a message whose row another transaction holds is tried again, MaxReleases times or until StartBy. Its job is then
// handed back, once no other of the call runs; if the row is still locked the message has to come again.
func TestPushLockedRow(t *testing.T) {
	for name, c := range map[string]struct {
		free        time.Duration // when the row is free again
		maxReleases int
		startBy     time.Duration
		verdict     Verdict
		status      core.Status
		attempts    int
		starts      int // one of them starts the other job; zero: many
	}{
		"free before long":                      {time.Second, 3, 0, Finished, core.Done, 1, 0},
		"free before the other ends":            {time.Minute, 3, 0, HandedBack, core.Scheduled, 0, 5},
		"never free":                            {time.Hour, 3, 0, Unrecorded, core.Queued, 0, 5},
		"free before its time is over":          {20 * time.Second, 0, 30 * time.Second, Finished, core.Done, 1, 0},
		"free after its time is over":           {time.Minute, 0, 30 * time.Second, HandedBack, core.Scheduled, 0, 0},
		"never free, and its time is over":      {time.Hour, 0, 30 * time.Second, Unrecorded, core.Queued, 0, 0},
		"free late, but the tries were used up": {20 * time.Second, 3, 30 * time.Second, HandedBack, core.Scheduled, 0, 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newMemStore()
				r := newPushRig(t, store, handle(func(_ context.Context, job *core.Job) error {
					if job.Tenant == "long" {
						time.Sleep(5 * time.Minute)
					}
					return nil
				}), Options{})
				locked, message := store.message(t, core.NewJob{})
				_, other := store.message(t, core.NewJob{Tenant: "long"})
				store.lock(locked, true)
				time.AfterFunc(c.free, func() { store.lock(locked, false) })
				o := PushOptions{MaxReleases: c.maxReleases}
				if c.startBy > 0 {
					o.StartBy = time.Now().Add(c.startBy)
				}
				(<-r.push(t.Context(), o, message, other)).check(t, c.verdict, Finished)
				store.check(t, "locked", locked, c.status, c.attempts)
				if n := store.called("Start"); c.starts > 0 && n != c.starts {
					t.Errorf("%d starts, want %d", n, c.starts)
				}
			})
		})
	}
}

// TestPushLostStart: a start whose answer was lost is carried out all the same: its job runs once.
func TestPushLostStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		var lost atomic.Bool
		store.setFaults(nil, func(method string) error {
			if method == "Start" && !lost.Swap(true) {
				return core.ErrUnavailable
			}
			return nil
		})
		r := newPushRig(t, store, handle(func(context.Context, *core.Job) error { return nil }), Options{})
		id, message := store.message(t, core.NewJob{})
		(<-r.push(t.Context(), PushOptions{MaxReleases: 3}, message)).check(t, Finished)
		store.check(t, "lost", id, core.Done, 1)
	})
}

// TestPushCallerGone: a message whose caller is gone before its job is started is left alone: it comes again. A job that runs is waited for.
func TestPushCallerGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := newPushRig(t, store, handle(func(context.Context, *core.Job) error { time.Sleep(time.Minute); return nil }), Options{Slots: 1, CriticalSlots: -1})
		ctx, leave := context.WithCancel(t.Context())
		_, first := store.message(t, core.NewJob{})
		running := r.push(ctx, PushOptions{}, first)
		synctest.Wait()
		id, second := store.message(t, core.NewJob{})
		waiting := r.push(ctx, PushOptions{}, second)
		synctest.Wait()
		leave()
		answer := <-waiting
		if answer.check(t, Abandoned); answer.took != 0 {
			t.Errorf("answered after %s", answer.took)
		}
		if answer = <-running; answer.took != time.Minute {
			t.Errorf("answered after %s, and the job ran for a minute", answer.took)
		}
		answer.check(t, Finished)
		store.check(t, "abandoned", id, core.Queued, 0)
		(<-r.push(t.Context(), PushOptions{StartBy: time.Now().Add(time.Second)}, second)).check(t, Finished) // its slot is free
	})
}

// TestPushAnswerBy: Push returns although a job still runs; its message comes again, and is stale.
func TestPushAnswerBy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore()
		r := newPushRig(t, store, handle(func(context.Context, *core.Job) error { time.Sleep(time.Minute); return nil }), Options{Slots: 1, CriticalSlots: -1})
		id, message := store.message(t, core.NewJob{})
		answer := <-r.push(t.Context(), PushOptions{AnswerBy: time.Now().Add(10 * time.Second)}, message)
		if answer.check(t, Unrecorded); answer.took != 10*time.Second {
			t.Errorf("answered after %s", answer.took)
		}
		time.Sleep(time.Minute)
		store.check(t, "the one that ran", id, core.Done, 1)
		(<-r.push(t.Context(), PushOptions{}, message)).check(t, Finished)
	})
}
