package nodetest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// A transaction that stays open after it has submitted a key, or cancelled a job, and ten calls a second over HTTP that
// want the same: they are told to come back, and nobody else notices, on four connections for everything.
func TestOpenTransactionsStopNobodyElse(t *testing.T) {
	for name, c := range map[string]struct{ sql, path, body string }{
		"a key":   {"SELECT belfry.submit('held', dedupe_key => 'K')", "/v1/jobs", `{"type": "echo", "dedupe_key": "K"}`},
		"a job":   {"SELECT belfry.cancel($1::bigint)", "/v1/jobs/%s/cancel", ""},
		"its key": {"SELECT belfry.cancel($1::bigint)", "/v1/jobs", `{"type": "echo", "dedupe_key": "mine"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("BELFRY_LEASE", "3s")
			t.Setenv("BELFRY_HEARTBEAT", "1s")
			address := testenv.Postgres(t)
			if err := postgres.Migrate(t.Context(), address); err != nil {
				t.Fatal(err)
			}
			store, err := postgres.Open(t.Context(), address, postgres.Options{PoolSize: 4})
			if err != nil {
				t.Fatal(err)
			}
			at := StartOn(t, "all", store)
			mine := submitted(t, at, `{"type": "later", "delay": "1h", "dedupe_key": "mine"}`)
			running := submitted(t, at, `{"type": "sleep", "payload": {"ms": 6000}}`)
			conn, err := pgx.Connect(t.Context(), address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.WithoutCancel(t.Context()))
			tx, err := conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var args []any
			if strings.Contains(c.sql, "$1") {
				args = append(args, mine)
			}
			if _, err := tx.Exec(t.Context(), c.sql, args...); err != nil {
				t.Fatal(err)
			}
			path := c.path
			if strings.Contains(path, "%s") {
				path = fmt.Sprintf(path, mine)
			}
			flood(t, at, path, c.body, running)
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			if status, said := call(t, "POST", at+path, c.body); status == http.StatusServiceUnavailable {
				t.Errorf("once it is free: %d %s", status, said)
			}
		})
	}
}

// flood sends ten calls a second until the running job is done, and looks at everybody else meanwhile.
func flood(t *testing.T, at, path, body, running string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	defer calls.Wait()
	defer stop()
	var refused, other atomic.Int64
	calls.Go(func() {
		beat := time.NewTicker(100 * time.Millisecond)
		defer beat.Stop()
		for {
			select {
			case <-beat.C:
			case <-ctx.Done():
				return
			}
			calls.Go(func() {
				if status, _ := call(t, "POST", at+path, body); status == http.StatusServiceUnavailable {
					refused.Add(1)
				} else if ctx.Err() == nil {
					other.Add(1)
				}
			})
		}
	})
	for n := 0; ; n++ {
		for what, do := range map[string]func() (int, string){
			"readiness": func() (int, string) { return call(t, "GET", at+"/readyz", "") },
			"another key": func() (int, string) {
				return call(t, "POST", at+"/v1/jobs", fmt.Sprintf(`{"type": "echo", "dedupe_key": "free%d"}`, n))
			},
			"a job without a key":     func() (int, string) { return call(t, "POST", at+"/v1/jobs", `{"type": "echo"}`) },
			"the jobs that there are": func() (int, string) { return call(t, "GET", at+"/v1/jobs?limit=5", "") },
		} {
			if status, said := do(); status/100 != 2 {
				t.Errorf("%s: %d %s", what, status, said)
			}
		}
		_, said := call(t, "GET", at+"/v1/jobs/"+running, "")
		if strings.Contains(said, `"status":"done"`) {
			if !strings.Contains(said, `"attempts":1,`) || refused.Load() == 0 || other.Load() > 0 {
				t.Errorf("%d were told to come back, %d not; the job that ran meanwhile: %s", refused.Load(), other.Load(), said)
			}
			t.Logf("%d rounds, %d calls were told to come back", n, refused.Load())
			return
		}
		if t.Failed() || !strings.Contains(said, `"status":"running"`) && !strings.Contains(said, `"status":"scheduled"`) {
			t.Fatalf("the job that ran meanwhile: %s", said)
		}
	}
}

func submitted(t *testing.T, at, body string) (id string) {
	t.Helper()
	status, said := call(t, "POST", at+"/v1/jobs", body)
	var job struct{ ID string }
	if err := json.Unmarshal([]byte(said), &job); err != nil || status != http.StatusCreated {
		t.Fatalf("%d %s, %v", status, said, err)
	}
	return job.ID
}

// call sends one request and gives it ten seconds.
func call(t *testing.T, method, url, body string) (status int, said string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(text)
}
