package cloudruntest

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// What the tokens of an Issuer say if nobody asks for something else.
const (
	Audience = "https://worker.example.com"
	Account  = "invoker@project.iam.gserviceaccount.com"
)

// Issuer signs identity tokens as Google does, and serves its keys.
type Issuer struct {
	mu      sync.Mutex
	key     jose.JSONWebKey
	others  []jose.JSONWebKey // that are served beside it
	cache   string            // Cache-Control
	down    bool
	fetches int
}

// NewIssuer makes an issuer with one key.
func NewIssuer(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{cache: "public, max-age=3600"}
	i.Rotate(t)
	i.others = nil
	return i
}

// Serve serves the keys on a loopback address until the test ends.
func (i *Issuer) Serve(t testing.TB) (address string) {
	t.Helper()
	server := httptest.NewServer(i)
	t.Cleanup(server.Close)
	return server.URL + "/certs"
}

// Rotate makes a new key, which signs from now on. The one before is served still, those before it are not.
func (i *Issuer) Rotate(t testing.TB) {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.others = []jose.JSONWebKey{i.key}
	i.key = jose.JSONWebKey{Key: private, KeyID: rand.Text(), Algorithm: string(jose.RS256), Use: "sig"}
}

// Retire stops serving all keys but the one that signs.
func (i *Issuer) Retire() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.others = nil
}

// Down says whether the keys are not to be had.
func (i *Issuer) Down(down bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.down = down
}

// Cache sets the Cache-Control of the keys.
func (i *Issuer) Cache(control string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.cache = control
}

// Fetches is how often the keys were asked for.
func (i *Issuer) Fetches() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches
}

// Key is the key that signs.
func (i *Issuer) Key() jose.JSONWebKey {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.key
}

// ServeHTTP answers with the keys, among others that are not for signatures of this kind.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.fetches++
	if i.down {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	keys := []any{
		map[string]string{"kty": "FUTURE", "kid": "of another kind"},
		map[string]string{"kty": "EC", "kid": "damaged", "crv": "P-256"},
		i.key.Public(),
	}
	for _, k := range i.others {
		if k.Key != nil {
			keys = append(keys, k.Public())
		}
	}
	w.Header().Set("Cache-Control", i.cache)
	_ = json.NewEncoder(w).Encode(map[string]any{"keys": keys})
}

// Claims are those of a good token, with some replaced; nil takes one away.
func Claims(replaced map[string]any) map[string]any {
	now := time.Now()
	c := map[string]any{
		"iss": "https://accounts.google.com", "aud": Audience, "azp": "1234567890", "sub": "1234567890",
		"email": Account, "email_verified": true, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	maps.Copy(c, replaced)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

// Token signs the claims of a good token, with some replaced.
func (i *Issuer) Token(t testing.TB, replaced map[string]any) string {
	t.Helper()
	return Sign(t, jose.RS256, i.Key(), Claims(replaced))
}

// Sign signs claims with any key, as anyone could.
func Sign(t testing.TB, algorithm jose.SignatureAlgorithm, key any, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, (&jose.SignerOptions{}).WithType("JWT"))
	if err == nil {
		var token string
		if token, err = jwt.Signed(signer).Claims(claims).Serialize(); err == nil {
			return token
		}
	}
	t.Fatal(fmt.Errorf("sign: %w", err))
	return ""
}
