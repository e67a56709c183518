package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api"
)

// A first token that could make no other would lock everybody out: it is refused with the way out, and nothing is shut.
func TestTheFirstTokenIsAnAdmins(t *testing.T) {
	b := newBench(t)
	for body, field := range map[string]string{
		`{"name":"n","role":"read"}`:                   "role",
		`{"name":"n","role":"submit"}`:                 "role",
		`{"name":"n","role":"read","tenant":"acme"}`:   "role",
		`{"name":"n","role":"admin","tenant":"acme"}`:  "tenant",
		`{"name":"n","role":"submit","tenant":"acme"}`: "role",
		`{"name":"","role":"read","tenant":"\u0000"}`:  "role",
	} {
		got := b.do("POST", "/v1/tokens", body).want(t, http.StatusUnprocessableEntity)
		if !strings.Contains(got.body, `"field":"`+field+`"`) || !strings.Contains(got.body, "BELFRY_TOKENS") {
			t.Errorf("%s: %s", body, got.body)
		}
		b.do("GET", "/v1/jobs", "").want(t, http.StatusOK)
	}
	ends := func(in time.Duration) string {
		return `{"name":"n","role":"admin","expires_at":"` + time.Now().Add(in).UTC().Format(time.RFC3339) + `"}`
	}
	if got := b.do("POST", "/v1/tokens", ends(50*time.Minute)).want(t, http.StatusUnprocessableEntity); !strings.Contains(got.body, `"field":"expires_at"`) || !strings.Contains(got.body, "BELFRY_TOKENS") {
		t.Error(got.body)
	}
	admin := b.token("", "admin", "")
	b.token(admin.Token, "read", "")
	b.token(admin.Token, "admin", "acme")

	b.as(admin.Token, "POST", "/v1/tokens", ends(10*time.Minute)).want(t, http.StatusCreated)

	static := newBench(t, withToken)
	static.token(aToken, "read", "acme")
	static.as(aToken, "POST", "/v1/tokens", ends(10*time.Minute)).want(t, http.StatusCreated)
}

// The last token that can make others stays as long as there are others; alone it may go, and the server is open again.
func TestTheLastAdminStays(t *testing.T) {
	b := newBench(t)
	admin := b.token("", "admin", "")
	reader := b.token(admin.Token, "read", "")
	of := b.token(admin.Token, "admin", "acme")
	expired := core.Token{Role: core.RoleAdmin, ExpiresAt: time.Now().AddDate(0, 0, -1)}
	b.keep(expired)
	for range 1100 { // more than a page
		b.keep(core.Token{Role: core.RoleSubmit})
	}
	refused := b.as(admin.Token, "DELETE", "/v1/tokens/"+admin.ID, "").want(t, http.StatusConflict)
	if !strings.Contains(refused.body, "BELFRY_TOKENS") {
		t.Error(refused.body)
	}
	b.as(admin.Token, "DELETE", "/v1/tokens/"+reader.ID, "").want(t, http.StatusNoContent)
	b.as(admin.Token, "DELETE", "/v1/tokens/"+of.ID, "").want(t, http.StatusNoContent)
	second := b.token(admin.Token, "admin", "")
	b.as(admin.Token, "DELETE", "/v1/tokens/"+admin.ID, "").want(t, http.StatusNoContent)
	b.as(second.Token, "DELETE", "/v1/tokens/"+second.ID, "").want(t, http.StatusConflict)

	static := newBench(t, func(o *api.Options) { withToken(o) })
	one := static.token(aToken, "admin", "")
	static.token(aToken, "read", "")
	static.as(one.Token, "DELETE", "/v1/tokens/"+one.ID, "").want(t, http.StatusNoContent)
}
