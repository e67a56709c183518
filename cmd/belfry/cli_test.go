package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// rig runs command lines against one server.
type rig struct {
	t      *testing.T
	env    map[string]string
	in     string
	asks   bool
	bars   bool
	width  int
	wonder time.Duration // zero means for ever
	trip   http.RoundTripper
	ctx    context.Context
	out    string
	errs   string
	now    func() time.Time
}

func newRig(t *testing.T, address string) *rig {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	env := map[string]string{}
	if address != "" {
		env["BELFRY_URL"] = address
	}
	return &rig{t: t, env: env, trip: transport, ctx: t.Context(), now: time.Now}
}

// run runs one command line and returns its exit code.
func (r *rig) run(args ...string) int {
	r.t.Helper()
	var out, errs bytes.Buffer
	a := &console.App{
		In: strings.NewReader(r.in), Out: &out, Errs: &errs, Env: func(name string) (string, bool) { text, set := r.env[name]; return text, set }, Now: r.now,
		Width: func() int { return r.width }, Wonder: cmp.Or(r.wonder, time.Hour), Asks: r.asks, Bars: r.bars, Transport: r.trip,
	}
	code := run(r.ctx, a, args)
	r.out, r.errs = out.String(), errs.String()
	return code
}

// ok runs a command line that must succeed and returns what it printed.
func (r *rig) ok(args ...string) string {
	r.t.Helper()
	if code := r.run(args...); code != console.ExitOK {
		r.t.Fatalf("belfry %s ended with %d\n%s%s", strings.Join(args, " "), code, r.out, r.errs)
	}
	return r.out
}

// submit submits a job and returns its id.
func (r *rig) submit(args ...string) string {
	r.t.Helper()
	out := r.ok(append([]string{"jobs", "submit"}, args...)...)
	id := regexp.MustCompile(`^job (\d+) `).FindStringSubmatch(out)
	if id == nil {
		r.t.Fatalf("submit says %q", out)
	}
	return id[1]
}

