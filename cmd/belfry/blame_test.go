package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// What is wrong is said of the flag, variable, file or profile that holds it, and of no other.
func TestFaultsNameWhatHoldsThem(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	write := func(text string) string {
		name := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const address, token = "the address must be an http or https URL", "the token holds a character"
	for _, c := range []struct {
		env  map[string]string
		args []string
		says string
	}{
		{map[string]string{"BELFRY_URL": "nonsense"}, []string{"stats"}, "BELFRY_URL: " + address},
		{map[string]string{"BELFRY_URL": "nonsense", "BELFRY_TOKEN": "a b"}, []string{"stats", "--url", "http://127.0.0.1:1"}, "BELFRY_TOKEN: " + token},
		{map[string]string{"BELFRY_URL": "http://127.0.0.1:1"}, []string{"stats", "--token", "a b"}, "--token: " + token},
		{map[string]string{"BELFRY_URL": "http://127.0.0.1:1"}, []string{"stats", "--url", "127.0.0.1:8080"}, "--url: " + address},
		{nil, []string{"profiles", "set", "p", "--url", "nonsense"}, "--url: " + address},
		{nil, []string{"profiles", "set", "p", "--url", "http://h", "--token", "a b"}, "--token: " + token},
		{nil, []string{"profiles", "set", "p", "--url", "http://h", "--token-file", write("a b")}, "--token-file: " + token},
		{nil, []string{"profiles", "set", "p", "--url", "http://h", "--token-file", write("\xff\xfea\x00")}, "--token-file "},
		{map[string]string{"BELFRY_DATABASE_URL": "nonsense"}, []string{"migrate", "status"}, "BELFRY_DATABASE_URL: the database address is not valid"},
		{map[string]string{"BELFRY_DATABASE_URL": "nonsense"}, []string{"tokens", "list"}, "BELFRY_DATABASE_URL: the database address is not valid"},
		{map[string]string{"BELFRY_DATABASE_URL": "x"}, []string{"tokens", "list", "--database-url", "nonsense"}, "--database-url: the database address is not valid"},
		{map[string]string{"BELFRY_DATABASE_URL": "", "BELFRY_URL": "http://127.0.0.1:1"}, []string{"tokens", "create", "--name", "a", "--role", "admin"}, "BELFRY_DATABASE_URL: "},
		{map[string]string{"BELFRY_DATABASE_URL": ""}, []string{"tokens", "list", "--url", "http://127.0.0.1:1"}, "BELFRY_DATABASE_URL: "},
		{map[string]string{"BELFRY_DATABASE_URL": ""}, []string{"migrate", "status", "--database-url", "postgres://h/d"}, "BELFRY_DATABASE_URL: "},
		{nil, []string{"jobs", "submit", "x", "--payload", "@"}, "--payload: behind @ stands the name of a file\n"},
		{nil, []string{"types", "put", "x", "--target", "http://h", "--header", "@"}, "--header: behind @ stands the name of a file\n"},
		{nil, []string{"jobs", "submit", "x", "--payload", "@/nowhere/p"}, "--payload: /nowhere/p: no such file or directory\n"},
		{nil, []string{"jobs", "submit", "--file", "/nowhere/p"}, "--file: /nowhere/p: no such file or directory\n"},
		{nil, []string{"types", "put", "x", "--target", "http://h", "--header", "@/nowhere/p"}, "--header: /nowhere/p: no such file or directory\n"},
		{nil, []string{"schedules", "apply", "/nowhere/p"}, "belfry: /nowhere/p: no such file or directory\n"},
		{nil, []string{"doctor", "--deployment", "/nowhere/p"}, "--deployment: /nowhere/p: no such file or directory\n"},
		{nil, []string{"schedules", "import", "crontab", "/nowhere/p", "--type", "x"}, "belfry: /nowhere/p: no such file or directory\n"},
		{nil, []string{"profiles", "set", "p", "--url", "http://h", "--token-file", "/nowhere/p"}, "--token-file: /nowhere/p: no such file or directory\n"},
	} {
		r := newRig(t, "")
		if r.env = c.env; r.env == nil {
			r.env = map[string]string{}
		}
		if code := r.run(c.args...); code != console.ExitUsage || !strings.HasPrefix(r.errs, "belfry: "+strings.TrimPrefix(c.says, "belfry: ")) || strings.Contains(r.errs, " or --") {
			t.Errorf("belfry %q with %q: %d %s%s\nwant %q", c.args, c.env, code, r.out, r.errs, c.says)
		}
	}
	r := newRig(t, "")
	r.ok("profiles", "set", "p", "--url", "http://h", "--token-file", write("\ufeffsecret\n"))
}

// An address with a path that the server does not have is told to be the cause.
func TestTheAddressHasAPath(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	good := r.env["BELFRY_URL"]
	for _, path := range []string{"/v1/jobs", "/v1/jobs/", "/nowhere"} {
		want := "calls were made below " + strings.TrimSuffix(path, "/") + ", which BELFRY_URL says: give it the server's address alone, such as " + good + "\n"
		r.env["BELFRY_URL"] = good + path
		if code := r.run("jobs", "list"); code != console.ExitNotFound || !strings.HasSuffix(r.errs, want) {
			t.Errorf("%s: %d %s\nwant %q", path, code, r.errs, want)
		}
		if code := r.run("jobs", "list", "--url", good+path, "--json"); code != console.ExitNotFound || !strings.Contains(r.errs, "which --url says") {
			t.Errorf("%s: %d %s", path, code, r.errs)
		}
		if code := r.run("doctor"); code != console.ExitFailed || !strings.Contains(r.out, "→ "+want) {
			t.Errorf("%s: %d %s%s", path, code, r.out, r.errs)
		}
	}
	r.env["BELFRY_URL"] = good
	if code := r.run("jobs", "get", "99"); code != console.ExitNotFound || strings.Contains(r.errs, "calls were made below") {
		t.Errorf("%d %s", code, r.errs)
	}
}
