package gcp

import (
	"context"
	"encoding/json"
	"errors"
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

// pushRig is an endpoint and its worker on a store of its own.
type pushRig struct {
	http.Handler
	store *sqlite.Store
	stop  func() error // stops the worker
	mu    sync.Mutex
	told  []PushAnswer
	began chan int64 // ids of jobs that started blocking
}

// newPush starts a pushRig. Its deadline may be shorter than users may configure. The handlers are for the types "done",
// "fail" and "block", which blocks until its context ends.
func newPush(t *testing.T, o PushOptions, slots int) *pushRig {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	rig := &pushRig{store: store, began: make(chan int64, 100)}
	o.OnAnswer = func(a PushAnswer) {
		rig.mu.Lock()
		defer rig.mu.Unlock()
		rig.told = append(rig.told, a)
	}
	deadline := o.Deadline
	o.Deadline = 0
	push, err := NewPush(o)
	if err != nil {
		t.Fatal(err)
	}
	if deadline > 0 {
		push.opts.Deadline = deadline
	}
	w, err := work.New(store, core.Handlers{
		"done": core.HandlerFunc(func(context.Context, *core.Job) (json.RawMessage, error) { return nil, nil }),
		"fail": core.HandlerFunc(func(context.Context, *core.Job) (json.RawMessage, error) { return nil, fmt.Errorf("failed") }),
		"block": core.HandlerFunc(func(ctx context.Context, job *core.Job) (json.RawMessage, error) {
			rig.began <- job.ID
			<-ctx.Done()
			return nil, ctx.Err()
		}),
	}, work.Options{ID: "w", Slots: slots, CriticalSlots: -1, StopGrace: 50 * time.Millisecond, MaxTime: push.MaxTime()})
	if err != nil {
		t.Fatal(err)
	}
	rig.Handler = push.Handler(w)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Serve(ctx) }()
	rig.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { _ = rig.stop(); _ = store.Close() })
	return rig
}

// queued writes a job as marked by the scheduler, and returns its id and its message.
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

// wrap returns a message in Pub/Sub's envelope.
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

// TestPushHandsBackWhatCannotStart: if no slot is free in time, the row is handed back without an attempt.
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
	// The running job's context ends nine tenths of the deadline after its start, and that is recorded as a timeout.
	if got := <-running; got != 204 {
		t.Errorf("answered %d", got)
	}
	if job := rig.job(t, blocked); job.Status != core.Scheduled || job.Attempts != 1 || len(job.Errors) != 1 || job.Errors[0].Kind != core.KindTimeout {
		t.Errorf("%s after %d attempts, %+v", job.Status, job.Attempts, job.Errors)
	}
}

// TestPushAtTheEnd: running jobs are handed back and answered with 204, and later messages are refused.
func TestPushAtTheEnd(t *testing.T) {
	rig := newPush(t, PushOptions{}, 1)
	blocked, block := rig.queued(t, "block")
	running := make(chan int, 1)
	go func() { running <- post(context.WithoutCancel(t.Context()), rig, wrap(block)) }()
	<-rig.began
	if err := rig.stop(); err != nil {
		t.Error(err)
	}
	if got := <-running; got != 204 {
		t.Errorf("answered %d", got)
	}
	if job := rig.job(t, blocked); job.Status != core.Scheduled || job.Attempts != 0 {
		t.Errorf("%s after %d attempts", job.Status, job.Attempts)
	}
	id, message := rig.queued(t, "done")
	if got := post(t.Context(), rig, wrap(message)); got != 503 || rig.job(t, id).Status != core.Queued {
		t.Errorf("after the end: %d, %s", got, rig.job(t, id).Status)
	}
}

// pushFunc implements PushWorker.
type pushFunc func(ctx context.Context, messages [][]byte, o work.PushOptions) ([]work.Verdict, error)

func (f pushFunc) Push(ctx context.Context, messages [][]byte, o work.PushOptions) ([]work.Verdict, error) {
	return f(ctx, messages, o)
}

// TestPushTellsVerdicts: Pub/Sub must send a message again only if its row was not written. Every answer but 204 is reported
// with a reason. A job must start within a twentieth of the deadline.
func TestPushTellsVerdicts(t *testing.T) {
	lost := errors.New("hand back: lost")
	for _, c := range []struct {
		verdict work.Verdict
		err     error
		status  int
	}{
		{work.Finished, nil, 204}, {work.HandedBack, nil, 204}, {work.Unreadable, nil, 400}, {work.Unrecorded, nil, 503},
		{work.Unrecorded, lost, 503}, {work.Abandoned, nil, 503}, {work.Stopped, nil, 503},
	} {
		var told PushAnswer
		push, err := NewPush(PushOptions{Deadline: time.Minute, OnAnswer: func(a PushAnswer) { told = a }})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		push.Handler(pushFunc(func(_ context.Context, messages [][]byte, o work.PushOptions) ([]work.Verdict, error) {
			if len(messages) != 1 || string(messages[0]) != "body" || o.AnswerBy.Sub(o.StartBy) != 57*time.Second || o.MaxReleases != 0 {
				t.Errorf("pushed %q, %+v", messages, o)
			}
			return []work.Verdict{c.verdict}, c.err
		})).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/push", strings.NewReader(wrap("body"))))
		if w.Code != c.status || told.Status != c.status || (told.Err == nil) != (c.status == 204) || told.HandedBack != (c.verdict == work.HandedBack) || c.err != nil && !errors.Is(told.Err, c.err) {
			t.Errorf("verdict %d: answered %d, told %+v", c.verdict, w.Code, told)
		}
		if again := w.Header().Get("Retry-After") != ""; again != (c.status == 503) {
			t.Errorf("verdict %d: Retry-After %t", c.verdict, again)
		}
	}
}

func TestNewPushRefuses(t *testing.T) {
	for _, o := range []PushOptions{{Deadline: time.Second}, {Deadline: time.Hour}} {
		if p, err := NewPush(o); err == nil || p != nil {
			t.Errorf("%+v is taken", o)
		}
	}
	p, err := NewPush(PushOptions{})
	if err != nil || p.MaxTime() != 9*time.Minute {
		t.Errorf("an attempt may take %s, want 9m: %v", p.MaxTime(), err)
	}
}