func TestExitCodes(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "all"))
	done := r.submit("echo")
	r.ok("jobs", "wait", done)
	failed := r.submit("fail", "--payload", `{"permanent":true}`)
	later := r.submit("later", "--delay", "1h", "--dedupe-key", "k")
	deny := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	t.Cleanup(deny.Close)
	met := map[int]bool{}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"version", console.ExitOK, ""},
		{"--version", console.ExitOK, ""},
		{"--help", console.ExitOK, ""},
		{"completion bash", console.ExitOK, ""},
		{"", console.ExitOK, ""},
		{"jobs", console.ExitUsage, "wants a command: cancel, get, list"},
		{"job", console.ExitUsage, `has no command "job"`},
		{"jobs gte 1", console.ExitUsage, `has no command "gte"`},
		{"jobs get", console.ExitUsage, "the ids of jobs"},
		{"jobs get --jsno 1", console.ExitUsage, "unknown flag"},
		{"jobs get 987654", console.ExitNotFound, "belfry: job 987654: there is no job with this id"},
		{"jobs get " + done + " 987654 abc " + failed, console.ExitNotFound, "belfry: job abc: id: must be a job's id"},
		{"jobs cancel --yes 987654 " + done, console.ExitNotFound, "belfry: job " + done + ": "},
		{"jobs cancel 987654 " + done, console.ExitNotFound, "belfry: job 987654: there is no job with this id"},
		{"jobs retry 987653 987654", console.ExitNotFound, "belfry: job 987653: there is no job with this id"},
		{"jobs reschedule 987654 --delay 1s", console.ExitNotFound, "belfry: job 987654: "},
		{"jobs wait 987653 987654", console.ExitNotFound, "belfry: job 987654: there is no job with this id"},
		{"jobs get abc", console.ExitUsage, "must be a job's id"},
		{"jobs list --limit x", console.ExitUsage, "--limit"},
		{"jobs list --limit -1", console.ExitUsage, "--limit"},
		{"jobs list --status lost", console.ExitUsage, "must be scheduled, queued"},
		{"jobs list --run-after tomorrow", console.ExitUsage, "--run-after must be an RFC 3339 time"},
		{"jobs submit", console.ExitUsage, "wants a type"},
		{"jobs submit a!b", console.ExitUsage, "type: must be"},
		{"jobs submit a --payload {", console.ExitUsage, "--payload must be JSON"},
		{"jobs submit a --payload @/nowhere/at/all", console.ExitUsage, "--payload"},
		{"jobs submit a --batch 5", console.ExitUsage, "--batch goes with --file"},
		{"jobs submit a --backoff 1s;2s", console.ExitUsage, "--backoff"},
		{"jobs submit --file x --priority bulk", console.ExitUsage, "--priority does not go with --file"},
		{"jobs submit a --file x", console.ExitUsage, "does not go with --file"},
		{"jobs submit --file /nowhere/at/all", console.ExitUsage, "--file"},
		{"jobs cancel --yes " + done, console.ExitConflict, "the job is done"},
		{"jobs retry " + later, console.ExitConflict, "the job is scheduled"},
		{"jobs reschedule " + later, console.ExitUsage, "one of --run-at and --delay"},
		{"jobs reschedule " + done + " --delay 1h", console.ExitConflict, "the job is done"},
		{"jobs wait " + failed, console.ExitNotDone, ""},
		{"jobs wait " + done + " " + failed + " " + done, console.ExitNotDone, ""},
		{"jobs wait " + done + " " + done, console.ExitOK, ""},
		{"jobs wait 987654 " + done, console.ExitNotFound, "there is no job with this id"},
		{"jobs wait " + done + " " + later + " " + failed + " --for 30ms", console.ExitTimeOver, "the time to wait is over"},
		{"jobs wait " + later + " --for 30ms", console.ExitTimeOver, "the time to wait is over"},
		{"dead-letters redrive --yes", console.ExitUsage, "wants ids, a filter, or --all"},
		{"dead-letters discard --failed-before x", console.ExitUsage, "--failed-before"},
		{"migrate up", console.ExitUsage, "--database-url"},
		{"migrate status --database-url nonsense", console.ExitUsage, "--database-url: the database address is not valid"},
		{"tokens list --database-url nonsense", console.ExitUsage, "--database-url: the database address is not valid"},
		{"stats --url http://127.0.0.1:1", console.ExitUnreachable, "no connection to 127.0.0.1:1: connection refused; is Belfry running there? --url, BELFRY_URL or a profile says where it is"},
		{"stats --url " + r.env["BELFRY_URL"] + "/v1", console.ExitOK, ""},
		{"stats --url " + r.env["BELFRY_URL"] + "/v1/", console.ExitOK, ""},
		{"stats --url " + r.env["BELFRY_URL"] + "/docs", console.ExitOK, ""},
		{"jobs submit later --delay 1h --url " + r.env["BELFRY_URL"] + "//", console.ExitOK, ""},
		{"stats --url ftp://h", console.ExitUsage, "--url: the address must be"},
		{"stats --url " + deny.URL, console.ExitAccess, "unauthorized; BELFRY_TOKEN, --token or a profile gives one"},
		{"doctor --url http://127.0.0.1:1", console.ExitFailed, ""},
		{"top --every 1ms", console.ExitUsage, "--every"},
	} {
		code := r.run(strings.Fields(c.args)...)
		met[code] = true
		if code != c.code || !strings.Contains(r.errs, c.says) {
			t.Errorf("belfry %s: %d, want %d saying %q\n%s%s", c.args, code, c.code, c.says, r.out, r.errs)
		}
		if code != console.ExitOK && c.says != "" && !strings.HasPrefix(r.errs, "belfry: ") {
			t.Errorf("belfry %s says %q", c.args, r.errs)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.ctx = ctx
	code := r.run("jobs", "wait", later)
	if met[code] = true; code != console.ExitInterrupted {
		t.Errorf("interrupted: %d", code)
	}
	r.ctx, r.in = t.Context(), `{"type":"later","delay":"1h"}`
	r.ok("jobs", "submit", "--file", "-")
	met[r.run("jobs", "submit", "--file", "-")] = true
	document, err := os.ReadFile(transcriptFile)
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| `).FindAllStringSubmatch(string(document), -1)
	for _, row := range rows {
		if code, err := strconv.Atoi(row[1]); err != nil || !met[code] {
			t.Errorf("docs/cli.md lists the exit code %s, which no command here ended with", row[1])
		}
	}
	if len(rows) != len(met) {
		t.Errorf("docs/cli.md lists %d exit codes, met were %v", len(rows), met)
	}
}

func TestQuestionsBeforeWhatCannotBeUndone(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "all"))
	tenant := "a/b %20 \"🎉\""
	for range 3 {
		id := r.submit("fail", "--payload", `{"permanent":true}`, "--tenant", tenant)
		r.run("jobs", "wait", id)
	}
	count := func() int {
		return strings.Count(r.ok("dead-letters", "list", "--json", "--tenant", tenant), "\n")
	}
	step := func(code, left int, says string, args ...string) {
		t.Helper()
		got := r.run(args...)
		said := r.out + r.errs
		if n := count(); got != code || n != left || !strings.Contains(said, says) {
			t.Errorf("belfry %q: %d with %d left, want %d with %d saying %q\n%s", args, got, n, code, left, says, said)
		}
	}
	step(console.ExitUsage, 3, "3 dead letters would be deleted for good; --yes does it", "dead-letters", "discard", "--tenant", tenant)
	step(console.ExitOK, 3, "3 dead letters would be deleted for good\n", "dead-letters", "discard", "--tenant", tenant, "--dry-run")
	step(console.ExitOK, 3, `{"would_discard":2}`, "dead-letters", "discard", "--all", "--limit", "2", "--dry-run", "--json")
	step(console.ExitOK, 3, "0 dead letters", "dead-letters", "discard", "--type", "other", "--dry-run")
	step(console.ExitOK, 3, "0 dead letters", "dead-letters", "discard", "--tenant", tenant, "--failed-before", "2020-01-01T00:00:00Z", "--dry-run")
	r.asks, r.in = true, "n\n"
	step(console.ExitFailed, 3, "Go on? [y/N] belfry: nothing was done", "dead-letters", "discard", "--tenant", tenant)
	r.in = ""
	step(console.ExitFailed, 3, "nothing was done", "dead-letters", "discard", "--tenant", tenant)
	r.in = "y\n"
	step(console.ExitOK, 2, "1 deleted", "dead-letters", "discard", "--tenant", tenant, "--limit", "1")
	r.asks = false
	step(console.ExitOK, 1, "1 deleted", "dead-letters", "discard", "--tenant", tenant, "--limit", "1", "--yes")
	step(console.ExitOK, 1, "0 jobs scheduled again", "dead-letters", "redrive", "--type", "other", "--yes")
	step(console.ExitOK, 1, "1 dead letter would be retried", "dead-letters", "redrive", "--all", "--dry-run")
	r.ok("dead-letters", "redrive", "--all", "--yes", "--rate", "5", "--json")
	if !strings.HasPrefix(r.out, `{"redriven":1,"conflicts":[],"remaining":0,"capped":false,"after":"`) || !strings.Contains(r.out, `"next_run_at":"`) {
		t.Errorf("redrive says %q", r.out)
	}

	id := r.submit("later", "--delay", "1h")
	if code := r.run("jobs", "cancel", id); code != console.ExitUsage || !strings.Contains(r.errs, "1 job would be cancelled; --yes does it") {
		t.Errorf("cancel: %d %s", code, r.errs)
	}
	if out := r.ok("jobs", "get", id); !strings.Contains(out, "scheduled") {
		t.Errorf("it is\n%s", out)
	}
	if out := r.ok("jobs", "cancel", id, "--yes"); out != "job "+id+" is cancelled\n" {
		t.Errorf("cancel says %q", out)
	}
}

// Dead letters that cannot be retried stay the oldest, before those that can, however few one request takes.
func TestRedriveGoesPastWhatItLeaves(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "all"))
	var ids, holders []string
	for _, key := range []string{"j", "k", "free"} {
		ids = append(ids, r.submit("fail", "--payload", `{"permanent":true}`, "--dedupe-key", key))
		r.run("jobs", "wait", ids[len(ids)-1])
	}
	for _, key := range []string{"j", "k"} {
		holders = append(holders, r.submit("later", "--delay", "1h", "--dedupe-key", key))
	}
	want := fmt.Sprintf("1 job scheduled again, the last due before TIME, 2 left\n  job %s: another live job holds the dedupe key %s\n  job %s: another live job holds the dedupe key %s\n", ids[0], holders[0], ids[1], holders[1])
	if out := masked(r.ok("dead-letters", "redrive", "--all", "--yes", "--rate", "1")); out != masked(want) {
		t.Errorf("redrive says %q, want %q", out, want)
	}
}

func TestDeadLettersByGroup(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "all"))
	for _, payload := range []string{`{"permanent":true}`, `{"permanent":true}`} {
		r.run("jobs", "wait", r.submit("fail", "--payload", payload))
	}
	id := r.submit("mail")
	for _, c := range []struct{ args, says string }{
		{"groups", "2      fail"},
		{"groups --type none", "no dead letters"},
		{"groups --failed-before 2020-01-01T00:00:00Z", "no dead letters"},
		{"groups --json", `"count":2,"type":"fail","error_group":"`},
		{"redrive --all --dry-run --rate 0.5", "2 dead letters would be retried"},
		{"redrive --all --dry-run --after " + id, "0 dead letters would be retried"},
		{"redrive --failed-before 2020-01-01T00:00:00Z --yes", "0 jobs scheduled again, 0 left"},
		{"discard --failed-before 2020-01-01T00:00:00Z --yes", "0 deleted"},
	} {
		if out := r.ok(append([]string{"dead-letters"}, strings.Fields(c.args)...)...); !strings.Contains(out, c.says) {
			t.Errorf("%s says %q, want %q", c.args, out, c.says)
		}
	}
	group := regexp.MustCompile(`"error_group":"([0-9a-f]{16})"`).FindStringSubmatch(r.ok("dead-letters", "groups", "--json"))
	if group == nil {
		t.Fatal("no group")
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"list --error-group x", console.ExitUsage, "error_group"},
		{"redrive --error-group 0123456789ABCDEF --yes", console.ExitUsage, "error_group"},
		{"redrive --all --yes --rate -1", console.ExitUsage, "--rate"},
		{"redrive --all --yes --rate 1e9", console.ExitUsage, "rate"},
		{"redrive --all --yes --from later", console.ExitUsage, "--from"},
		{"redrive --all --yes --after x", console.ExitUsage, "after"},
		{"groups --limit 1001", console.ExitUsage, "limit"},
		{"groups --limit -1", console.ExitUsage, "--limit"},
		{"redrive --error-group " + group[1], console.ExitUsage, "2 dead letters would be retried; --yes does it"},
	} {
		if code := r.run(append([]string{"dead-letters"}, strings.Fields(c.args)...)...); code != c.code || !strings.Contains(r.errs, c.says) {
			t.Errorf("%s ended with %d and says %q", c.args, code, r.errs)
		}
	}
	r.ok("dead-letters", "redrive", "--error-group", group[1], "--rate", "1", "--from", "2090-01-01T00:00:00Z", "--yes")
	if out := r.ok("jobs", "list", "--type", "fail"); !strings.Contains(out, "2090-01-01 00:00:00Z") || !strings.Contains(out, "2090-01-01 00:00:01Z") {
		t.Errorf("after a redrive at 1 a second from 2090\n%s", out)
	}
}

