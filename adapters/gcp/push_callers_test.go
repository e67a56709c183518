package gcp

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/belfry-dev/belfry/internal/cloudruntest"
)

func callers(t *testing.T, issuer http.Handler, unsigned bool) *Callers {
	t.Helper()
	c, err := NewCallers(CallerOptions{Audience: cloudruntest.Audience, Account: cloudruntest.Account, Keys: remote(issuer), Unsigned: unsigned})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// part encodes one part of a token.
func part(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// TestCallers: one token is accepted. All others are refused without reading their body: with 401, or with 403 if the token
// is valid but belongs to another caller.
func TestCallers(t *testing.T) {
	issuer := cloudruntest.NewIssuer(t)
	token := func(replaced map[string]any) string { return "Bearer " + issuer.Token(t, replaced) }
	at := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&issuer.Key().Key.(*rsa.PrivateKey).PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	secret := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}) // as used by a verifier that accepts any algorithm
	name := issuer.Key().KeyID
	good := issuer.Token(t, nil)
	head := good[:strings.IndexByte(good, '.')]
	unsigned := head + "." + part(t, cloudruntest.Claims(nil))
	for what, c := range map[string]struct {
		header string
		want   int
	}{
		"right":                      {"Bearer " + good, 204},
		"right, by its short name":   {token(map[string]any{"iss": "accounts.google.com"}), 204},
		"right, in small letters":    {"bearer " + good, 204},
		"a list of one audience":     {token(map[string]any{"aud": []string{cloudruntest.Audience}}), 204},
		"clocks apart":               {token(map[string]any{"exp": at(-30 * time.Second), "iat": at(30 * time.Second)}), 204},
		"none":                       {"", 401},
		"no bearer":                  {"Basic dTpw", 401},
		"empty":                      {"Bearer ", 401},
		"no token":                   {"Bearer blt1_of_belfry", 401},
		"three dots":                 {"Bearer ...", 401},
		"huge":                       {"Bearer " + strings.Repeat("x", 9000), 401},
		"another key by its name":    {"Bearer " + cloudruntest.Sign(t, jose.RS256, jose.JSONWebKey{Key: stranger, KeyID: name}, cloudruntest.Claims(nil)), 401},
		"another key":                {"Bearer " + cloudruntest.Sign(t, jose.RS256, jose.JSONWebKey{Key: stranger, KeyID: "x"}, cloudruntest.Claims(nil)), 401},
		"a key without a name":       {"Bearer " + cloudruntest.Sign(t, jose.RS256, stranger, cloudruntest.Claims(nil)), 401},
		"the public key as a secret": {"Bearer " + cloudruntest.Sign(t, jose.HS256, jose.JSONWebKey{Key: secret, KeyID: name}, cloudruntest.Claims(nil)), 401},
		"another RSA signature":      {"Bearer " + cloudruntest.Sign(t, jose.PS256, issuer.Key(), cloudruntest.Claims(nil)), 401},
		"no algorithm":               {"Bearer " + part(t, map[string]string{"alg": "none", "kid": name}) + "." + part(t, cloudruntest.Claims(nil)) + ".", 401},
		"no signature":               {"Bearer " + unsigned + ".", 401},
		"signature removed":          {"Bearer " + unsigned + "." + removed, 401},
		"other claims, signed once":  {"Bearer " + head + "." + part(t, cloudruntest.Claims(map[string]any{"sub": "x"})) + good[strings.LastIndexByte(good, '.'):], 401},
		"claims that are no object":  {"Bearer " + cloudruntest.Sign(t, jose.RS256, issuer.Key(), map[string]any{"aud": map[string]int{}}), 401},
		"expired":                    {token(map[string]any{"exp": at(-2 * time.Minute)}), 401},
		"never expires":              {token(map[string]any{"exp": nil}), 401},
		"not issued yet":             {token(map[string]any{"iat": at(5 * time.Minute)}), 401},
		"issued who knows when":      {token(map[string]any{"iat": nil}), 401},
		"issued long ago":            {token(map[string]any{"iat": at(-48 * time.Hour)}), 401},
		"not valid yet":              {token(map[string]any{"nbf": at(5 * time.Minute)}), 401},
		"foreign audience":           {token(map[string]any{"aud": "https://other.example.com"}), 401},
		"audience with more":         {token(map[string]any{"aud": cloudruntest.Audience + "/"}), 401},
		"audience in a list":         {token(map[string]any{"aud": []string{"https://other.example.com", cloudruntest.Audience}}), 401},
		"no audience":                {token(map[string]any{"aud": nil}), 401},
		"another issuer":             {token(map[string]any{"iss": "https://accounts.example.com"}), 401},
		"no issuer":                  {token(map[string]any{"iss": nil}), 401},
		"another account":            {token(map[string]any{"email": "other@project.iam.gserviceaccount.com"}), 403},
		"no account":                 {token(map[string]any{"email": nil}), 403},
		"an unverified account":      {token(map[string]any{"email_verified": false}), 403},
		"of unknown verification":    {token(map[string]any{"email_verified": nil}), 403},
	} {
		entered := 0
		var why error
		h := callers(t, issuer, false).Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { entered++; w.WriteHeader(204) }), func(err error) { why = err })
		body := &watched{Reader: strings.NewReader("{}")}
		r := httptest.NewRequest(http.MethodPost, "/push", body)
		r.Header.Set("Authorization", c.header)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want || (entered == 1) != (c.want == 204) || (why == nil) != (c.want == 204) || body.read {
			t.Errorf("%s: %d, want %d; entered %d times, read %v, %v", what, w.Code, c.want, entered, body.read, why)
		}
		if why != nil && len(c.header) > 20 && strings.Contains(why.Error(), c.header[len(c.header)-10:]) {
			t.Errorf("%s: the error contains the token: %v", what, why)
		}
		if (w.Header().Get("WWW-Authenticate") != "") != (c.want == 401) || w.Body.Len() > 0 {
			t.Errorf("%s: %v %q", what, w.Header(), w.Body)
		}
	}
}

