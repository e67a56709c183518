package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
)

// greeter is a server that notes which token came, and answers like one without jobs.
func greeter(t *testing.T, tokens *[]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*tokens = append(*tokens, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		status(200, `{"items":[],"next_cursor":""}`)(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// profileRig has the profiles "one" and "default", each of a server of its own.
func profileRig(t *testing.T) (r *rig, first, second *[]string) {
	t.Helper()
	first, second = new([]string), new([]string)
	r = newRig(t, "")
	delete(r.env, "BELFRY_URL")
	r.in = "s3cr3t-0ne\n"
	r.ok("profiles", "set", "one", "--url", greeter(t, first), "--token-file", "-")
	r.ok("profiles", "set", "default", "--url", greeter(t, second), "--token", "s3cr3t-tw0")
	return r, first, second
}

func last(tokens *[]string) string {
	if len(*tokens) == 0 {
		return "not called"
	}
	token := (*tokens)[len(*tokens)-1]
	*tokens = nil
	return token
}

func TestFlagBeforeEnvironmentBeforeProfile(t *testing.T) {
	r, first, second := profileRig(t)
	third := new([]string)
	other := greeter(t, third)
	for _, c := range []struct {
		env, args            string
		one, standard, third string // the token each server saw
	}{
		{"", "", "not called", "s3cr3t-tw0", "not called"},
		{"", "--profile one", "s3cr3t-0ne", "not called", "not called"},
		{"BELFRY_PROFILE=one", "", "s3cr3t-0ne", "not called", "not called"},
		{"BELFRY_PROFILE=default", "--profile one", "s3cr3t-0ne", "not called", "not called"},
		{"BELFRY_PROFILE=one BELFRY_TOKEN=fr0m-env", "", "fr0m-env", "not called", "not called"},
		{"BELFRY_PROFILE=one BELFRY_TOKEN=fr0m-env", "--token fr0m-flag", "fr0m-flag", "not called", "not called"},
		{"BELFRY_PROFILE=one BELFRY_URL=" + other, "", "not called", "not called", ""}, // its token is not for another server
		{"BELFRY_URL=http://127.0.0.1:1", "--url " + other, "not called", "not called", ""},
		{"", "--profile one --url " + other + " --token fr0m-flag", "not called", "not called", "fr0m-flag"},
	} {
		r.env = map[string]string{}
		for _, pair := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(pair, "=")
			r.env[name] = value
		}
		r.ok(append([]string{"jobs", "list"}, strings.Fields(c.args)...)...)
		if a, b, d := last(first), last(second), last(third); a != c.one || b != c.standard || d != c.third {
			t.Errorf("%s belfry %s: tokens %q %q %q", c.env, c.args, a, b, d)
		}
	}
}

// A profile that was emptied by hand leads nowhere, least of all to the default server.
func TestProfileWithoutAddress(t *testing.T) {
	r, _, _ := profileRig(t)
	path := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "belfry", "profiles.json")
	if err := os.WriteFile(path, []byte(`{"default":{"url":"","token":"s3cr3t"},"one":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"jobs list", "jobs list --profile one"} {
		if code := r.run(strings.Fields(args)...); code != console.ExitUsage || !strings.Contains(r.errs, "has no url") {
			t.Errorf("%s: %d %s", args, code, r.errs)
		}
	}
}

// A profile's token goes to its own address, however that is written.
func TestProfilesAddressHasManyForms(t *testing.T) {
	r, first, _ := profileRig(t)
	r.ok("profiles", "list")
	address := strings.Fields(r.out[strings.Index(r.out, "one"):])[1]
	for _, written := range []string{address, address + "/", address + "/v1", address + "/v1/"} {
		r.ok("jobs", "list", "--profile", "one", "--url", written)
		if token := last(first); token != "s3cr3t-0ne" {
			t.Errorf("%s: %q", written, token)
		}
	}
	r.ok("profiles", "set", "one", "--url", address+"/v1/")
	r.ok("jobs", "list", "--profile", "one")
	if token := last(first); token != "s3cr3t-0ne" {
		t.Errorf("the same address took the token away: %q", token)
	}
}

func TestProfilesAreKeptAndForgotten(t *testing.T) {
	r, _, _ := profileRig(t)
	path := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "belfry", "profiles.json")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for _, args := range []string{"profiles list", "profiles list --json", "profiles set one --token x --json", "profiles delete one --dry-run", "doctor --profile one", "jobs list --profile one", "--help"} {
		r.run(strings.Fields(args)...)
		if strings.Contains(r.out+r.errs, "s3cr3t") {
			t.Errorf("belfry %s prints a token\n%s%s", args, r.out, r.errs)
		}
	}
	r.ok("profiles", "set", "one", "--url", "http://127.0.0.1:1")
	if out := r.ok("profiles", "list", "--json"); !strings.Contains(out, `{"name":"one","url":"http://127.0.0.1:1","token":false}`) {
		t.Errorf("the token went along to another address\n%s", out)
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"profiles set ../x --url http://h", console.ExitUsage, "a profile's name must be"},
		{"profiles set new", console.ExitUsage, "wants --url"},
		{"profiles set new --url ftp://h", console.ExitUsage, "--url: the address must be"},
		{"profiles set new --url http://h --token-file /nowhere", console.ExitUsage, "--token-file"},
		{"profiles set new --url http://h --token-file " + os.DevNull, console.ExitUsage, "--token-file must hold a token"},
		{"profiles delete nobody --yes", console.ExitNotFound, `there is no profile "nobody"`},
		{"profiles delete one", console.ExitUsage, "--yes does it"},
		{"jobs list --profile nobody", console.ExitUsage, `there is no profile "nobody"`},
	} {
		if code := r.run(strings.Fields(c.args)...); code != c.code || !strings.Contains(r.errs, c.says) {
			t.Errorf("belfry %s: %d %s", c.args, code, r.errs)
		}
	}
	r.ok("profiles", "delete", "one", "--yes")
	if out := r.ok("profiles", "list"); strings.Contains(out, "one") || !strings.Contains(out, "default") {
		t.Error(out)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestProfilesThatCannotBeTrusted(t *testing.T) {
	r, _, _ := profileRig(t)
	path := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "belfry", "profiles.json")
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		for _, args := range []string{"jobs list", "profiles list", "profiles set one --url http://h", "profiles delete one --yes"} {
			if code := r.run(strings.Fields(args)...); code != console.ExitUsage || !strings.Contains(r.errs, "chmod 600") {
				t.Errorf("%o: belfry %s: %d\n%s%s", mode, args, code, r.out, r.errs)
			}
		}
		r.ok("version")
		r.ok("completion", "bash")
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "null", "{", "[]", `{"one":{"url":"http://h","tokn":"s3cr3t"}}`, `{"one":"s3cr3t"}`, `{} {}`, "\x1b[2J"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if code := r.run("jobs", "list"); code != console.ExitUsage || !strings.Contains(r.errs, "belfry profiles set writes it") || strings.Contains(r.errs, "s3cr3t") {
			t.Errorf("%q: %d %s", text, code, r.errs)
		}
	}
	if err := os.WriteFile(path, []byte(`{"default":{"url":"ftp://\u001b[2J","token":"a b"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := r.run("jobs", "list"); code != console.ExitUsage || !strings.Contains(r.errs, `the profile "default": the address must be`) {
		t.Errorf("%d %s", code, r.errs)
	}
}

func TestTheAddressWhereNothingSaysOne(t *testing.T) {
	r := newRig(t, "")
	delete(r.env, "BELFRY_URL")
	var called string
	r.trip = roundTrip(func(q *http.Request) (*http.Response, error) {
		called = q.URL.Host
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: q}, nil
	})
	if code := r.run("stats"); code != console.ExitUnreachable || called != "127.0.0.1:8080" {
		t.Errorf("%d, called %q", code, called)
	}
}
