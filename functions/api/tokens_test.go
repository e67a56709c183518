package api_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api"
)

// madeToken is the answer to POST /v1/tokens.
type madeToken struct {
	ID, Name, Role, Tenant, Token string
}

// token makes a token by the API itself; by is the token that makes it, "" while there is none.
func (b *bench) token(by, role, tenant string) madeToken {
	b.t.Helper()
	body := `{"name":"n","role":"` + role + `"`
	if tenant != "" {
		body += `,"tenant":"` + tenant + `"`
	}
	a := b.as(by, "POST", "/v1/tokens", body+"}").want(b.t, http.StatusCreated)
	return decode[madeToken](b.t, a)
}

// as sends a request with a token.
func (b *bench) as(token, method, target, body string, header ...string) Writer {
	b.t.Helper()
	if token != "" {
		header = append(header, "Authorization", "Bearer "+token)
	}
	return b.do(method, target, body, header...)
}

// clock is a time that tests move.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }

// The first token closes a server that was open, and the last one to go opens it again.
func TestOpenUntilTheFirstToken(t *testing.T) {
	b := newBench(t)
	b.do("GET", "/v1/jobs", "").want(t, http.StatusOK)
	made := b.token("", "admin", "")
	if made.Token == "" || !strings.Contains(made.Token, made.ID) || made.Role != "admin" {
		t.Errorf("%+v", made)
	}
	b.do("GET", "/v1/jobs", "").want(t, http.StatusUnauthorized)
	b.as(made.Token[:len(made.Token)-1]+"x", "GET", "/v1/jobs", "").want(t, http.StatusUnauthorized)
	b.as(made.Token, "GET", "/v1/jobs", "").want(t, http.StatusOK)
	list := b.as(made.Token, "GET", "/v1/tokens", "").want(t, http.StatusOK)
	if secret := made.Token[len(made.Token)-20:]; strings.Contains(list.body, secret) || !strings.Contains(list.body, made.ID) {
		t.Errorf("the list is %s", list.body)
	}
	b.as(made.Token, "DELETE", "/v1/tokens/"+made.ID, "").want(t, http.StatusNoContent)
	b.do("GET", "/v1/jobs", "").want(t, http.StatusOK)
	b.do("DELETE", "/v1/tokens/"+made.ID, "").want(t, http.StatusNotFound)
}

// A server that others reach never opens, whatever becomes of its tokens.
func TestClosedStaysClosed(t *testing.T) {
	b := newBench(t, func(o *api.Options) { o.Closed = true })
	if got := b.raw("GET", "/v1/jobs", ""); got.Code != http.StatusUnauthorized {
		t.Errorf("without tokens: %d", got.Code)
	}
	text := b.keep(core.Token{Role: core.RoleAdmin})
	if got := b.raw("GET", "/v1/jobs", "", "Authorization", "Bearer "+text); got.Code != http.StatusOK {
		t.Errorf("with one: %d", got.Code)
	}
}

