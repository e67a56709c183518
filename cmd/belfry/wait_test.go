package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// By itself the command says what there is; with a flag that asks for JSON that makes no sense.
func TestTheBareCommandHelps(t *testing.T) {
	r := newRig(t, "http://127.0.0.1:1")
	if out := r.ok(); !strings.Contains(out, "Available Commands:") || !strings.Contains(out, "Submit, look at and change jobs") || strings.Count(out, "\n") > 40 || r.errs != "" {
		t.Errorf("%s%s", out, r.errs)
	}
	if code := r.run("--json"); code != console.ExitUsage || r.out != "" {
		t.Errorf("%d %s", code, r.out)
	}
}

// A wait that goes on says why, once for each reason, and so does one whose time is over.
func TestWaitSaysWhyNothingHappens(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "all"))
	r.wonder = 20 * time.Millisecond
	later := r.submit("later", "--delay", "1h")
	nobody := r.submit("nobody/handles")
	failing := r.submit("fail", "--backoff", "30m")
	r.within(`"attempts":1`, "jobs", "get", failing, "--json")
	running := r.submit("sleep", "--payload", `{"ms":60000}`)
	r.within("running", "jobs", "get", running)
	r.within("UNHANDLED", "stats")
	clock := time.Now()
	r.now = func() time.Time { clock = clock.Add(time.Second); return clock } // what is left of an hour is never the same twice
	for id, says := range map[string]string{
		later:   "is scheduled for ",
		nobody:  ": no worker that lives handles its type, nobody/handles; start one that does, or cancel the job",
		failing: ", after attempt 1: failed as asked",
		running: ", attempt 1 of 5",
	} {
		var code int
		var lines []string
		for limit := 300 * time.Millisecond; len(lines) < 2 && limit < time.Minute; limit *= 2 { // a busy machine takes longer to ask why
			code = r.run("jobs", "wait", id, "--for", limit.String())
			lines = strings.Split(strings.TrimSpace(r.errs), "\n")
		}
		last := lines[len(lines)-1]
		if code != console.ExitTimeOver || !strings.HasPrefix(lines[0], "job "+id+" ") || !strings.Contains(lines[0], says) || !strings.HasPrefix(last, "belfry: job "+id+": the time to wait is over; it ") || !strings.Contains(last, says) {
			t.Errorf("%d, want %q:\n%s", code, says, r.errs)
		}
		if id == later && len(lines) != 2 {
			t.Errorf("says the same again:\n%s", r.errs)
		}
		if code := r.run("jobs", "wait", id, "--for", "100ms", "--json"); code != console.ExitTimeOver || !strings.HasPrefix(r.errs, `{"error":"job `+id) {
			t.Errorf("%d %s", code, r.errs)
		}
	}
}

// A job that is due waits for workers, or behind others: which of these the numbers tell.
func TestWhyAJobThatIsDueWaits(t *testing.T) {
	for stats, says := range map[string]string{
		`"workers":0,"types":[]`:                                   ": 7 due and 3 queued of its priority, 2 running, no worker has said lately that it runs jobs",
		`"workers":4,"types":[]`:                                   ": 7 due and 3 queued of its priority, 2 running\n",
		`"workers":4,"types":[{"type":"a","workers":2}]`:           ", 2 running, 2 workers with a handler for its type",
		`"workers":4,"types":[{"type":"a","unhandled":1}]`:         "no worker that lives handles its type, a;",
		`"workers":4,"types":[{"type":"\u001b[2J","unhandled":1}]`: "2 running\n",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if strings.HasPrefix(q.URL.Path, "/v1/stats") {
				fmt.Fprint(w, `{"queues":[{"priority":"default","due":7,"queued":3,"running":2}],`+stats+`}`)
				return
			}
			fmt.Fprint(w, `{"id":"1","type":"a","priority":"default","status":"queued","run_at":"2026-01-02T03:04:05Z"}`)
		}))
		r := newRig(t, server.URL)
		if code := r.run("jobs", "wait", "1", "--for", "1ms"); code != console.ExitTimeOver || !strings.Contains(r.errs, says) || !strings.Contains(r.errs, "it is queued, due since 2026-01-02 03:04:05Z") {
			t.Errorf("%s: %d %s", stats, code, r.errs)
		}
		server.Close()
	}
}
