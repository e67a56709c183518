package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

var tokenLine = regexp.MustCompile(`^belfry_([0-9A-Za-z]{16})_[0-9A-Za-z]{43}\n$`)

// makeToken makes a token and returns its text and id.
func (r *rig) makeToken(args ...string) (text, id string) {
	r.t.Helper()
	out := r.ok(append([]string{"tokens", "create"}, args...)...)
	found := tokenLine.FindStringSubmatch(out)
	if found == nil {
		r.t.Fatalf("create says %q", out)
	}
	if secret := out[len(out)-20:]; strings.Contains(r.errs, secret) || !strings.Contains(r.errs, found[1]) {
		r.t.Errorf("beside the token: %q", r.errs)
	}
	return strings.TrimSpace(out), found[1]
}

// Over the API: the first token closes it, the others are made with that one.
func TestTokensOverTheAPI(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	admin, adminID := r.makeToken("--name", "operations", "--role", "admin")
	if code := r.run("jobs", "list"); code != console.ExitAccess {
		t.Errorf("without a token: %d %s", code, r.errs)
	}
	r.env["BELFRY_TOKEN"] = admin
	shop, shopID := r.makeToken("--name", "shop", "--role", "submit", "--tenant", "acme", "--expires", "720h")
	list := r.ok("tokens", "list")
	for _, want := range []string{adminID, shopID, "shop", "acme", "submit"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list has no %q\n%s", want, list)
		}
	}
	if strings.Contains(list, shop[30:]) {
		t.Errorf("the list proves a token\n%s", list)
	}
	r.env["BELFRY_TOKEN"] = shop
	r.ok("jobs", "submit", "echo")
	if code := r.run("tokens", "list"); code != console.ExitAccess || !strings.Contains(r.errs, "all tenants") {
		t.Errorf("a tenant's token: %d %s", code, r.errs)
	}
	r.env["BELFRY_TOKEN"] = admin
	if code := r.run("tokens", "revoke", shopID); code != console.ExitUsage || !strings.Contains(r.errs, "shop, role submit, tenant acme") {
		t.Errorf("without --yes: %d %s", code, r.errs)
	}
	if out := r.ok("tokens", "revoke", shopID, "--dry-run", "--json"); out != `{"would_revoke":1}`+"\n" {
		t.Errorf("%q", out)
	}
	r.ok("tokens", "revoke", shopID, "--yes")
	if code := r.run("tokens", "revoke", shopID, "--yes"); code != console.ExitNotFound {
		t.Errorf("again: %d %s", code, r.errs)
	}
	r.env["BELFRY_TOKEN"] = shop
	if code := r.run("jobs", "list"); code != console.ExitAccess {
		t.Errorf("revoked: %d %s", code, r.errs)
	}
}

