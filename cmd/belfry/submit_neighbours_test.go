package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

func nested(depth int) string {
	return `{"type":"a","payload":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "}"
}

// badLines are lines that no job can be made of, and what is said of them.
var badLines = map[string]string{
	"{\"type\":\"a\",\"payload\":\"k\xe9\"}": `not valid UTF-8 \(byte 25 of the line\)`,
	"  {\"type\":\"a\xff\"}":                 `not valid UTF-8 \(byte 13 of the line\)`,
	"{\"ty\xc3pe\":\"a\"}":                   "UTF-8",
	nested(101):                              "101 deep, at most 100",
	nested(9_997):                            "9998 deep|9997 deep",
	nested(9_998):                            "deep",
	nested(9_999):                            "deep",
	nested(20_000):                           "deep",
	strings.Repeat("[", 50_000):              "deep",
	`{"type":"a","payload":"\u0000"}`:        "cannot be kept",
	`{"type":"a","payload":"\ud800"}`:        "lone surrogate",
	`{"type":"\ud800"}`:                      "lone surrogate",
	`{"type":"a"}{"type":"b"}`:               `is not JSON: .* \(byte 13 of the line\)`,
	`{"type":"a"},`:                          "is not JSON",
	`{"type":"a",}`:                          "is not JSON",
	`{'type':'a'}`:                           "is not JSON",
	`{“type”:“a”}`:                           "is not JSON",
	`{"type":"a","payload":NaN}`:             "is not JSON",
	`{"type":"a","payload":01}`:              "is not JSON",
	"{\"type\":\"a\",\"payload\":\"\t\"}":    "is not JSON",
	`]},{"jobs":[{"type":"a"}`:               "is not JSON",
	`{"type":"a"}]}`:                         "is not JSON",
	`"` + strings.Repeat("x", 1<<20) + `"`:   "is not a JSON object",
	`{"type":"a","payload":"` + strings.Repeat("x", 1<<20) + `"}`: "payload",
	`{"type":"a","dedupe_key":""}`:                                "dedupe_key",
	`{"type":"a","dedupe_key":null}`:                              "dedupe_key",
	`{"type":"a","max_attempts":1e99}`:                            "max_attempts",
	`{"type":"a","run_at":"infinity"}`:                            "run_at",
	"{\x00}\x00":                                                  "UTF-16",
	"\x1f\x8b\x08":                                                "gzip",
}

// One bad line stops no neighbour, whatever is wrong with it, wherever it is in a batch, and its number is that in the file.
func TestOneBadLineStopsNoNeighbour(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	const good = `{"type":"a","delay":"1h"}` + "\n"
	var text strings.Builder
	says := map[int]string{}
	number, goods := 0, 0
	add := func(line string) { number++; text.WriteString(line) }
	for bad, rule := range badLines {
		add(good)
		add("\n")
		add(bad + "\n")
		says[number] = rule
		goods++
	}
	add(good)
	goods++
	for _, batch := range []string{"1000", "7", "1"} {
		name := write(t, "jobs.jsonl", text.String())
		code := r.run("jobs", "submit", "--file", name, "--batch", batch, "--json")
		refused := map[string]string{}
		for _, m := range regexp.MustCompile(`(?m)^\{"line":(\d+),"error":"(.*)"\}$`).FindAllStringSubmatch(r.out, -1) {
			refused[m[1]] = m[2]
		}
		for n, rule := range says {
			if said := refused[fmt.Sprint(n)]; !regexp.MustCompile(rule).MatchString(said) || strings.Contains(said, "jobs[") {
				t.Errorf("line %d: %q, want %q", n, said, rule)
			}
		}
		if done := strings.Count(r.out, `"id":`); code != console.ExitFailed || len(refused) != len(says) || done != goods {
			t.Errorf("batches of %s: code %d, %d refused of %d, %d submitted of %d\n%.500s", batch, code, len(refused), len(says), done, goods, r.errs)
		}
	}
	t.Logf("%d kinds of bad lines", len(badLines))
}

// So it is where the server refuses a whole request for a reason that this program does not know.
func TestARefusedBatchIsTakenApart(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	whole := r.trip
	r.trip = tripper(func(q *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return nil, err
		}
		if strings.Contains(string(body), "poison") {
			problem := `{"detail":"body: is bad (line 1, column 99)","errors":[{"field":"body","rule":"is bad (line 1, column 99)"}]}`
			return &http.Response{StatusCode: http.StatusBadRequest, Body: io.NopCloser(strings.NewReader(problem)), Header: http.Header{}}, nil
		}
		q.Body = io.NopCloser(strings.NewReader(string(body)))
		return whole.RoundTrip(q)
	})
	var text strings.Builder
	for n := 1; n <= 40; n++ {
		payload := "good"
		if n == 3 || n == 4 || n == 40 {
			payload = "poison"
		}
		fmt.Fprintf(&text, `{"type":"a","delay":"1h","payload":%q}`+"\n", payload)
	}
	code := r.run("jobs", "submit", "--file", write(t, "jobs.jsonl", text.String()))
	if code != console.ExitFailed || r.out != "40 lines: 37 submitted, 0 there already, 3 refused\n" || r.errs != "line 3: body: is bad\nline 4: body: is bad\nline 40: body: is bad\n" {
		t.Errorf("%d %q %q", code, r.out, r.errs)
	}
	r.trip = whole
	if n := r.total(); n != 37 {
		t.Errorf("%d jobs", n)
	}
}

// A file is what it holds and where it is, or the name it is given; a run that makes nothing says so by its code.
func TestFilesOfOneNameAreNotOneFile(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	dir := t.TempDir()
	t.Chdir(dir)
	const text = `{"type":"a","delay":"1h"}` + "\n" + `{"type":"a","delay":"1h"}` + "\n"
	for _, day := range []string{"mon", "tue"} {
		if err := os.Mkdir(day, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(day, "jobs.jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("tue", "latest"); err != nil {
		t.Fatal(err)
	}
	r.in = text
	for _, step := range []struct {
		args      string
		code, new int
	}{
		{"mon/jobs.jsonl", console.ExitOK, 2},
		{"tue/jobs.jsonl", console.ExitOK, 2},
		{"mon/jobs.jsonl", console.ExitNothingNew, 0},
		{filepath.Join(dir, "mon", "jobs.jsonl"), console.ExitNothingNew, 0},
		{"tue/../mon/jobs.jsonl", console.ExitNothingNew, 0},
		{"latest/jobs.jsonl", console.ExitNothingNew, 0},
		{"mon/jobs.jsonl --name week", console.ExitOK, 2},
		{"tue/jobs.jsonl --name week", console.ExitNothingNew, 0},
		{"- --name week", console.ExitNothingNew, 0},
		{"tue/jobs.jsonl --name other", console.ExitOK, 2},
		{"-", console.ExitOK, 2},
		{"-", console.ExitNothingNew, 0},
		{"- --json", console.ExitNothingNew, 0},
	} {
		code := r.run(append([]string{"jobs", "submit", "--file"}, strings.Fields(step.args)...)...)
		if code != step.code || !strings.Contains(r.out, fmt.Sprintf("2 lines: %d submitted, %d there already", step.new, 2-step.new)) && !strings.HasSuffix(step.args, "json") {
			t.Errorf("%s: %d %q %q", step.args, code, r.out, r.errs)
		}
	}
	if err := os.WriteFile("mon/jobs.jsonl", []byte(text+`{"type":"b","delay":"1h"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := r.ok("jobs", "submit", "--file", "mon/jobs.jsonl"); out != "3 lines: 1 submitted, 2 there already, 0 refused\n" {
		t.Error(out)
	}
	if code := r.run("jobs", "submit", "--file", os.DevNull); code != console.ExitOK {
		t.Errorf("an empty file: %d", code)
	}
}

