package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

// wideServer answers with values as long as they may be.
func wideServer(t *testing.T) string {
	t.Helper()
	long := strings.Repeat("漢字 wide ", 25)
	job := fmt.Sprintf(`{"id":"9223372036854775807","type":"%s","priority":"critical","tenant":%q,"run_at":"2026-01-02T03:04:05Z","status":"scheduled","attempts":99,"max_attempts":100,"errors":[{"attempt":1,"at":"2026-01-02T03:04:05Z","error":%q}]}`, strings.Repeat("reports/", 25), long, long)
	many := func(item string) string {
		return `{"items":[` + item + "," + item + "," + item + `],"next_cursor":""}`
	}
	answers := map[string]string{
		"/v1/jobs":                many(job),
		"/v1/dead-letters":        many(job),
		"/v1/dead-letters/groups": many(fmt.Sprintf(`{"count":100000,"type":"a/b","error_group":"0123456789abcdef","last_failed_at":"2026-01-02T03:04:05Z","error":%q}`, long)),
		"/v1/types":               many(fmt.Sprintf(`{"type":"a/b","target":{"url":%q},"timeout":"719h59m59s","max_attempts":100,"backoff":["1s","2h3m4s","720h","720h"]}`, "https://example.com/"+long)),
		"/v1/tokens":              many(fmt.Sprintf(`{"id":"4fTzKq0ZpLw8sXyR","name":%[1]q,"role":"submit","tenant":%[1]q,"created_at":"2026-01-02T03:04:05Z","expires_at":"2026-01-02T03:04:05Z"}`, long)),
		"/v1/stats":               fmt.Sprintf(`{"now":"2026-01-02T03:04:05Z","window":"5m0s","queues":[{"priority":"critical","scheduled":100000,"due":100000,"queued":100000,"running":100000,"capped":true,"oldest_due":"1000h0m0s","lag_p50":"999h59m59s","lag_p99":"999h59m59s"}],"types":[{"type":%q,"starts":1000000000,"done":1000000000}]}`, long),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, answers[r.URL.Path])
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// No line of a table is wider than the terminal, and what was cut is there in a wider one.
func TestEveryTableFits(t *testing.T) {
	r := newRig(t, wideServer(t))
	r.ok("profiles", "set", strings.Repeat("p", 64), "--url", "https://"+strings.Repeat("long.", 40)+"example")
	for _, command := range []string{"jobs list", "dead-letters list", "dead-letters groups", "types list", "tokens list", "profiles list", "stats"} {
		for _, width := range []int{40, 80, 200, 0} {
			r.width = width
			out := r.ok(strings.Fields(command)...)
			widest := 0
			for line := range strings.Lines(out) {
				if !strings.HasPrefix(line, "dead letters ") { // a sentence: the terminal wraps it
					widest = max(widest, runewidth.StringWidth(strings.TrimSuffix(line, "\n")))
				}
			}
			if width > 0 && widest > width || strings.Count(out, "\n") < 2 {
				t.Errorf("belfry %s on %d columns is %d wide\n%s", command, width, widest, out)
			}
			if cut := strings.Contains(out, "…"); cut && width == 0 {
				t.Errorf("belfry %s: cut where nothing has to be\n%s", command, out)
			}
		}
	}
}

// A list of jobs on 80 columns is a table in which types can be told apart, whatever the jobs have; what they have not takes
// no room.
func TestJobsAreReadableOnEightyColumns(t *testing.T) {
	r := newRig(t, "http://127.0.0.1:1")
	for _, tenant := range []string{"", "acme", "a-tenant-with-a-longer-name"} {
		for _, last := range []string{"", "connection refused", strings.Repeat("long ", 20)} {
			for _, id := range []string{"7", "1234567"} {
				errors := ""
				if last != "" {
					errors = fmt.Sprintf(`{"attempt":1,"at":"2026-01-02T03:04:05Z","error":%q}`, last)
				}
				job := fmt.Sprintf(`{"id":%q,"type":"reports.monthly.render","priority":"default","tenant":%q,"run_at":"2026-01-02T03:04:05Z","status":"cancelled","attempts":1,"max_attempts":5,"errors":[%s]}`, id, tenant, errors)
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"items":[`+job+`],"next_cursor":""}`) }))
				r.env["BELFRY_URL"], r.width = server.URL, 80
				for _, command := range []string{"jobs list", "dead-letters list"} {
					out := r.ok(strings.Fields(command)...)
					head, row, _ := strings.Cut(out, "\n")
					if !strings.Contains(row, "reports.monthly") || strings.Count(out, "\n") != 2 || runewidth.StringWidth(row) > 81 {
						t.Errorf("%s with tenant %q and error %q:\n%s", command, tenant, last, out)
					}
					if strings.Contains(head, "TENANT") != (tenant != "") || strings.Contains(head, "LAST ERROR") != (last != "") {
						t.Errorf("%s with tenant %q and error %q has the columns %s", command, tenant, last, head)
					}
				}
				server.Close()
			}
		}
	}
	r.env["BELFRY_URL"], r.width = wideServer(t), 0
	if out := r.ok("jobs", "list"); !strings.HasPrefix(out, "ID ") || !strings.Contains(out, "  ATTEMPTS  LAST ERROR\n") {
		t.Errorf("where the output is no terminal all columns are there, for scripts:\n%.300s", out)
	}
}