// On the database: so that the first token can be made where the API does not start without one.
func TestTokensOnTheDatabase(t *testing.T) {
	database := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, "http://127.0.0.1:1")
	delete(r.env, "BELFRY_URL")
	r.env["BELFRY_DATABASE_URL"] = database
	if out := r.ok("tokens", "list"); strings.Count(out, "\n") != 1 {
		t.Errorf("the list of none\n%s", out)
	}
	for _, lesser := range []string{"--role read", "--role submit --tenant acme", "--role admin --tenant acme"} {
		if code := r.run(append(strings.Fields("tokens create --name first"), strings.Fields(lesser)...)...); code != console.ExitUsage || r.out != "" || !strings.Contains(r.errs, "or set BELFRY_TOKENS") {
			t.Errorf("%s as the first: %d %s%s", lesser, code, r.out, r.errs)
		}
	}
	var made client.Token
	out := r.ok("tokens", "create", "--name", "first", "--role", "admin", "--expires", "2090-01-01T00:00:00Z", "--json")
	if err := json.Unmarshal([]byte(out), &made); err != nil || !strings.HasPrefix(made.Text, "belfry_"+made.ID+"_") || made.ExpiresAt.Year() != 2090 {
		t.Errorf("%v: %s", err, out)
	}
	if out := r.ok("tokens", "list", "--json"); strings.Contains(out, made.Text) || !strings.Contains(out, made.ID) {
		t.Errorf("list --json\n%s", out)
	}
	store, err := postgres.Open(t.Context(), database, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	address := nodetest.StartOn(t, "api", store)
	r.env["BELFRY_TOKEN"] = made.Text
	r.ok("jobs", "list", "--url", address)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/v1/jobs", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{Transport: r.trip}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %d, %v", response.StatusCode, err)
	}
	_, reader := r.makeToken("--name", "reader", "--role", "read", "--database-url", database)
	if code := r.run("tokens", "revoke", made.ID, "--yes", "--database-url", database); code != console.ExitConflict || !strings.Contains(r.errs, "the last that can make tokens") {
		t.Errorf("the last admin's: %d %s", code, r.errs)
	}
	r.ok("tokens", "revoke", reader, "--yes", "--database-url", database)
	r.ok("tokens", "revoke", made.ID, "--yes", "--database-url", database)
	r.env["BELFRY_TOKENS"] = "a-token-of-the-servers-0123456789"
	_, reader = r.makeToken("--name", "reader", "--role", "read", "--database-url", database)
	r.ok("tokens", "revoke", reader, "--yes", "--database-url", database)
	if out := r.ok("tokens", "list"); strings.Contains(out, made.ID) {
		t.Errorf("revoked, and still listed\n%s", out)
	}
}

func TestTokenCommandsRefuse(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	for args, says := range map[string]string{
		"tokens create":                                                     "name: must say",
		"tokens create --name a":                                            "role: must be admin",
		"tokens create --name a --role root":                                "role: must be admin",
		"tokens create --name a --role read --expires never":                "--expires must be",
		"tokens create --name a --role read --expires -1h":                  "--expires must lie ahead",
		"tokens create --name a --role read --expires 2020-01-01T00:00:00Z": "expires_at: must lie ahead",
		"tokens create a --name a --role read":                              "no arguments",
		"tokens revoke":                                                     "the ids of tokens",
	} {
		if code := r.run(strings.Fields(args)...); code != console.ExitUsage || !strings.Contains(r.errs, says) || r.out != "" {
			t.Errorf("%s: %d %s%s", args, code, r.out, r.errs)
		}
	}
}

// A first token that had ended when it was made, or soon after, would lock everybody out: it is refused with the rule, over the API and on the
// database alike, and none is made.
func TestAFirstTokenThatEndsAtOnceIsRefused(t *testing.T) {
	database := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	for way, place := range map[string][]string{"the API": {"--url", nodetest.Start(t, "api")}, "the database": {"--database-url", database}} {
		r := newRig(t, "")
		for expires, says := range map[string]string{
			"0": "--expires must", "0s": "--expires must lie ahead", "-0s": "--expires must lie ahead", "-1h": "--expires must lie ahead", "": "--expires",
			"0001-01-01T00:00:00Z": "--expires must be", "1970-01-01T00:00:00Z": "expires_at: must lie between 10 years ago and 100 years ahead",
			"1s": "expires_at: must lie an hour ahead or more", "59m": "set BELFRY_TOKENS",
			time.Now().Add(-24 * time.Hour).Format(time.RFC3339): "expires_at: must lie ahead",
		} {
			args := append([]string{"tokens", "create", "--name", "first", "--role", "admin", "--expires", expires}, place...)
			if code := r.run(args...); code != console.ExitUsage || !strings.Contains(r.errs, says) || r.out != "" {
				t.Errorf("%q by %s: %d %s%s, want %q", expires, way, code, r.out, r.errs, says)
			}
		}
		if out := r.ok(append([]string{"tokens", "list", "--json"}, place...)...); out != "" {
			t.Errorf("by %s there are tokens\n%s", way, out)
		}
	}
}
