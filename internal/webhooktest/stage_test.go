package webhooktest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/local"
	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host/node"
	"github.com/belfry-dev/belfry/functions/worker"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// patience bounds every wait of these tests.
const patience = 90 * time.Second

// secret signs what these tests deliver; no log may hold it.
var secret = secretOf("canary-of-the-signing-key-00000")

func secretOf(key string) string { return "whsec_" + base64.StdEncoding.EncodeToString([]byte(key)) }

// layout is a way to run Belfry.
type layout struct {
	name     string
	postgres bool
	queue    bool
	roles    []string // one for each node; each has a store of its own
}

var layouts = []layout{
	{"SQLite, direct, one node", false, false, []string{"all"}},
	{"SQLite, queue in memory, one node", false, true, []string{"all"}},
	{"PostgreSQL, direct, three nodes", true, false, []string{"api", "tick", "worker"}},
	{"PostgreSQL, queue in memory, two nodes", true, true, []string{"api", "tick,worker"}},
}

// stage is Belfry at work.
type stage struct {
	t     testing.TB
	url   string
	store core.Store // of the node with the API: to look at what the API does not show
	log   *testenv.Log
	stop  func() // ends it before its test does
}

// change makes a stage of other settings or parts.
type change func(*node.Parts)

// start runs a layout until the test ends.
func start(t testing.TB, l layout, changes ...change) *stage {
	t.Helper()
	return startOn(t, l, opener(t, l), changes...)
}

// startOn is start on a store that may have been in use before.
func startOn(t testing.TB, l layout, open func() core.Store, changes ...change) *stage {
	t.Helper()
	s := &stage{t: t, log: &testenv.Log{}}
	ctx, cancel := context.WithCancel(context.Background())
	var nodes sync.WaitGroup
	var queue core.Queue
	if l.queue {
		queue = openQueue(t)
	}
	for _, roles := range l.roles {
		parts := s.parts(t, roles, open(), changes...)
		if parts.Roles.Tick || parts.Roles.Worker {
			parts.Queue = queue
		}
		ready := make(chan struct{})
		parts.Ready = func() { close(ready) }
		ended := make(chan struct{})
		nodes.Go(func() {
			defer close(ended)
			if err := node.Run(ctx, parts); err != nil {
				t.Errorf("%s: %v", roles, err)
			}
			if err := parts.Store.Close(); err != nil {
				t.Errorf("%s: %v", roles, err)
			}
		})
		select {
		case <-ready:
		case <-ended:
			cancel()
			t.Fatalf("%s did not start", roles)
		}
	}
	s.stop = sync.OnceFunc(func() { cancel(); nodes.Wait() })
	t.Cleanup(s.stop)
	return s
}

// parts are those of one node.
func (s *stage) parts(t testing.TB, roles string, store core.Store, changes ...change) node.Parts {
	t.Helper()
	settings, err := boot.ReadSettings()
	if err != nil {
		t.Fatal(err)
	}
	settings.Tick, settings.StopGrace, settings.Workers = 100*time.Millisecond, time.Second, 16
	settings.WebhookSecrets, settings.WebhookAllow = []string{secret}, []string{"127.0.0.0/8"}
	settings.WebhookPerHost, settings.WebhookFailures, settings.WebhookPause = 4, 5, 50*time.Millisecond
	parsed, err := node.ParseRoles(roles)
	if err != nil {
		t.Fatal(err)
	}
	p := node.Parts{
		Settings: settings, Roles: parsed, Store: store, Handlers: worker.Tryout(), Version: "test",
		Log: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, change := range changes {
		change(&p)
	}
	if parsed.API {
		if p.Listener, err = new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		s.url, s.store = "http://"+p.Listener.Addr().String(), store
	}
	return p
}

// opener opens the layout's store, once for each node.
func opener(t testing.TB, l layout) func() core.Store {
	t.Helper()
	if !l.postgres {
		path := filepath.Join(t.TempDir(), "belfry.db")
		return func() core.Store {
			store, err := sqlite.Open(t.Context(), path, sqlite.Options{NoSync: true})
			if err != nil {
				t.Fatal(err)
			}
			return store
		}
	}
	database := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	return func() core.Store {
		store, err := postgres.Open(t.Context(), database, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
}

func openQueue(t testing.TB) core.Queue {
	t.Helper()
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(t.Name()))
	queue, err := local.Open(map[core.Priority]string{
		core.Critical: "mem://" + name + "-critical", core.Default: "mem://" + name + "-default", core.Bulk: "mem://" + name + "-bulk",
	})
	if err != nil {
		t.Fatal(err)
	}
	return queue
}

// job is the part of a job document that these tests look at.
type job struct {
	ID           string          `json:"id"`
	Status       string          `json:"status"`
	Attempts     int             `json:"attempts"`
	MaxAttempts  int             `json:"max_attempts"`
	CancelWanted bool            `json:"cancel_wanted"`
	Result       json.RawMessage `json:"result"`
	WorkerID     string          `json:"worker_id"`
	LeaseUntil   time.Time       `json:"lease_until"`
	Errors       []struct{ Error, Kind string }
}

// call makes a call of the API and reads its answer into out, unless that is nil.
func (s *stage) call(method, path, body string, out any) (status int, text string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	if err == nil && out != nil && resp.StatusCode < 300 {
		err = json.Unmarshal(read, out)
	}
	if err != nil {
		s.t.Fatalf("%s %s: %v: %s", method, path, err, read)
	}
	return resp.StatusCode, string(read)
}

// must is call, whose status must be this one.
func (s *stage) must(status int, method, path, body string, out any) {
	s.t.Helper()
	if got, text := s.call(method, path, body, out); got != status {
		s.t.Fatalf("%s %s: status %d, want %d: %s", method, path, got, status, text)
	}
}

// submit submits a job to a target; more are further members.
func (s *stage) submit(target, more string) job {
	s.t.Helper()
	var j job
	s.must(http.StatusCreated, "POST", "/v1/jobs", fmt.Sprintf(`{"type":"hook","target":{"url":%q}%s}`, target, more), &j)
	return j
}

func (s *stage) get(id string) (j job) {
	s.t.Helper()
	s.must(http.StatusOK, "GET", "/v1/jobs/"+id, "", &j)
	return j
}

// ended waits until a job has ended, and it must have ended so.
func (s *stage) ended(id, status string) (j job) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		s.must(http.StatusOK, "GET", "/v1/jobs/"+id+"?wait=20s", "", &j)
		switch {
		case j.Status == status:
			return j
		case j.Status == "done" || j.Status == "failed" || j.Status == "cancelled" || time.Now().After(deadline):
			s.t.Fatalf("job %s is %s, want %s: %+v", id, j.Status, status, j)
		}
	}
}

// report makes one of the calls by lease token.
func (s *stage) report(status int, id, act, token, more string, out any) {
	s.t.Helper()
	s.must(status, "POST", "/v1/jobs/"+id+"/"+act, `{"lease_token":"`+token+`"`+more+`}`, out)
}

// until polls until done, at most for patience.
func until(t testing.TB, what string, done func() bool) {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); !done(); <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
	}
}
