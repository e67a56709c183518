package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// What a target's header may be is one rule, whether the API, a flag or a file says it. What is taken is kept as it is.
func TestHeadersOfTargetsHaveOneRule(t *testing.T) {
	t.Setenv("BELFRY_WEBHOOK_SECRETS", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqr")
	t.Setenv("BELFRY_WEBHOOK_ALLOW", "127.0.0.1")
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	address := nodetest.StartOn(t, "api", store)
	r, file := newRig(t, address), filepath.Join(t.TempDir(), "file")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put := func(target string) bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, address+"/v1/types/hook", strings.NewReader(`{"target":`+target+`}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		answer, err := r.trip.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		return answer.StatusCode < http.StatusMultipleChoices
	}
	for _, c := range []struct {
		name, value string
		good        bool
	}{
		{"x-a", "", true},
		{"x-a", "b", true},
		{"X-A", "b: c, d", true},
		{"x-a", "b\tc", false},
		{"x-a", "b\nc", false},
		{"x-a", "\u00e9", false},
		{"x-a", "\u00a0", false},
		{"x-a", "\x7f", false},
		{"x-a", "********", false},
		{"", "", false},
		{"", "b", false},
		{"x a", "", false},
		{"\u00e9", "", false},
		{"webhook-id", "", false},
		{"host", "", false},
	} {
		headers, err := json.Marshal(map[string]string{c.name: c.value})
		if err != nil {
			t.Fatal(err)
		}
		target := fmt.Sprintf(`{"url":"http://127.0.0.1:9/","headers":%s}`, headers)
		for _, way := range []struct {
			name string
			take func() bool
		}{
			{"the API", func() bool { return put(target) }},
			{"a flag", func() bool {
				return r.run("types", "put", "hook", "--target", "http://127.0.0.1:9/", "--header", c.name+": "+c.value) == console.ExitOK
			}},
			{"a flag without a space", func() bool {
				return r.run("types", "put", "hook", "--target", "http://127.0.0.1:9/", "--header", c.name+":"+c.value) == console.ExitOK
			}},
			{"a file of a header", func() bool {
				write(c.name + ": " + c.value + "\n")
				return r.run("types", "put", "hook", "--target", "http://127.0.0.1:9/", "--header", "@"+file) == console.ExitOK
			}},
			{"a file of jobs", func() bool {
				write(`{"type":"a","target":` + target + "}\n")
				return r.run("jobs", "submit", "--file", file) == console.ExitOK
			}},
			{"a file of schedules", func() bool {
				write(`{"schedules":[{"name":"a","type":"a","every":"1h","target":` + target + "}]}\n")
				code := r.run("schedules", "apply", file, "--yes")
				return code == console.ExitOK || code == console.ExitNothingNew
			}},
		} {
			if got := way.take(); got != c.good {
				t.Errorf("%q: %q by %s: taken %t, want %t\n%s", c.name, c.value, way.name, got, c.good, r.errs)
			}
			kept, err := store.GetType(t.Context(), "hook")
			if c.good && strings.Contains(way.name, "flag") && (err != nil || !strings.Contains(string(kept.Target), string(headers))) {
				t.Errorf("%q: %q by %s is kept as %s, %v", c.name, c.value, way.name, kept.Target, err)
			}
		}
	}
	for _, again := range []string{"X-A: c", "x-a: c"} {
		if code := r.run("types", "put", "hook", "--target", "http://127.0.0.1:9/", "--header", "X-A: b", "--header", again); code != console.ExitUsage {
			t.Errorf("X-A and %s: %d %s", again, code, r.errs)
		}
	}
}
