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
