package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// write writes a file of jobs.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// total is how many jobs the server has.
func (r *rig) total() int {
	r.t.Helper()
	return strings.Count(r.ok("jobs", "list", "--limit", "0", "--json"), "\n")
}

// breaks is a transport that does something at the nth batch, after the server has answered it.
type breaks struct {
	http.RoundTripper
	n, at  int
	cancel func() // as Ctrl-C does
	lose   bool   // the answer, and say that the server is out of order
}

func (b *breaks) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(r)
	if err != nil || r.URL.Path != "/v1/jobs/batch" || resp.StatusCode == http.StatusUnprocessableEntity {
		return resp, err
	}
	if b.n++; b.n == b.at {
		b.cancel()
		if b.lose {
			resp.StatusCode, resp.Header = http.StatusServiceUnavailable, http.Header{"Retry-After": {"3600"}}
		}
	}
	return resp, nil
}

func TestFileOfJobs(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	text := `{"type":"a","delay":"1h"}

  { "type" : "a", "delay":"1h", "payload": { "x": 1e5 , "é":"<>" } }
{"type":"a","delay":"1h"}
{"type":"a","delay":"1h","dedupe_key":"own"}
{"type":"b","delay":"1h","dedupe_key":"own"}
{"type":"no good"}
{}
[1]
{"type":"a"
"text"
null
{"type":"a","nonsense":1}
{"type":"a","type":"b"}
` + strings.Repeat("x", 2<<20) + "\n" + `{"type":"last","delay":"1h"}`
	name := write(t, "pay day %20 🎉.jsonl", text)
	if code := r.run("jobs", "submit", "--file", name, "--batch", "3"); code != console.ExitFailed {
		t.Errorf("exit code %d\n%s", code, r.errs)
	}
	if r.out != "15 lines: 5 submitted, 1 there already, 9 refused\n" {
		t.Errorf("%q", r.out)
	}
	for number, says := range map[int]string{7: "type", 8: "type: is required", 9: "is not a JSON object", 10: "is not JSON: .*byte 12 of the line", 11: "is not a JSON object", 12: "is not a JSON object",
		13: "nonsense", 14: "type: is given twice", 15: "is longer than"} {
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^line %d: .*%s`, number, says)).MatchString(r.errs) {
			t.Errorf("nothing about line %d and %q:\n%s", number, says, r.errs)
		}
	}
	if n := r.total(); n != 5 {
		t.Errorf("%d jobs, want 5", n)
	}
	if !strings.Contains(r.ok("jobs", "list", "--json"), `"payload":{"x":1e5,"é":"<>"}`) {
		t.Errorf("a payload was rewritten:\n%s", r.out)
	}
	if code := r.run("jobs", "submit", "--file", name); code != console.ExitFailed || r.out != "15 lines: 0 submitted, 6 there already, 9 refused\n" {
		t.Errorf("again: %d %q", code, r.out)
	}
	r.in = text
	r.run("jobs", "submit", "--file", "-", "--json")
	if n := strings.Count(r.out, "\n"); n != 15 || !strings.Contains(r.out, `{"line":9,"error":"is not a JSON object"}`+"\n") {
		t.Errorf("%d lines\n%s", n, r.out)
	}
}

// Interrupted anywhere and run again, every line is one job in the end, though the first ones have ended meanwhile.
func TestFileInterruptedAndRunAgain(t *testing.T) {
	var text strings.Builder
	for range 25 {
		text.WriteString(`{"type":"echo"}` + "\n") // equal lines, so that nothing but the place tells them apart
	}
	for _, c := range []struct {
		name string
		code int
	}{
		{"Ctrl-C", console.ExitInterrupted},
		{"the server goes away", console.ExitUnreachable},
		{"the server goes away at once", console.ExitUnreachable},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nodetest.Start(t, "all"))
			name := write(t, "jobs.jsonl", text.String())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			whole := r.trip
			b := &breaks{RoundTripper: whole, at: 2, cancel: cancel}
			if c.code == console.ExitUnreachable {
				b.cancel, b.lose = func() {}, true
				if strings.HasSuffix(c.name, "at once") {
					b.at = 1
				}
			}
			r.ctx, r.trip = ctx, b
			if code := r.run("jobs", "submit", "--file", name, "--batch", "10"); code != c.code || !strings.Contains(r.errs, "run it again to go on") {
				t.Fatalf("%d, %s", code, r.errs)
			}
			stopped := regexp.MustCompile(`stopped behind line (\d+)`).FindStringSubmatch(r.errs)
			r.ctx, r.trip = t.Context(), whole
			for _, id := range regexp.MustCompile(`"id":"(\d+)"`).FindAllStringSubmatch(r.ok("jobs", "list", "--json", "--limit", "0"), -1) {
				r.ok("jobs", "wait", id[1]) // their dedupe keys are free again
			}
			r.ok("jobs", "submit", "--file", name, "--batch", "7")
			if !strings.Contains(r.errs, "goes on behind line "+stopped[1]) {
				t.Errorf("says %q", r.errs)
			}
			if n := r.total(); n != 25 {
				t.Errorf("%d jobs, want 25", n)
			}
			// Once through, the same command is a new run.
			for _, id := range regexp.MustCompile(`"id":"(\d+)"`).FindAllStringSubmatch(r.ok("jobs", "list", "--json", "--limit", "0"), -1) {
				r.ok("jobs", "wait", id[1])
			}
			if out := r.ok("jobs", "submit", "--file", name); out != "25 lines: 25 submitted, 0 there already, 0 refused\n" {
				t.Errorf("a new run says %q", out)
			}
		})
	}
}

func TestFileThatChangedIsSubmittedAnew(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	line := `{"type":"later","delay":"1h","payload":%d}` + "\n"
	name := write(t, "jobs.jsonl", fmt.Sprintf(line+line+line, 1, 2, 3))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	whole := r.trip
	r.ctx, r.trip = ctx, &breaks{RoundTripper: whole, at: 1, cancel: cancel}
	r.run("jobs", "submit", "--file", name, "--batch", "2")
	r.ctx, r.trip = t.Context(), whole
	if err := os.WriteFile(name, fmt.Appendf(nil, line+line+line, 0, 2, 3), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := r.ok("jobs", "submit", "--file", name); out != "3 lines: 2 submitted, 1 there already, 0 refused\n" || !strings.Contains(r.errs, "not the one that was interrupted") {
		t.Errorf("%q %q", out, r.errs)
	}
	if n := r.total(); n != 4 {
		t.Errorf("%d jobs, want 4", n)
	}
}

// After Ctrl-C the batch under way is waited for: its answer counts.
func TestFileCtrlCWaitsForTheAnswer(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	name := write(t, "jobs.jsonl", strings.Repeat(`{"type":"later","delay":"1h"}`+"\n", 7))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	whole := r.trip
	r.ctx, r.trip = ctx, tripper(func(q *http.Request) (*http.Response, error) {
		cancel()
		if err := q.Context().Err(); err != nil {
			return nil, err
		}
		return whole.RoundTrip(q)
	})
	code := r.run("jobs", "submit", "--file", name, "--batch", "5")
	if code != console.ExitInterrupted || r.out != "5 lines: 5 submitted, 0 there already, 0 refused\n" || !strings.Contains(r.errs, "stopped behind line 5") {
		t.Errorf("%d %q %q", code, r.out, r.errs)
	}
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestProgress(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	name := write(t, "jobs.jsonl", strings.Repeat(`{"type":"later","delay":"1h"}`+"\n", 4))
	looks := 0
	r.now = func() time.Time { looks++; return time.Unix(0, 0).AddDate(0, 0, looks) }
	r.ok("jobs", "submit", "--file", name, "--batch", "2")
	if !regexp.MustCompile(`^2 lines \(50%\), 0/s\n4 lines \(100%\), 0/s\n$`).MatchString(r.errs) {
		t.Errorf("plain: %q", r.errs)
	}
	r.bars = true
	if code := r.run("jobs", "submit", "--file", name, "--batch", "2"); code != console.ExitNothingNew {
		t.Errorf("again: %d", code)
	}
	if want := "\r\x1b[K[###############...............] 2 lines (50%)"; !strings.HasPrefix(r.errs, want) || !strings.HasSuffix(r.errs, "\r\x1b[K") {
		t.Errorf("bar: %q", r.errs)
	}
	r.now = time.Now
	r.ok("jobs", "submit", "--file", "-")
	if r.errs != "" {
		t.Errorf("nothing to wait for: %q", r.errs)
	}
}

// A directory is no file of jobs, and running the command again would not help.
func TestSubmitRefusesADirectory(t *testing.T) {
	r := newRig(t, "http://127.0.0.1:1")
	if code := r.run("jobs", "submit", "--file", t.TempDir()); code != console.ExitUsage || !strings.Contains(r.errs, "--file: ") || !strings.Contains(r.errs, "is a directory") || strings.Contains(r.errs, "run it again") {
		t.Errorf("%d %s", code, r.errs)
	}
}
