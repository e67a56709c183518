package gcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/work"
)

// pushRig is an endpoint with a worker behind it, on a store of its own.
type pushRig struct {
	*Push
	store *sqlite.Store
	stop  func() error // the worker, and what it left
	mu    sync.Mutex
	told  []PushAnswer
	began chan int64 // ids of jobs that begin to block
}

// newPush starts one, with a shorter deadline than users may ask for if need be; handlers are those of the types "done", "fail" and "block", which lasts until it is told to end.
func newPush(t *testing.T, o PushOptions, slots int) *pushRig {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	rig := &pushRig{store: store, began: make(chan int64, 100)}
	o.ID, o.Lease = "w", time.Minute
	if o.Store == nil {
		o.Store = store
	}
	o.OnAnswer = func(a PushAnswer) {
		rig.mu.Lock()
		defer rig.mu.Unlock()
		rig.told = append(rig.told, a)
	}
	deadline := o.Deadline
	o.Deadline = 0
	if rig.Push, err = NewPush(o); err != nil {
		t.Fatal(err)
	}
	if deadline > 0 {
		rig.opts.Deadline = deadline
	}
	w, err := work.New(store, core.Handlers{
		"done": core.HandlerFunc(func(context.Context, *core.Job) (json.RawMessage, error) { return nil, nil }),
		"fail": core.HandlerFunc(func(context.Context, *core.Job) (json.RawMessage, error) { return nil, fmt.Errorf("failed") }),
		"block": core.HandlerFunc(func(ctx context.Context, job *core.Job) (json.RawMessage, error) {
			rig.began <- job.ID
			<-ctx.Done()
			return nil, ctx.Err()
		}),
	}, work.Options{ID: "w", Slots: slots, CriticalSlots: -1, StopGrace: 50 * time.Millisecond, MaxTime: rig.MaxTime()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Receive(ctx, rig.Push) }()
	rig.stop = sync.OnceValue(func() error {
		rig.Stop()
		cancel()
		err := <-ended
		rig.Abandon()
		return err
	})
	t.Cleanup(func() { _ = rig.stop(); _ = store.Close() })
	return rig
}

// queued writes a job as the scheduler would have marked it and returns its id and the message that says so.
func (p *pushRig) queued(t *testing.T, typ string) (int64, string) {
	t.Helper()
	answers, err := p.store.Submit(t.Context(), []core.NewJob{{Type: typ, MaxAttempts: 5, Priority: core.Bulk, Queued: true, QueuedLease: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	return answers[0].ID, string(core.MessageOf(p.job(t, answers[0].ID)).Encode())
}

func (p *pushRig) job(t *testing.T, id int64) core.Job {
	t.Helper()
	job, err := p.store.Get(context.WithoutCancel(t.Context()), id)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// wrap puts a message into Pub/Sub's envelope.
func wrap(message string) string {
	text, _ := json.Marshal(map[string]any{
		"message":      map[string]any{"data": []byte(message), "messageId": "m1", "message_id": "m1", "publishTime": "2026-11-29T12:00:00Z", "attributes": map[string]string{}},
		"subscription": "projects/p/subscriptions/s", "deliveryAttempt": 3,
	})
	return string(text)
}

func post(ctx context.Context, h http.Handler, body string) int {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/push", strings.NewReader(body)))
	return w.Code
}

func TestPushAnswers(t *testing.T) {
	rig := newPush(t, PushOptions{}, 10)
	done, message := rig.queued(t, "done")
	bare, plain := rig.queued(t, "done")
	failing, failure := rig.queued(t, "fail")
	stranger, unhandled := rig.queued(t, "of another worker")
	for _, c := range []struct {
		name, body string
		want       int
	}{
		{"done", wrap(message), 204}, {"again, and stale", wrap(message), 204}, {"without an envelope", plain, 204},
		{"failing", wrap(failure), 204}, {"of a type that nobody here runs", wrap(unhandled), 204},
		{"of nobody's job", wrap(string(core.Message{ID: 4711, Priority: core.Default, Type: "done"}.Encode())), 204},
		{"newer", wrap(`{"v":99,"id":"1","token":"0","priority":"default"}`), 400}, {"damaged", wrap(message[:10]), 400},
		{"not ours", wrap("hello"), 400}, {"not text", wrap("\xff\x00"), 400}, {"empty", wrap(""), 400},
		{"no data", `{"message":{"messageId":"1"},"subscription":"s"}`, 400}, {"no base64", `{"message":{"data":"!"}}`, 400},
		{"nothing", "", 400}, {"null", "null", 400}, {"a list", "[]", 400}, {"message of another kind", `{"message":7}`, 400},
		{"too large", wrap(strings.Repeat("x", maxPushBody)), 413},
	} {
		if got := post(t.Context(), rig, c.body); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	for id, want := range map[int64]core.Status{done: core.Done, bare: core.Done, failing: core.Scheduled, stranger: core.Scheduled} {
		if job := rig.job(t, id); job.Status != want || job.Attempts != map[int64]int{done: 1, bare: 1, failing: 1}[id] {
			t.Errorf("%s: %s after %d attempts, want %s", job.Type, job.Status, job.Attempts, want)
		}
	}
	if first := rig.told[0]; first.Message != "m1" || first.Subscription != "projects/p/subscriptions/s" || first.Delivery != 3 || first.Status != 204 || first.Err != nil {
		t.Errorf("told %+v", first)
	}
	for _, a := range rig.told {
		if (a.Err != nil) != (a.Status != 204) {
			t.Errorf("told %+v", a)
		}
	}
}

// TestPushHandsBackWhatCannotStart: with no slot free until too late, the row goes back uncounted.
func TestPushHandsBackWhatCannotStart(t *testing.T) {
	rig := newPush(t, PushOptions{Deadline: 2 * time.Second}, 1)
	_, block := rig.queued(t, "block")
	running := make(chan int, 1)
	go func() { running <- post(context.WithoutCancel(t.Context()), rig, wrap(block)) }()
	blocked := <-rig.began
	id, message := rig.queued(t, "done")
	if got := post(t.Context(), rig, wrap(message)); got != 204 {
		t.Errorf("answered %d", got)
	}
	if job := rig.job(t, id); job.Status != core.Scheduled || job.Attempts != 0 || job.LeaseToken == 0 {
		t.Errorf("%s after %d attempts", job.Status, job.Attempts)
	}
	// The one that runs is told to end nine tenths of the deadline after its start, and that is a timeout on record.
	if got := <-running; got != 204 {
		t.Errorf("answered %d", got)
	}
	if job := rig.job(t, blocked); job.Status != core.Scheduled || job.Attempts != 1 || len(job.Errors) != 1 || job.Errors[0].Kind != core.KindTimeout {
		t.Errorf("%s after %d attempts, %+v", job.Status, job.Attempts, job.Errors)
	}
}

// TestPushAtTheEnd: what runs is handed back and answered well, what waits too, what comes then is sent away.
func TestPushAtTheEnd(t *testing.T) {
	rig := newPush(t, PushOptions{}, 1)
	answers := make(chan int, 6)
	var ids []int64
	for i := range 6 {
		id, block := rig.queued(t, "block")
		ids = append(ids, id)
		go func() { answers <- post(context.WithoutCancel(t.Context()), rig, wrap(block)) }()
		if i == 0 {
			<-rig.began
		}
	}
	eventually(t, func() bool { rig.hand.mu.Lock(); defer rig.hand.mu.Unlock(); return len(rig.open) == 6 })
	if err := rig.stop(); err != nil {
		t.Error(err)
	}
	for range 6 {
		if got := <-answers; got != 204 {
			t.Errorf("answered %d", got)
		}
	}
	for _, id := range ids {
		if job := rig.job(t, id); job.Status != core.Scheduled || job.Attempts != 0 {
			t.Errorf("job %d: %s after %d attempts", id, job.Status, job.Attempts)
		}
	}
	id, message := rig.queued(t, "done")
	if got := post(t.Context(), rig, wrap(message)); got != 503 || rig.job(t, id).Status != core.Queued {
		t.Errorf("after the end: %d, %s", got, rig.job(t, id).Status)
	}
}

// brokenStore is one that does not take anything back.
type brokenStore struct{ *sqlite.Store }

func (brokenStore) Start(context.Context, []core.Ref, core.ClaimRequest) (core.StartResult, error) {
	return core.StartResult{}, core.ErrUnavailable
}

// TestPushAsksForMoreOnlyWhereTheRowIsNotWritten: that is when Pub/Sub is to bring the message again.
func TestPushAsksForMoreOnlyWhereTheRowIsNotWritten(t *testing.T) {
	rig := newPush(t, PushOptions{Store: brokenStore{}}, 1)
	_, block := rig.queued(t, "block")
	answers := make(chan int, 2)
	go func() { answers <- post(context.WithoutCancel(t.Context()), rig, wrap(block)) }()
	<-rig.began
	id, message := rig.queued(t, "done")
	go func() { answers <- post(context.WithoutCancel(t.Context()), rig, wrap(message)) }()
	eventually(t, func() bool { rig.hand.mu.Lock(); defer rig.hand.mu.Unlock(); return len(rig.open) == 2 })
	_ = rig.stop()
	if a, b := <-answers, <-answers; a+b != 204+503 {
		t.Errorf("answered %d and %d", a, b)
	}
	if job := rig.job(t, id); job.Status != core.Queued {
		t.Errorf("the row is %s", job.Status)
	}
}

// TestPushWithoutPubSub: a message whose bringer is gone before it is started is left alone: it comes again. A job that
// runs is waited for.
func TestPushWithoutPubSub(t *testing.T) {
	rig := newPush(t, PushOptions{}, 1)
	ctx, leave := context.WithCancel(t.Context())
	_, block := rig.queued(t, "block")
	first, second := make(chan int, 1), make(chan int, 1)
	go func() { first <- post(ctx, rig, wrap(block)) }()
	blocked := <-rig.began
	id, message := rig.queued(t, "done")
	go func() { second <- post(ctx, rig, wrap(message)) }()
	eventually(t, func() bool { rig.hand.mu.Lock(); defer rig.hand.mu.Unlock(); return len(rig.open) == 2 })
	leave()
	eventually(t, func() bool { rig.hand.mu.Lock(); defer rig.hand.mu.Unlock(); return len(rig.open) == 1 })
	if got := <-second; got < 500 && rig.job(t, id).Status != core.Scheduled || rig.job(t, id).Attempts != 0 {
		t.Errorf("answered %d, the row is %s", got, rig.job(t, id).Status)
	}
	select {
	case got := <-first:
		t.Errorf("the job runs, and its request has ended with %d", got)
	default:
	}
	if err := rig.stop(); err != nil {
		t.Error(err)
	}
	if got := <-first; got != 204 || rig.job(t, blocked).Status != core.Scheduled {
		t.Errorf("answered %d, the row is %s", got, rig.job(t, blocked).Status)
	}
}

func TestNewPushRefuses(t *testing.T) {
	for _, o := range []PushOptions{{}, {Store: brokenStore{}, Deadline: time.Second}, {Store: brokenStore{}, Deadline: time.Hour}} {
		if p, err := NewPush(o); err == nil || p != nil {
			t.Errorf("%+v is taken", o)
		}
	}
	p, err := NewPush(PushOptions{Store: brokenStore{}})
	if err != nil || p.MaxTime() != 9*time.Minute {
		t.Errorf("an attempt may take %s, want 9m: %v", p.MaxTime(), err)
	}
	if _, err := p.OpenTopic(t.Context(), core.Default); err == nil {
		t.Error("a topic")
	}
}

// TestPushGivenBackAtTheEnd: what a worker has received and does not start any more does not wait for another one.
func TestPushGivenBackAtTheEnd(t *testing.T) {
	p, err := NewPush(PushOptions{Store: brokenStore{}})
	if err != nil {
		t.Fatal(err)
	}
	m := p.add(core.Message{ID: 1, Priority: core.Default}.Encode())
	if got, _, _ := p.take(core.Default, 5, time.Now()); len(got) != 1 || m.state != inHand {
		t.Fatalf("%d in hand", len(got))
	}
	p.Stop()
	if m.state != inHand {
		t.Errorf("the stop took it out of the worker's hand")
	}
	if err := m.Release(t.Context(), time.Second); err != nil || p.stateOf(m) != left {
		t.Errorf("given back, it is in state %d, %v", p.stateOf(m), err)
	}
	<-m.settled
	if p.add(nil) != nil {
		t.Error("another one was taken")
	}
}
