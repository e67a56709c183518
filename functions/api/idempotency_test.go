package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/functions/api"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/internal/testenv"
)

const key = "Idempotency-Key"

// same wants two answers to be one, byte for byte, the second marked as a replay.
func same(t *testing.T, first, again Writer) {
	t.Helper()
	if again.status != first.status || again.body != first.body || again.header.Get("Location") != first.header.Get("Location") || again.header.Get("Content-Type") != first.header.Get("Content-Type") {
		t.Errorf("answers\n%d %s\n%d %s", first.status, first.body, again.status, again.body)
	}
	if first.header.Get("Idempotency-Replayed") != "" || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("replayed: %q, then %q", first.header.Get("Idempotency-Replayed"), again.header.Get("Idempotency-Replayed"))
	}
}

func (b *bench) count() int {
	b.t.Helper()
	return strings.Count(b.do("GET", "/v1/jobs?limit=1000", "").want(b.t, http.StatusOK).body, `"status":`)
}

func TestKeyedSubmitIsReplayed(t *testing.T) {
	b := newBench(t)
	body := `{"type":"echo","payload":{ "a":1e5,"b":"\u2028<&>" },"tags":["x"]}`
	first := b.do("POST", "/v1/jobs", body, key, "k").want(t, http.StatusCreated)
	poked := len(b.poked)
	id := decode[job](t, first).ID
	b.do("POST", "/v1/jobs/"+id+"/cancel", "").want(t, http.StatusOK) // the answer stays the first one all the same
	same(t, first, b.do("POST", "/v1/jobs", body, key, "k"))
	if poked != 1 || len(b.poked) != 1 || b.count() != 1 {
		t.Errorf("told %d times of %d jobs", len(b.poked), b.count())
	}
	for _, other := range []string{`{"type":"echo"}`, body + " ", strings.Replace(body, "1e5", "100000", 1)} {
		got := b.do("POST", "/v1/jobs", other, key, "k").want(t, http.StatusUnprocessableEntity)
		if !strings.Contains(got.body, `"field":"Idempotency-Key"`) || !strings.Contains(got.body, "another request") {
			t.Errorf("another body: %s", got.body)
		}
	}
	b.do("POST", "/v1/jobs/batch", body, key, "k").want(t, http.StatusUnprocessableEntity)
	b.do("POST", "/v1/jobs", body, key, "K").want(t, http.StatusCreated)
	if n := b.count(); n != 2 {
		t.Errorf("%d jobs", n)
	}
}

func TestKeyedDuplicateIsReplayed(t *testing.T) {
	b := newBench(t)
	held := b.submit(`{"type":"echo","dedupe_key":"d"}`)
	first := b.do("POST", "/v1/jobs", `{"type":"echo","dedupe_key":"d"}`, key, "k").want(t, http.StatusOK)
	if j := decode[job](t, first); j.ID != held.ID || !j.Duplicate {
		t.Errorf("%+v", j)
	}
	b.do("POST", "/v1/jobs/"+held.ID+"/cancel", "").want(t, http.StatusOK)
	same(t, first, b.do("POST", "/v1/jobs", `{"type":"echo","dedupe_key":"d"}`, key, "k"))
}

func TestKeyedBatchIsReplayed(t *testing.T) {
	b := newBench(t)
	body := `{"jobs":[{"type":"echo"},{"type":""},{"type":"echo","dedupe_key":"d"},{"type":"echo","dedupe_key":"d"}]}`
	first := b.do("POST", "/v1/jobs/batch", body, key, "k").want(t, http.StatusOK)
	if strings.Count(first.body, `"id":`) != 3 || strings.Count(first.body, `"error":`) != 1 {
		t.Errorf("%s", first.body)
	}
	same(t, first, b.do("POST", "/v1/jobs/batch", body, key, "k"))
	if got := b.do("POST", "/v1/jobs", body, key, "k").want(t, http.StatusUnprocessableEntity); !strings.Contains(got.body, "another request") {
		t.Errorf("another call with the same body: %s", got.body)
	}
	if b.count() != 2 || len(b.poked) != 2 {
		t.Errorf("%d jobs, told of %d", b.count(), len(b.poked))
	}
	// What writes nothing keeps nothing: the key is free for a request that does.
	b.do("POST", "/v1/jobs/batch", `{"jobs":[{"type":""}]}`, key, "free").want(t, http.StatusOK)
	b.do("POST", "/v1/jobs", `{"type":""}`, key, "free").want(t, http.StatusUnprocessableEntity)
	b.do("POST", "/v1/jobs/batch", `{"jobs":[{"type":"echo"}]}`, key, "free").want(t, http.StatusOK)
	if n := b.count(); n != 3 {
		t.Errorf("%d jobs", n)
	}
}

// A request that was right is answered again although it would no longer be: its expires_at has passed meanwhile.
func TestReplayOutlivesTheRulesOfTime(t *testing.T) {
	clock := &clock{}
	b := newBench(t, func(o *api.Options) { o.Now = clock.now })
	payload := `{ "n": 1e5, "s": "` + strings.Repeat("x", 20<<10) + `" }`
	body := `{"type":"echo","tags":["x"],"priority":"bulk","payload":` + payload + `,"expires_at":"` + clock.now().Add(time.Hour).UTC().Format(time.RFC3339) + `"}`
	batch := `{"jobs":[` + body + `]}`
	one, many := b.do("POST", "/v1/jobs", body, key, "one").want(t, http.StatusCreated), b.do("POST", "/v1/jobs/batch", batch, key, "many").want(t, http.StatusOK)
	if !strings.Contains(one.body, payload) {
		t.Errorf("the first answer is without the payload: %.300s", one.body)
	}
	clock.advance(2 * time.Hour)
	b.do("POST", "/v1/jobs", body).want(t, http.StatusUnprocessableEntity)
	b.do("POST", "/v1/jobs", body, key, "new").want(t, http.StatusUnprocessableEntity)
	same(t, one, b.do("POST", "/v1/jobs", body, key, "one"))
	same(t, many, b.do("POST", "/v1/jobs/batch", batch, key, "many"))
}