// raw sends a request and does not hold it against the document, which differs where tokens are always needed.
func (b *bench) raw(method, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(b.t.Context(), method, target, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	b.api.ServeHTTP(w, r)
	return w
}

// keep puts a token into the store as another process would, and returns its text.
func (b *bench) keep(t core.Token) string {
	b.t.Helper()
	text, id, hash, err := core.NewToken(rand.Reader)
	if err != nil {
		b.t.Fatal(err)
	}
	t.ID, t.Hash, t.Name = id, hash, "n"
	if _, err := b.store.CreateToken(b.t.Context(), t); err != nil {
		b.t.Fatal(err)
	}
	return text
}

// counted counts what reaches the store.
type counted struct {
	core.AccessStore
	finds  atomic.Int64
	flying atomic.Int64
	most   atomic.Int64 // of finds at once
}

func (c *counted) FindTokens(ctx context.Context, ids []string) ([]core.Token, error) {
	c.finds.Add(1)
	now := c.flying.Add(1)
	defer c.flying.Add(-1)
	for most := c.most.Load(); now > most && !c.most.CompareAndSwap(most, now); most = c.most.Load() {
	}
	return c.AccessStore.FindTokens(ctx, ids)
}

// A token revoked by another process goes on for as long as it is remembered, and no longer; one that expires ends
// at its time.
func TestTokensEnd(t *testing.T) {
	var store *counted
	clock := &clock{}
	b := newBench(t, func(o *api.Options) {
		store = &counted{AccessStore: o.Access}
		o.Access, o.Now = store, clock.now
	})
	b.keep(core.Token{Role: core.RoleAdmin}) // so that there is always one
	revoked := b.keep(core.Token{Role: core.RoleRead})
	expires := b.keep(core.Token{Role: core.RoleRead, ExpiresAt: clock.now().Add(3 * time.Second)})
	for range 50 {
		b.as(revoked, "GET", "/v1/jobs", "").want(t, http.StatusOK)
		b.as(expires, "GET", "/v1/jobs", "").want(t, http.StatusOK)
	}
	if n := store.finds.Load(); n != 2 {
		t.Errorf("100 calls with two tokens looked %d times", n)
	}
	id, _, _ := core.ParseToken(revoked)
	if err := b.store.RevokeToken(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	clock.advance(4 * time.Second)
	b.as(expires, "GET", "/v1/jobs", "").want(t, http.StatusUnauthorized)
	clock.advance(2 * time.Second)
	b.as(revoked, "GET", "/v1/jobs", "").want(t, http.StatusUnauthorized)
}

// atOnce makes calls at once, each with its own token, and counts the answers by status.
func (b *bench) atOnce(tokens []string) map[int]int {
	codes := make([]int, len(tokens))
	var group sync.WaitGroup
	for i, text := range tokens {
		group.Go(func() { codes[i] = b.raw("GET", "/v1/jobs?limit=1", "", "Authorization", "Bearer "+text).Code })
	}
	group.Wait()
	counts := map[int]int{}
	for _, code := range codes {
		counts[code]++
	}
	return counts
}

func (b *bench) madeUp(n int) (texts []string) {
	b.t.Helper()
	for range n {
		text, _, _, err := core.NewToken(rand.Reader)
		if err != nil {
			b.t.Fatal(err)
		}
		texts = append(texts, text)
	}
	return texts
}

// However many valid tokens are used for the first time at once, as after a restart, and however many made-up ones come
// from the same address: all that are valid are served, and the store is asked few times. A made-up one that is tried
// again is remembered.
func TestFirstUsesAreNotRefused(t *testing.T) {
	var store *counted
	b := newBench(t, func(o *api.Options) {
		store = &counted{AccessStore: o.Access}
		now := time.Now() // stands still: what is remembered stays so
		o.Access, o.Now = store, func() time.Time { return now }
	})
	var good []string
	for range 1500 {
		good = append(good, b.keep(core.Token{Role: core.RoleRead}))
	}
	flood := b.madeUp(1500)
	if got := b.atOnce(flood); got[http.StatusUnauthorized] != len(flood) {
		t.Errorf("made-up tokens: %v", got)
	}
	done := make(chan map[int]int, 1)
	go func() { done <- b.atOnce(append(b.madeUp(1500), flood...)) }()
	if got := b.atOnce(good); got[http.StatusOK] != len(good) {
		t.Errorf("valid tokens: %v", got)
	}
	if got := <-done; got[http.StatusUnauthorized] != 3000 {
		t.Errorf("made-up tokens: %v", got)
	}
	if n := store.most.Load(); n > 2 {
		t.Errorf("%d look-ups at once", n)
	}
	before := store.finds.Load()
	b.atOnce(append(flood[:100], good...))
	if n := store.finds.Load() - before; n > 0 {
		t.Errorf("what was looked up just now was looked up again: %d", n)
	}
}

// On an open loopback server a page whose name a stranger's name server points here is refused.
func TestRebindingIsRefused(t *testing.T) {
	b := newBench(t, func(o *api.Options) { o.Loopback = true })
	call := func(host string, header ...string) int {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/jobs", nil)
		r.Host = host
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		b.api.ServeHTTP(w, r)
		return w.Code
	}
	for _, host := range []string{"localhost", "LOCALHOST:8080", "127.0.0.1:8080", "127.9.9.9", "[::1]:8080", "[::1]", "belfry.localhost:1", "localhost."} {
		if code := call(host); code != http.StatusOK {
			t.Errorf("%s: %d", host, code)
		}
	}
	for _, host := range []string{"evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "notlocalhost", "10.0.0.1", "[fe80::1]:80", "", ":8080", "0.0.0.0"} {
		if code := call(host); code != http.StatusForbidden {
			t.Errorf("%s: %d", host, code)
		}
	}
	text := b.keep(core.Token{Role: core.RoleRead})
	if code := call("belfry.example", "Authorization", "Bearer "+text); code != http.StatusOK {
		t.Errorf("with a token: %d", code)
	}
}

// One caller cannot take all: each token, and each address without one, has its own bound.
func TestRates(t *testing.T) {
	clock := &clock{}
	frozen := clock.now()
	b := newBench(t, func(o *api.Options) { o.Limits.Rate, o.Now = 10, func() time.Time { return frozen } })
	one, two := b.keep(core.Token{Role: core.RoleRead}), b.keep(core.Token{Role: core.RoleRead})
	for i := range 12 {
		got := b.as(one, "GET", "/v1/jobs", "")
		if want := map[bool]int{true: http.StatusOK, false: http.StatusTooManyRequests}[i < 10]; got.status != want {
			t.Errorf("call %d: %d", i, got.status)
		}
		if got.status == http.StatusTooManyRequests && got.header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After %q", got.header.Get("Retry-After"))
		}
	}
	b.as(two, "GET", "/v1/jobs", "").want(t, http.StatusOK)
	codes := map[int]int{}
	for range 15 {
		codes[b.raw("GET", "/v1/jobs", "").Code]++ // from one address
	}
	if codes[http.StatusUnauthorized] != 10 || codes[http.StatusTooManyRequests] != 5 {
		t.Errorf("without a token: %v", codes)
	}
	for range 30 {
		b.do("GET", "/healthz", "").want(t, http.StatusOK)
	}
	frozen = frozen.Add(time.Second)
	b.as(one, "GET", "/v1/jobs", "").want(t, http.StatusOK)
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	b := newBench(t)
	for _, path := range []string{"/v1/jobs", "/v1/nothing", "/docs", "/healthz", "/v1/jobs/x"} {
		for _, tls := range []bool{false, true} {
			address := "http://belfry.example" + path
			if tls {
				address = "https://belfry.example" + path
			}
			w := httptest.NewRecorder()
			b.api.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", address, nil))
			h := w.Header()
			if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" || !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
				strings.HasPrefix(path, "/v1/") && h.Get("Cache-Control") != "no-store" || (h.Get("Strict-Transport-Security") != "") != tls || h.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s: %v", address, h)
			}
		}
	}
}

