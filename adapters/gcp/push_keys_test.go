package gcp

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/belfry-dev/belfry/internal/cloudruntest"
)

// direct passes requests to a handler without a network, so that they work in bubbles.
type direct struct{ to http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.to.ServeHTTP(w, r)
	return w.Result(), nil
}

func remote(to http.Handler) *RemoteKeys {
	return NewRemoteKeys("https://keys.example.com/certs", &http.Client{Transport: direct{to}})
}

// kind names the result of a look-up.
func kind(key *rsa.PublicKey, err error) string {
	switch {
	case key != nil && err == nil:
		return "known"
	case errors.Is(err, ErrUnknownKey):
		return "unknown"
	}
	return "cannot be told"
}

// TestKeysAreKept: keys are kept for the time in the answer, however many tokens name keys that do not exist.
func TestKeysAreKept(t *testing.T) {
	issuer := cloudruntest.NewIssuer(t)
	first := issuer.Key().KeyID
	synctest.Test(t, func(t *testing.T) {
		keys := remote(issuer)
		look := func(name, want string) {
			t.Helper()
			if got := kind(keys.Key(t.Context(), name)); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		for range 50 {
			look(first, "known")
			look("of nobody", "unknown")
			look("of another kind", "unknown")
		}
		if n := issuer.Fetches(); n != 1 {
			t.Errorf("%d fetches", n)
		}
		for range 10 { // at most one per five seconds
			time.Sleep(time.Second)
			look("of nobody", "unknown")
		}
		if n := issuer.Fetches(); n != 3 {
			t.Errorf("%d fetches after ten seconds of unknown names, want 3", n)
		}
		time.Sleep(50 * time.Minute)
		look(first, "known")
		if n := issuer.Fetches(); n != 3 {
			t.Errorf("%d fetches within the hour that the answer gives", n)
		}
		time.Sleep(11 * time.Minute)
		look(first, "known")
		if n := issuer.Fetches(); n != 4 {
			t.Errorf("%d fetches after it", n)
		}
	})
}

// TestKeysRotate: a new key is fetched for the first token that it signed, and a retired one is dropped.
func TestKeysRotate(t *testing.T) {
	issuer := cloudruntest.NewIssuer(t)
	synctest.Test(t, func(t *testing.T) {
		keys, old := remote(issuer), issuer.Key().KeyID
		if got := kind(keys.Key(t.Context(), old)); got != "known" {
			t.Fatal(got)
		}
		time.Sleep(time.Minute)
		issuer.Rotate(t)
		for _, name := range []string{issuer.Key().KeyID, old} {
			if got := kind(keys.Key(t.Context(), name)); got != "known" {
				t.Errorf("after a rotation: %s", got)
			}
		}
		issuer.Retire()
		time.Sleep(2 * time.Hour)
		if got := kind(keys.Key(t.Context(), old)); got != "unknown" {
			t.Errorf("the retired key is %s", got)
		}
	})
}

// TestKeysThroughAnOutage: known keys are used for another hour, unknown ones give an error, and there is one try per five
// seconds.
func TestKeysThroughAnOutage(t *testing.T) {
	issuer := cloudruntest.NewIssuer(t)
	issuer.Cache("max-age=120")
	synctest.Test(t, func(t *testing.T) {
		keys, name := remote(issuer), issuer.Key().KeyID
		issuer.Down(true)
		for range 10 {
			if got := kind(keys.Key(t.Context(), name)); got != "cannot be told" {
				t.Errorf("before the first fetch: %s", got)
			}
		}
		if n := issuer.Fetches(); n != 1 {
			t.Errorf("%d fetches", n)
		}
		issuer.Down(false)
		time.Sleep(6 * time.Second)
		if got := kind(keys.Key(t.Context(), name)); got != "known" {
			t.Errorf("it is back: %s", got)
		}
		issuer.Down(true)
		for range 50 {
			time.Sleep(time.Minute)
			for range 3 {
				if got := kind(keys.Key(t.Context(), name)); got != "known" {
					t.Fatalf("in the outage: %s", got)
				}
				if got := kind(keys.Key(t.Context(), "of nobody")); got != "cannot be told" {
					t.Fatalf("in the outage, of a new name: %s", got)
				}
			}
		}
		time.Sleep(20 * time.Minute)
		for range 2 { // the second does not cause another try
			if got := kind(keys.Key(t.Context(), name)); got != "cannot be told" {
				t.Errorf("after it has lasted too long: %s", got)
			}
		}
	})
}

// TestKeysAreFetchedOnce: concurrent requests wait for one fetch. A cancelled request does not cancel it for the others.
func TestKeysAreFetchedOnce(t *testing.T) {
	issuer := cloudruntest.NewIssuer(t)
	synctest.Test(t, func(t *testing.T) {
		keys := remote(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			issuer.ServeHTTP(w, r)
		}))
		gone, leave := context.WithCancel(t.Context())
		results := make(chan string, 21)
		go func() { results <- kind(keys.Key(gone, issuer.Key().KeyID)) }()
		synctest.Wait()
		for range 20 {
			go func() { results <- kind(keys.Key(t.Context(), issuer.Key().KeyID)) }()
		}
		synctest.Wait()
		leave()
		for range 21 {
			if got := <-results; got != "known" {
				t.Errorf("%s", got)
			}
		}
		if n := issuer.Fetches(); n != 1 {
			t.Errorf("%d fetches", n)
		}
	})
}

func TestKeySets(t *testing.T) {
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	good := cloudruntest.NewIssuer(t).Key()
	set := func(change func(*jose.JSONWebKey)) []byte {
		k := good.Public()
		change(&k)
		body, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{k}})
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	for name, body := range map[string][]byte{
		"no JSON": []byte("<html>"), "none": []byte(`{"keys":[]}`), "an error": []byte(`{"error":"x"}`),
		"short":           set(func(k *jose.JSONWebKey) { k.Key = &weak.PublicKey }),
		"without a name":  set(func(k *jose.JSONWebKey) { k.KeyID = "" }),
		"for encryption":  set(func(k *jose.JSONWebKey) { k.Use = "enc" }),
		"of another kind": set(func(k *jose.JSONWebKey) { k.Algorithm = "RS512" }),
	} {
		if keys, err := readKeys(body); err == nil {
			t.Errorf("%s: %d keys", name, len(keys))
		}
	}
	if keys, err := readKeys(set(func(*jose.JSONWebKey) {})); err != nil || keys[good.KeyID] == nil {
		t.Error(err)
	}
	for control, want := range map[string]time.Duration{
		"": time.Hour, "public, max-age=7200, must-revalidate": 2 * time.Hour, "max-age=1": time.Minute, "max-age=99999999999": 24 * time.Hour,
		"max-age=-5": time.Minute, "no-store": time.Minute, "max-age=x": time.Hour, `MAX-AGE="600"`: 10 * time.Minute,
	} {
		if got := keepFor(http.Header{"Cache-Control": {control}}); got != want {
			t.Errorf("%q: kept for %s, want %s", control, got, want)
		}
	}
	if got := keepFor(http.Header{"Cache-Control": {"max-age=7200"}, "Age": {"3600"}}); got != time.Hour {
		t.Errorf("an answer of an hour ago is kept for %s", got)
	}
}