// A repeat gets the first answer, whatever became of the type's definition.
func TestReplayOutlivesItsType(t *testing.T) {
	b := newBench(t)
	b.do("PUT", "/v1/types/echo", `{"max_attempts":3,"timeout":"10s","expires_after":"1h"}`).want(t, http.StatusCreated)
	body := `{"type":"echo"}`
	first := b.do("POST", "/v1/jobs", body, key, "k").want(t, http.StatusCreated)
	if !strings.Contains(first.body, `"max_attempts":3`) {
		t.Errorf("the type says nothing: %s", first.body)
	}
	b.do("PUT", "/v1/types/echo", `{"max_attempts":9}`).want(t, http.StatusOK)
	same(t, first, b.do("POST", "/v1/jobs", body, key, "k"))
}

// Keys are each token's own, and are forgotten after their time.
func TestKeysArePerTokenAndForgotten(t *testing.T) {
	b := newBench(t, func(o *api.Options) { o.KeepKeys = time.Hour })
	one, two := b.keep(core.Token{Role: core.RoleSubmit, Tenant: "a"}), b.keep(core.Token{Role: core.RoleSubmit, Tenant: "b"})
	body := `{"type":"echo"}`
	first := b.as(one, "POST", "/v1/jobs", body, key, "k").want(t, http.StatusCreated)
	other := b.as(two, "POST", "/v1/jobs", body, key, "k").want(t, http.StatusCreated)
	if other.header.Get("Idempotency-Replayed") != "" || decode[job](t, other).Tenant != "b" {
		t.Errorf("another token's key was replayed: %s", other.body)
	}
	same(t, first, b.as(one, "POST", "/v1/jobs", body, key, "k"))
	b.offset.Add((61 * time.Minute).Microseconds())
	if again := b.as(one, "POST", "/v1/jobs", body, key, "k").want(t, http.StatusCreated); again.header.Get("Idempotency-Replayed") != "" {
		t.Error("a key is replayed after its time")
	}
}

// fallible is a store whose first calls do not get to render, as when the process dies there.
type fallible struct {
	call.Submitter
	left int
}

func (f *fallible) WriteOnce(ctx context.Context, k core.IdempotencyKey, jobs []core.CheckedJob, render func([]core.Submitted) (core.Answer, error)) (core.Once, error) {
	return f.Submitter.WriteOnce(ctx, k, jobs, func(answers []core.Submitted) (core.Answer, error) {
		if f.left--; f.left >= 0 {
			return core.Answer{}, errors.New("the end comes between the jobs and the key")
		}
		return render(answers)
	})
}

func (f *fallible) WriteOneOnce(ctx context.Context, k core.IdempotencyKey, job core.CheckedJob, render func(*core.NewJob, core.Submitted) core.Answer) (core.Once, error) {
	n := job.NewJob()
	return f.WriteOnce(ctx, k, []core.CheckedJob{job}, func(answers []core.Submitted) (core.Answer, error) { return render(&n, answers[0]), nil })
}

func TestNothingIsLeftBetween(t *testing.T) {
	b := newBench(t, func(o *api.Options) { o.Submitter = &fallible{o.Submitter, 1} })
	b.do("POST", "/v1/jobs", `{"type":"echo","dedupe_key":"d"}`, key, "k").want(t, http.StatusInternalServerError)
	if n := b.count(); n != 0 {
		t.Errorf("%d jobs", n)
	}
	if a := b.do("POST", "/v1/jobs", `{"type":"echo","dedupe_key":"d"}`, key, "k").want(t, http.StatusCreated); a.header.Get("Idempotency-Replayed") != "" {
		t.Error("the key was left")
	}
}

// 64 calls at once with one key, on the store where they can overlap: one job, and each caller gets its answer or is
// told to come again.
func TestKeyedCallsAtOnce(t *testing.T) {
	address := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), address, postgres.Options{PoolSize: 16})
	if err != nil {
		t.Fatal(err)
	}
	a, err := api.New(api.Options{Submitter: submit.New(store, submit.Options{}), Jobs: store, Stats: store})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		a.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	call := func() *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/jobs", strings.NewReader(`{"type":"echo"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(key, "k")
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		return w
	}
	answers := make([]*httptest.ResponseRecorder, 64)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = call() })
	}
	all.Wait()
	outcomes := map[string]int{}
	last := call()
	for _, w := range answers {
		outcome := fmt.Sprintf("%d %s %s", w.Code, w.Header().Get("Idempotency-Replayed"), w.Header().Get("Retry-After"))
		outcomes[strings.TrimSpace(outcome)]++
		if w.Code == http.StatusCreated && w.Body.String() != last.Body.String() {
			t.Errorf("answers\n%s\n%s", w.Body, last.Body)
		}
	}
	if outcomes["201"] != 1 || outcomes["201"]+outcomes["201 true"]+outcomes["409  1"] != 64 {
		t.Errorf("outcomes %v", outcomes)
	}
	t.Log(outcomes)
	page, err := store.List(t.Context(), core.ListQuery{Limit: 10})
	if err != nil || len(page.Jobs) != 1 {
		t.Errorf("%d jobs, %v", len(page.Jobs), err)
	}
}