// A file in another encoding is named before anything is sent; a byte order mark changes nothing.
func TestFilesOfOtherEncodings(t *testing.T) {
	r := newRig(t, "http://127.0.0.1:1")
	for text, says := range map[string]string{
		"\xff\xfe{\x00}\x00": "UTF-16", "\xfe\xff\x00{\x00}": "UTF-16", "{\x00\"\x00t\x00": "UTF-16", "\xff\xfe\x00\x00{\x00\x00\x00": "UTF-32", "\x1f\x8b\x08\x00": "gzip", "PK\x03\x04": "zip",
	} {
		for _, args := range [][]string{{"--file", write(t, "jobs.jsonl", text)}, {"--file", "-"}} {
			r.in = text
			if code := r.run(append([]string{"jobs", "submit"}, args...)...); code != console.ExitUsage || !strings.Contains(r.errs, "--file ") || !strings.Contains(r.errs, says) {
				t.Errorf("%q: %d %s", text, code, r.errs)
			}
		}
		for _, args := range [][]string{{"jobs", "submit", "a", "--payload"}, {"schedules", "put", "a", "--cron", "@daily", "--type", "a", "--payload"}} {
			if code := r.run(append(args, "@"+write(t, "payload.json", text))...); code != console.ExitUsage || !strings.Contains(r.errs, "--payload ") || !strings.Contains(r.errs, says) {
				t.Errorf("%q: %d %s", text, code, r.errs)
			}
		}
	}
	r = newRig(t, nodetest.Start(t, "api"))
	name := write(t, "jobs.jsonl", `{"type":"a","delay":"1h"}`)
	r.ok("jobs", "submit", "--file", name)
	if err := os.WriteFile(name, []byte("\ufeff"+`{"type":"a","delay":"1h"}`+"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := r.run("jobs", "submit", "--file", name); code != console.ExitNothingNew {
		t.Errorf("with a byte order mark: %d %s%s", code, r.out, r.errs)
	}
}
