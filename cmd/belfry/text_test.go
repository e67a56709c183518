package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/internal/cmdlinetest"
)

// hostileServer answers every call with texts that no honest one has.
func hostileServer(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(cmdlinetest.Hostile)
	if err != nil {
		t.Fatal(err)
	}
	raw := `"` + "\u009b2J\u202e\x7f" + `"` // JSON lets these stand unescaped
	job := fmt.Sprintf(`{"id":%[1]s,"type":%[1]s,"payload":%[2]s,"priority":%[1]s,"tenant":%[1]s,"run_at":"2026-01-02T03:04:05Z","status":"failed","errors":[{"attempt":1,"at":"2026-01-02T03:04:05Z","error":%[1]s,"kind":%[1]s}],"result":%[2]s,"tags":[%[1]s],"worker_id":%[1]s,"dedupe_key":%[1]s,"target":{"url":%[1]s},"created_at":"2026-01-02T03:04:05Z","finished_at":"2026-01-02T03:04:05Z"}`, text, raw)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		discard(r.Body)
		problem := fmt.Sprintf(`{"detail":%[1]s,"status":409,"reason":%[1]s,"job_id":%[1]s,"errors":[{"field":%[1]s,"rule":%[1]s},{"field":%[1]s,"rule":%[1]s}]}`, text)
		switch {
		case strings.HasSuffix(r.URL.Path, "/cancel"):
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, problem)
		case r.URL.Path == "/v1/jobs/batch":
			fmt.Fprintf(w, `{"items":[{"error":%s},%s]}`, problem, job)
		case strings.HasSuffix(r.URL.Path, "/redrive"):
			fmt.Fprintf(w, `{"redriven":0,"conflicts":[{"id":%[1]s,"reason":%[1]s,"job_id":%[1]s}],"remaining":2,"after":%[1]s}`, text)
		case r.URL.Path == "/v1/types", r.URL.Path == "/v1/tokens":
			fmt.Fprintf(w, `{"items":[{"type":%[1]s,"target":{"url":%[1]s,"headers":{%[1]s:%[1]s}},"backoff":["1s"],"id":%[1]s,"name":%[1]s,"role":%[1]s,"tenant":%[1]s}],"next_cursor":""}`, text)
		case strings.HasPrefix(r.URL.Path, "/v1/types/"):
			fmt.Fprintf(w, `{"type":%[1]s,"target":{"url":%[1]s,"headers":{%[1]s:%[1]s}},"timeout":"1m","max_attempts":100}`, text)
		case r.URL.Path == "/v1/tokens/x":
			fmt.Fprintf(w, `{"id":%[1]s,"name":%[1]s,"role":%[1]s,"tenant":%[1]s,"token":%[1]s}`, text)
		case strings.HasSuffix(r.URL.Path, "/groups"):
			fmt.Fprintf(w, `{"items":[{"count":2,"type":%[1]s,"error_group":%[1]s,"error":%[1]s}]}`, text)
		case r.URL.Path == "/v1/stats":
			fmt.Fprintf(w, `{"now":"2026-01-02T03:04:05Z","window":%[1]s,"queues":[{"priority":%[1]s,"oldest_due":%[1]s,"lag_p50":%[1]s}],"types":[{"type":%[1]s}],"unhandled":1,"stuck":1}`, text)
		case r.Method == http.MethodGet && (r.URL.Path == "/v1/jobs" || r.URL.Path == "/v1/dead-letters"):
			fmt.Fprintf(w, `{"items":[%s,%s],"next_cursor":""}`, job, job)
		default:
			fmt.Fprint(w, job)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestHostileTextsStayText(t *testing.T) {
	r := newRig(t, hostileServer(t))
	r.in = "{\"type\":\"a\"}\n{\"type\":\"b\"}\n\x1b[2J\n"
	for _, width := range []int{0, 80} {
		r.width = width
		for _, args := range []string{
			"jobs get 1", "jobs list", "jobs list --limit 1", "jobs submit a", "jobs wait 1", "jobs retry 1", "jobs reschedule 1 --delay 1s", "jobs cancel 1 --yes",
			"jobs submit --file -", "dead-letters list", "dead-letters groups", "dead-letters redrive --all --yes", "dead-letters redrive --all", "stats", "top --times 1", "doctor",
			"types list", "types get a", "types put a", "types delete a", "types delete a --dry-run", "tokens list", "tokens revoke a", "profiles delete \x1b[2J", "stats --profile \x1b[2J",
			"jobs \x1b[2J", "jobs get 1 --\x1b[2J", "stats --url http://\x1b[2J", "jobs submit a --payload @\x1b[2J",
		} {
			for _, format := range []string{"", " --json"} {
				r.run(strings.Split(args+format, " ")...)
				said := r.out + r.errs
				if width > 0 {
					said = strings.ReplaceAll(said, "\x1b[H\x1b[2J", "") // of top, its own
				}
				if bad := cmdlinetest.Unsafe(strings.ReplaceAll(said, "\n", "")); bad != "" {
					t.Errorf("belfry %q prints %s: %q", args+format, bad, said)
				}
				if format == "" && said == "" {
					t.Errorf("belfry %q prints nothing", args)
				}
				for line := range strings.Lines(r.out) {
					if format != "" && !json.Valid([]byte(line)) {
						t.Errorf("belfry %q prints a line that is no JSON: %q", args+format, line)
					}
				}
			}
		}
	}
}

func discard(r io.Reader) { _, _ = io.Copy(io.Discard, r) }
