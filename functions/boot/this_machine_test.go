package boot

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// tokenList answers with its tokens, or an error.
type tokenList struct {
	tokens []core.Token
	err    error
	asks   int
}

func (l *tokenList) ListTokens(context.Context, string, int) ([]core.Token, error) {
	l.asks++
	return l.tokens, l.err
}

func TestThisMachineIsOpenUntilThereIsAToken(t *testing.T) {
	now, list := time.Unix(1_000_000, 0), &tokenList{}
	m := &ThisMachine{tokens: list, now: func() time.Time { return now }}
	for range 100 {
		if !m.Open() {
			t.Fatal("shut without a token")
		}
	}
	if list.asks != 1 {
		t.Errorf("asked %d times within a second", list.asks)
	}
	now, list.err = now.Add(tokensEvery), errors.New("down")
	if !m.Open() {
		t.Error("shut while the store does not answer: nobody can have made a token")
	}
	now, list.err, list.tokens = now.Add(tokensEvery), nil, []core.Token{{ID: "a"}}
	if m.Open() {
		t.Error("open with a token")
	}
	now, list.tokens = now.Add(time.Hour), nil
	if m.Open() {
		t.Error("open again: what was submitted while there was a token is there still")
	}
}

// Each header that tells of a proxy shuts it, before the request itself is answered; others do not.
func TestThisMachineIsShutByAProxy(t *testing.T) {
	for _, header := range append(proxyHeaders, "x-forwarded-for", "") {
		m := &ThisMachine{tokens: &tokenList{}, now: time.Now}
		seen := false
		h := m.Watch(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen = m.Open() }))
		for _, name := range []string{"Authorization", "Origin", "Accept", header} {
			r := httptest.NewRequest(http.MethodPost, "/v1/jobs", nil)
			if name != "" {
				r.Header.Set(name, "203.0.113.9")
			}
			h.ServeHTTP(httptest.NewRecorder(), r)
			if want := name != header || name == ""; seen != want {
				t.Errorf("a request with %q: open %t", name, seen)
			}
		}
	}
}