type watched struct {
	io.Reader
	read bool
}

func (w *watched) Read(p []byte) (int, error) { w.read = true; return w.Reader.Read(p) }

func check(c *Callers, tokens ...string) error {
	r := httptest.NewRequest(http.MethodPost, "/push", nil)
	for _, token := range tokens {
		r.Header.Add("Authorization", "Bearer "+token)
	}
	return c.Check(r)
}

// TestCallersWithoutSignature: if Cloud Run checks callers and removes their signatures, everything else is still checked,
// and a signature that is present must be valid.
func TestCallersWithoutSignature(t *testing.T) {
	issuer := cloudruntest.NewIssuer(t)
	c := callers(t, issuer, true)
	bare := func(replaced map[string]any) string {
		return part(t, map[string]string{"alg": "RS256"}) + "." + part(t, cloudruntest.Claims(replaced)) + "." + removed
	}
	for what, token := range map[string]string{"removed": bare(nil), "there": issuer.Token(t, nil)} {
		if err := check(c, token); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	damaged := issuer.Token(t, nil)
	for what, token := range map[string]string{
		"expired": bare(map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}), "foreign": bare(map[string]any{"aud": "x"}),
		"another's": bare(map[string]any{"email": "x@y"}), "by another": bare(map[string]any{"iss": "x"}),
		"damaged": damaged[:len(damaged)-4] + "AAAA", "without claims": "x.." + removed, "one part": "x." + removed, "alone": removed,
	} {
		if err := check(c, token); !errors.Is(err, ErrToken) && !errors.Is(err, ErrCaller) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestCallersCannotBeTold: without keys no caller is accepted, and the answer does not blame the caller.
func TestCallersCannotBeTold(t *testing.T) {
	issuer := cloudruntest.NewIssuer(t)
	issuer.Down(true)
	c := callers(t, issuer, false)
	token := issuer.Token(t, nil)
	if err := check(c, token); err == nil || errors.Is(err, ErrToken) || errors.Is(err, ErrCaller) {
		t.Errorf("%v", err)
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/push", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	c.Guard(http.NotFoundHandler(), nil).ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d", w.Code)
	}
	if err := check(c, token, token); !errors.Is(err, ErrToken) {
		t.Errorf("two tokens: %v", err)
	}
}

func TestCallersNeedToKnowWhom(t *testing.T) {
	keys := remote(http.NotFoundHandler())
	for _, o := range []CallerOptions{{Audience: "a", Account: "b"}, {Audience: "a", Keys: keys}, {Account: "b", Keys: keys}} {
		if c, err := NewCallers(o); err == nil || c != nil {
			t.Errorf("%+v is taken", o)
		}
	}
}