// A redrive that ends early says how the same command goes on.
func TestRedriveSaysHowItGoesOn(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "all"))
	var ids []string
	for range 2 {
		ids = append(ids, r.submit("fail", "--payload", `{"permanent":true}`))
		r.run("jobs", "wait", ids[len(ids)-1])
	}
	calls, whole := 0, r.trip
	r.trip = roundTrip(func(q *http.Request) (*http.Response, error) {
		if strings.HasSuffix(q.URL.Path, "/redrive") {
			if calls++; calls == 3 { // the count, a step, and the next one
				return nil, errors.New("the line is cut")
			}
			body, err := io.ReadAll(q.Body)
			if err != nil {
				return nil, err
			}
			text := strings.Replace(string(body), `"limit":2`, `"limit":1`, 1) // as if a step were 1
			q.Body, q.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		}
		return whole.RoundTrip(q)
	})
	redrive := []string{"dead-letters", "redrive", "--all", "--yes", "--rate", "2", "--from", "2090-01-01T00:00:00Z"}
	want := "the same command goes on with --after " + ids[0] + " --from 2090-01-01T00:00:00.500000Z"
	if code := r.run(redrive...); code == console.ExitOK || !strings.Contains(r.errs, want) || !strings.Contains(r.errs, "after 1 dead letter:") {
		t.Fatalf("ended with %d and says %q, want %q", code, r.errs, want)
	}
	r.trip = whole
	r.ok(append(redrive[:6:6], "--after", ids[0], "--from", "2090-01-01T00:00:00.500000Z")...)
	for i, id := range ids {
		if out := r.ok("jobs", "get", id, "--json"); !strings.Contains(out, fmt.Sprintf(`"run_at":"2090-01-01T00:00:00.%d00000Z"`, i*5)) {
			t.Errorf("job %d: %s", i, out)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A token must not come out anywhere, whatever fails.
func TestTokenIsNeverPrinted(t *testing.T) {
	const token = "s3cr3t-t0ken"
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(echo.Close)
	r := newRig(t, echo.URL)
	r.env["BELFRY_TOKEN"] = token
	for _, args := range []string{"stats", "stats --json", "doctor", "--help", "jobs submit --help", "stats --url http://127.0.0.1:1", "stats --nonsense", "stats --url http://user:" + token + "@h", "jobs get 1 --token " + token} {
		code := r.run(strings.Fields(args)...)
		if strings.Contains(r.out+r.errs, token) {
			t.Errorf("belfry %s prints the token:\n%s%s", args, r.out, r.errs)
		}
		if args == "stats" && code != console.ExitAccess {
			t.Errorf("stats ended with %d: the token did not arrive", code)
		}
	}
	if code := r.run("stats", "--token", token+"\n"); code != console.ExitUsage || strings.Contains(r.out+r.errs, token) {
		t.Errorf("a bad token: %d %s", code, r.errs)
	}
}

func TestPayloadsFromFlagFileAndInput(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	const payload = `{ "a": 1e5, "é": "<&>" }`
	name := filepath.Join(t.TempDir(), "pay load.json")
	if err := os.WriteFile(name, []byte(payload), 0o600); err != nil {
		t.Fatal(err)
	}
	r.in = payload
	for _, from := range []string{payload, "@" + name, "-"} {
		id := r.submit("later", "--payload", from, "--delay", "1h")
		if out := r.ok("jobs", "get", id); !strings.Contains(out, "payload       "+payload+"\n") {
			t.Errorf("from %q\n%s", from, out)
		}
	}
}

func TestTopRepeats(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	if out := r.ok("top", "--times", "2", "--every", "100ms"); strings.Count(out, "PRIORITY") != 2 || strings.Contains(out, "\x1b") {
		t.Errorf("%q", out)
	}
	r.width = 100
	if out := r.ok("top", "--times", "2", "--every", "100ms"); strings.Count(out, "\x1b[H\x1b[2J") != 2 {
		t.Errorf("%q", out)
	}
}
