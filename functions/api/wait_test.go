package api_test

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api"
	"github.com/belfry-dev/belfry/functions/api/call"
)

// waitStore is a store in memory whose jobs end when told to. It counts the looks at all of them.
type waitStore struct {
	core.JobStore
	core.StatsStore
	call.Submitter
	mu    sync.Mutex
	jobs  map[int64]core.Status
	looks []time.Time
	asked [][]int64
}

func (s *waitStore) Get(_ context.Context, id int64) (core.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status, ok := s.jobs[id]
	if !ok {
		return core.Job{}, core.ErrNotFound
	}
	return core.Job{ID: id, Type: "echo", Status: status, Priority: core.Default, RunAt: at(0), CreatedAt: at(0), MaxAttempts: 5}, nil
}

func (s *waitStore) Ended(_ context.Context, ids []int64) (map[int64]core.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks = append(s.looks, time.Now())
	s.asked = append(s.asked, slices.Sorted(slices.Values(ids)))
	ended := maps.Clone(s.jobs)
	maps.DeleteFunc(ended, func(id int64, status core.Status) bool { return !status.Ended() || !slices.Contains(ids, id) })
	return ended, nil
}

func (s *waitStore) set(id int64, status core.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[id] = status
}

// waiting is one request for a job with ?wait=.
func waiting(ctx context.Context, a *api.API, target string) <-chan *httptest.ResponseRecorder {
	done := make(chan *httptest.ResponseRecorder, 1)
	go func() {
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", target, nil))
		done <- w
	}()
	return done
}

func newWaitAPI(t *testing.T, s *waitStore, limits api.Limits) *api.API {
	t.Helper()
	a, err := api.New(api.Options{Submitter: s, Jobs: s, Stats: s, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func statusOf(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	return decode[job](t, Writer{w.Code, w.Result().Header, w.Body.String()}).Status
}

// All that wait share one statement, asked ever less often; each is answered when its job ends, or with the
// job as it stands when its time is over.
func TestWaitSharesOneLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &waitStore{jobs: map[int64]core.Status{1: core.Running, 2: core.Scheduled, 3: core.Running, 4: core.Done}}
		a := newWaitAPI(t, s, api.Limits{})
		defer a.Close()
		start := time.Now()
		if w := <-waiting(t.Context(), a, "/v1/jobs/4?wait=10s"); statusOf(t, w) != "done" || time.Since(start) != 0 {
			t.Errorf("a job that had ended was waited for: %s", w.Body)
		}
		one, two, again := waiting(t.Context(), a, "/v1/jobs/1?wait=10s"), waiting(t.Context(), a, "/v1/jobs/2?wait=60s"), waiting(t.Context(), a, "/v1/jobs/1?wait=3s")
		time.Sleep(5 * time.Second)
		if w := <-again; statusOf(t, w) != "running" {
			t.Errorf("after its time: %s", w.Body)
		}
		s.set(1, core.Failed)
		if w := <-one; statusOf(t, w) != "failed" {
			t.Errorf("after it failed: %s", w.Body)
		}
		if waited := time.Since(start); waited > 5*time.Second+250*time.Millisecond {
			t.Errorf("told %s after the start", waited)
		}
		if w := <-two; statusOf(t, w) != "scheduled" || time.Since(start) != time.Minute {
			t.Errorf("after %s: %s", time.Since(start), w.Body)
		}
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.looks) > 4*60+20 || s.looks[0].Sub(start) != 25*time.Millisecond || s.looks[len(s.looks)-1].Sub(s.looks[len(s.looks)-2]) != 250*time.Millisecond {
			t.Errorf("%d looks, the first after %s", len(s.looks), s.looks[0].Sub(start))
		}
		if !slices.Equal(s.asked[0], []int64{1, 2}) {
			t.Errorf("asked for %v", s.asked[0])
		}
	})
}

// Requests that keep coming do not put the look off.
func TestWaitLooksUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &waitStore{jobs: map[int64]core.Status{1: core.Running}}
		a := newWaitAPI(t, s, api.Limits{})
		defer a.Close()
		first := waiting(t.Context(), a, "/v1/jobs/1?wait=50s")
		var others []<-chan *httptest.ResponseRecorder
		for range 100 {
			time.Sleep(10 * time.Millisecond)
			others = append(others, waiting(t.Context(), a, "/v1/jobs/1?wait=50s"))
		}
		s.mu.Lock()
		looks := len(s.looks)
		s.mu.Unlock()
		if looks < 20 || looks > 60 {
			t.Errorf("%d looks in a second", looks)
		}
		s.set(1, core.Done)
		for _, done := range append(others, first) {
			if w := <-done; statusOf(t, w) != "done" {
				t.Errorf("%s", w.Body)
			}
		}
	})
}

// A finish in this process is told at once, and a word that proves wrong costs nothing.
func TestWaitIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &waitStore{jobs: map[int64]core.Status{1: core.Running}}
		a := newWaitAPI(t, s, api.Limits{})
		defer a.Close()
		done := waiting(t.Context(), a, "/v1/jobs/1?wait=50s")
		time.Sleep(7 * time.Second)
		a.Ended(1, 99) // not yet
		synctest.Wait()
		time.Sleep(7*time.Second + time.Millisecond)
		s.set(1, core.Done)
		now := time.Now()
		a.Ended(1)
		if w := <-done; statusOf(t, w) != "done" || time.Since(now) != 0 {
			t.Errorf("%s after %s", w.Body, time.Since(now))
		}
	})
}

// A client that leaves ends its wait, and the poller with it: the bubble ends although nobody calls Close.
func TestWaitEndsWithTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &waitStore{jobs: map[int64]core.Status{1: core.Running}}
		a := newWaitAPI(t, s, api.Limits{Waits: 1})
		ctx, leave := context.WithCancel(t.Context())
		done := waiting(ctx, a, "/v1/jobs/1?wait=50s")
		synctest.Wait()
		if w := <-waiting(t.Context(), a, "/v1/jobs/1?wait=50s"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("one too many was answered %d %s", w.Code, w.Body)
		}
		leave()
		<-done
		time.Sleep(time.Second)
		s.mu.Lock()
		before := len(s.looks)
		s.mu.Unlock()
		time.Sleep(time.Minute)
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.looks) != before {
			t.Errorf("%d looks for nobody", len(s.looks)-before)
		}
	})
}

func TestCloseEndsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &waitStore{jobs: map[int64]core.Status{1: core.Running}}
		a := newWaitAPI(t, s, api.Limits{})
		done := waiting(t.Context(), a, "/v1/jobs/1?wait=50s")
		synctest.Wait()
		a.Close()
		if w := <-done; w.Code != http.StatusServiceUnavailable {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if w := <-waiting(t.Context(), a, "/v1/jobs/1?wait=50s"); w.Code != http.StatusServiceUnavailable {
			t.Errorf("after Close: %d %s", w.Code, w.Body)
		}
	})
}

// On a real store a wait ends with the job.
func TestWaitOnAStore(t *testing.T) {
	b := newBench(t)
	j := b.submit(`{"type":"echo"}`)
	done := waiting(t.Context(), b.api, "/v1/jobs/"+j.ID+"?wait=30s")
	b.end("echo", core.EndDone, `{"ok":true}`)
	w := <-done
	got := decode[job](t, Writer{w.Code, w.Result().Header, w.Body.String()})
	if got.Status != "done" || string(got.Result) != `{"ok":true}` {
		t.Errorf("%s", w.Body)
	}
}