func TestTokensArePagedAndChecked(t *testing.T) {
	b := newBench(t)
	admin := b.token("", "admin", "").Token
	ids := map[string]bool{}
	for i := range 6 {
		ids[b.token(admin, "read", "tenant "+strconv.Itoa(i)).ID] = true
	}
	var page struct {
		Items []struct{ ID, Tenant string }
		Next  string `json:"next_cursor"`
	}
	seen := 0
	for cursor := ""; ; cursor = page.Next {
		page.Items = nil
		a := b.as(admin, "GET", "/v1/tokens?limit=3&cursor="+cursor, "")
		if cursor == "" {
			a = b.as(admin, "GET", "/v1/tokens?limit=3", "")
		}
		if err := json.Unmarshal([]byte(a.want(t, http.StatusOK).body), &page); err != nil {
			t.Fatal(err)
		}
		if seen += len(page.Items); page.Next == "" {
			break
		}
	}
	if seen != 7 {
		t.Errorf("%d tokens on all pages", seen)
	}
	for body, field := range map[string]string{
		`{}`: "name", `{"name":"a"}`: "role", `{"name":"a","role":"root"}`: "role", `{"name":"a","role":"read","tenant":""}`: "tenant",
		`{"name":"","role":"read"}`: "name", `{"name":"a\u0000","role":"read"}`: "name", `{"name":"a","role":"read","expires_at":"2001-01-01T00:00:00Z"}`: "expires_at",
		`{"name":"a","role":"read","expires_at":"tomorrow"}`: "expires_at", `{"name":"a","role":"read","hash":"x"}`: "hash", `{"name":1,"role":"read"}`: "name",
	} {
		got := b.as(admin, "POST", "/v1/tokens", body).want(t, http.StatusUnprocessableEntity)
		if !strings.Contains(got.body, `"field":"`+field) {
			t.Errorf("%s: %s", body, got.body)
		}
	}
	for _, cursor := range []string{"x", "AAAA", "e30"} {
		b.as(admin, "GET", "/v1/tokens?cursor="+cursor, "").want(t, http.StatusUnprocessableEntity)
	}
	b.as(admin, "DELETE", "/v1/tokens/short", "").want(t, http.StatusUnprocessableEntity)
}
