package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api"
	"github.com/belfry-dev/belfry/functions/api/access"
)

const (
	token = "a-token-of-some-length"
	other = "another-token-of-length"
)

// TestOnlyAWholeTokenOpens: with tokens set every call that tells of jobs needs one of them, and nothing that
// looks like a token does instead.
func TestOnlyAWholeTokenOpens(t *testing.T) {
	b := newBench(t, func(o *api.Options) { o.Tokens = []string{token, other} })
	call := func(method, path string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, nil)
		for _, h := range headers {
			r.Header.Add("Authorization", h)
		}
		w := httptest.NewRecorder()
		b.api.ServeHTTP(w, r)
		return w
	}
	for _, headers := range [][]string{
		nil, {""}, {"Bearer"}, {"Bearer "}, {"Bearer undefined"}, {"Bearer null"}, {"bearer"}, {"none"}, {token}, {"Basic " + token},
		{"Bearer  " + token}, {"Bearer " + token + " "}, {"Bearer " + token[1:]}, {"Bearer " + token + "," + other}, {"Bearer " + strings.ToUpper(token)},
		{"Bearer " + token, "Bearer " + token}, {"Bearer x", "Bearer " + token},
	} {
		for _, at := range []string{"GET /v1/jobs", "POST /v1/jobs", "GET /v1/jobs/1", "POST /v1/jobs/1/cancel", "DELETE /v1/dead-letters", "GET /v1/stats", "GET /metrics"} {
			method, path, _ := strings.Cut(at, " ")
			w := call(method, path, headers...)
			if w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") == "" || w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s with %q: %d %s", at, headers, w.Code, w.Body)
			}
		}
	}
	for _, header := range []string{"Bearer " + token, "bearer " + other} {
		if w := call("GET", "/v1/jobs", header); w.Code != http.StatusOK {
			t.Errorf("%q: %d %s", header, w.Code, w.Body)
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json", "/docs"} {
		if w := call("GET", path); w.Code != http.StatusOK {
			t.Errorf("%s without a token: %d", path, w.Code)
		}
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Security  []map[string][]string
			Responses map[string]any
		}
	}
	if err := json.Unmarshal(call("GET", "/openapi.json").Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if op := doc.Paths["/v1/jobs"]["post"]; len(op.Security) != 1 || op.Responses["401"] == nil {
		t.Errorf("the document does not say that POST /v1/jobs asks for a token: %+v", op.Security)
	}
}

// TestEmptyTokensAreNone: a token that is empty or short is a fault at start, and without tokens nothing but a
// loopback address is served.
func TestEmptyTokensAreNone(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("x", access.MinToken-1), "with a space in the middle"} {
		b := newBench(t)
		if _, err := api.New(api.Options{Submitter: b.api.Submitter, Jobs: b.store, Stats: b.store, Tokens: []string{text}}); err == nil {
			t.Errorf("token %q was taken", text)
		}
	}
	for _, c := range []struct {
		loopback bool
		tokens   []string
		insecure bool
		ok       bool
	}{{true, nil, false, true}, {false, nil, false, false}, {false, []string{token}, false, true}, {false, nil, true, true}} {
		if err := access.CheckOpen(t.Context(), c.loopback, c.tokens, c.insecure, newBench(t).store); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
	b := newBench(t)
	b.keep(core.Token{Role: core.RoleRead})
	if err := access.CheckOpen(t.Context(), false, nil, false, b.store); err != nil {
		t.Errorf("with a token in the store: %v", err)
	}
}
