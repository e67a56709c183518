package rietest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// invoker stands for Lambda's API: it invokes the tick in an environment that is free, and answers before that has ended.
type invoker struct {
	*httptest.Server
	mu    sync.Mutex
	wakes int
	ticks sync.WaitGroup
	free  chan *function
}

func newInvoker(t *testing.T, environments ...*function) *invoker {
	t.Helper()
	i := &invoker{free: make(chan *function, len(environments))}
	for _, f := range environments {
		i.free <- f
	}
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/2015-03-31/functions/belfry-tick/invocations" || r.Header.Get("X-Amz-Invocation-Type") != "Event" {
			t.Errorf("%s %s %v: %v", r.Method, r.URL.Path, r.Header, err)
		}
		i.mu.Lock()
		i.wakes++
		i.mu.Unlock()
		i.ticks.Go(func() {
			tick := <-i.free
			defer func() { i.free <- tick }()
			if said, err := tick.tryInvoke(context.WithoutCancel(t.Context()), json.RawMessage(body)); err != nil || string(said) != "null" {
				t.Errorf("the tick that was woken answers %s, %v", said, err)
			}
		})
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(i.Close)
	return i
}

// TestTickEndsIdle: a tick with nothing to do ends and then leaves the database alone; a job that is submitted for a few
// seconds later wakes it, and so does a retry.
func TestTickEndsIdle(t *testing.T) {
	address, store := database(t)
	client, queue, env := queues(t)
	env = append(env, "BELFRY_DATABASE_URL="+address, "BELFRY_TICK_IDLE=1m", "BELFRY_TICK_SLEEP=10m")
	var event map[string]any
	document(t, "schedule.json", &event)
	tick := start(t, "tick", 110, append(env, "PGAPPNAME=the-tick")...)
	began := time.Now()
	for range 2 { // the second does not ask the database
		if said := string(tick.invoke(t, event)); said != "null" {
			t.Fatalf("the tick answers %s", said)
		}
	}
	if time.Since(began) > patience/2 {
		t.Error("a tick with nothing to do goes on until its deadline")
	}
	noConnections(t, address, "the-tick") // a serverless database does not pause while there is one
	lambda := newInvoker(t, tick, start(t, "tick", 110, env...))
	env = append(env, "BELFRY_TICK_WAKE=belfry-tick", "AWS_ENDPOINT_URL_LAMBDA="+lambda.URL)
	api := start(t, "api", 30, append(env, "BELFRY_TOKENS="+token)...)
	worker := start(t, "worker", 30, env...)
	submit := func(job string) (id int64) {
		answer := buffered(t, api.invoke(t, request(t, "function-url.json", "POST", "/v1/jobs", "", job)))
		var made struct{ ID string }
		if err := json.Unmarshal([]byte(answer.Body), &made); err != nil || answer.StatusCode != 201 {
			t.Fatalf("submit: %v: %+v", err, answer)
		}
		if _, err := fmt.Sscan(made.ID, &id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	submit(`{"type": "echo", "delay": "3h"}`)
	if lambda.wakes != 0 {
		t.Error("a job that is due in hours wakes the tick")
	}
	soon := submit(`{"type": "echo", "delay": "2s"}`)
	work(t, store, worker, client, queue, []int64{soon})
	once(t, store, []int64{soon})
	again := submit(`{"type": "fail", "payload": {"times": 1}, "backoff": ["2s"], "delay": "1s"}`)
	work(t, store, worker, client, queue, []int64{again})
	if job, err := store.Get(t.Context(), again); err != nil || job.Attempts != 2 {
		t.Errorf("after a retry: %+v, %v", job, err)
	}
	lambda.ticks.Wait() // they end by themselves: nothing is due but in hours
	lambda.mu.Lock()
	defer lambda.mu.Unlock()
	if lambda.wakes < 1 || lambda.wakes > 6 {
		t.Errorf("the tick was woken %d times", lambda.wakes)
	}
	if strings.Contains(tick.log.String(), "panic") {
		t.Error("the tick panicked")
	}
}

// noConnections asserts that the application closed its connections itself: a process that is not frozen would close them a minute
// later.
func noConnections(t *testing.T, address, application string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for n, deadline := 1, time.Now().Add(20*time.Second); n > 0; { // the server takes a moment to see that one was closed
		if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1", application).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatalf("it sleeps with %d open connections", n)
		}
	}
}
