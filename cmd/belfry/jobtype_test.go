package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

func TestTypesFromTheCommandLine(t *testing.T) {
	t.Setenv("BELFRY_WEBHOOK_SECRETS", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqr")
	t.Setenv("BELFRY_WEBHOOK_ALLOW", "127.0.0.1")
	r := newRig(t, nodetest.Start(t, "api"))
	header := filepath.Join(t.TempDir(), "header")
	if err := os.WriteFile(header, []byte("authorization: Bearer s3cr3t\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	put := []string{"types", "put", "a/b", "--target", "http://127.0.0.1:9/x", "--header", "@" + header, "--header", "X-A: 1: 2", "--timeout", "90s", "--max-attempts", "8", "--backoff", "10s, 1m"}
	if out := r.ok(put...); out != "type a/b is defined\n" {
		t.Errorf("put says %q", out)
	}
	if out := r.ok(put...); out != "type a/b is defined; its earlier definition is replaced\n" {
		t.Errorf("put again says %q", out)
	}
	out := r.ok("types", "get", "a/b")
	for _, line := range []string{"target        http://127.0.0.1:9/x\n", "header        X-A: ********\n", "header        authorization: ********\n", "timeout       1m30s\n", "max attempts  8\n", "backoff       10s 1m0s\n"} {
		if !strings.Contains(strings.ReplaceAll(out, "Authorization", "authorization"), line) {
			t.Errorf("get does not say %q\n%s", line, out)
		}
	}
	if out := r.ok("types", "list", "--json"); strings.Contains(out, "s3cr3t") || strings.Count(out, "\n") != 1 {
		t.Error(out)
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"types put a --header X:1", console.ExitUsage, "--header goes with --target"},
		{"types put a --target http://127.0.0.1:9/ --header s3cr3t", console.ExitUsage, "--header must be 'Name: value'"},
		{"types put a --target http://127.0.0.1:9/ --header @/nowhere", console.ExitUsage, "--header"},
		{"types put a --target http://10.0.0.1/", console.ExitUsage, "target"},
		{"types put a --timeout 0s", console.ExitUsage, "--timeout"},
		{"types put a --max-attempts 0", console.ExitUsage, "--max-attempts"},
		{"types put a --max-attempts 1000", console.ExitUsage, "--max-attempts must be a whole number from 1 to 100"},
		{"types put a --backoff 1s;2s", console.ExitUsage, "--backoff"},
		{"types put no!good", console.ExitUsage, "type"},
		{"types get nobody", console.ExitNotFound, "there is no definition"},
		{"types delete nobody --yes", console.ExitNotFound, "there is no definition"},
		{"types delete a/b", console.ExitUsage, "no longer delivered to http://127.0.0.1:9/x; --yes does it"},
		{"types delete a/b --dry-run", console.ExitOK, ""},
		{"types list --limit -1", console.ExitUsage, "--limit"},
	} {
		if code := r.run(strings.Fields(c.args)...); code != c.code || !strings.Contains(r.errs, c.says) || strings.Contains(r.errs, "s3cr3t") {
			t.Errorf("belfry %s: %d\n%s%s", c.args, code, r.out, r.errs)
		}
	}
	r.ok("types", "get", "a/b")
	r.ok("types", "delete", "a/b", "--yes")
	if out := r.ok("types", "list"); out != "no types are defined\n" {
		t.Error(out)
	}
}

// A filter few jobs match leads through pages that are short or empty; all of them are read, and no more than asked.
func TestListsFollowShortPages(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		pages := []string{"", `{"id":"9"}`, "", "", `{"id":"8"},{"id":"7"}`, ""}
		next := fmt.Sprintf(`"c%d"`, asked)
		if asked == len(pages)-1 {
			next = `""`
		}
		fmt.Fprintf(w, `{"items":[%s],"next_cursor":%s}`, pages[asked], next)
		asked++
	}))
	t.Cleanup(server.Close)
	r := newRig(t, server.URL)
	for limit, want := range map[string][2]int{"0": {3, 6}, "2": {2, 5}, "1": {1, 2}} {
		for _, list := range []string{"jobs", "dead-letters"} {
			asked = 0
			out := r.ok(list, "list", "--type", "rare", "--json", "--limit", limit)
			if n := strings.Count(out, "\n"); n != want[0] || asked != want[1] {
				t.Errorf("%s, limit %s: %d jobs of %d pages, want %v\n%s", list, limit, n, asked, want, out)
			}
		}
	}
}
