package gcp

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// GoogleKeys is the address of the keys with which Google signs identity tokens.
const GoogleKeys = "https://www.googleapis.com/oauth2/v3/certs"

// ErrUnknownKey says that no key has this name.
var ErrUnknownKey = errors.New("gcp: no such key")

// Keys returns the public keys for checking tokens.
type Keys interface {
	// Key returns the key with this name. ErrUnknownKey means that there is none; any other error means that this cannot be
	// determined now.
	Key(ctx context.Context, name string) (*rsa.PublicKey, error)
}

const (
	maxKeys      = 1 << 20 // bytes of a key set
	fetchTimeout = 10 * time.Second
	shortestKeys = time.Minute // minimum time for which keys are kept
	longestKeys  = 24 * time.Hour
	usualKeys    = time.Hour       // if the answer sets no time
	staleKeys    = time.Hour       // additional time while no new keys can be fetched
	fetchAgain   = 5 * time.Second // minimum time between fetches, so that tokens with unknown keys cannot cause more
	leastKeyBits = 2048
)

// RemoteKeys are the keys at an address, in the form of a JSON Web Key Set. They are kept for the time in the answer's
// Cache-Control. For an unknown name they are fetched again, at most once in five seconds, so that a new key is known with
// the first token that it signs. While the address does not answer, keys are used for another hour.
type RemoteKeys struct {
	address string
	client  *http.Client
	turn    chan struct{} // one fetch at a time; taken by sending

	mu      sync.Mutex
	keys    map[string]*rsa.PublicKey
	until   time.Time // when they must be fetched again
	fetched time.Time // when the last fetch was tried
	failed  error     // error of the last fetch
}

// NewRemoteKeys does not fetch yet. A nil client means http.DefaultClient's transport.
func NewRemoteKeys(address string, client *http.Client) *RemoteKeys {
	if client == nil {
		client = &http.Client{}
	}
	return &RemoteKeys{address: address, client: client, turn: make(chan struct{}, 1)}
}

// Key returns the key with this name, and fetches the keys if necessary.
func (r *RemoteKeys) Key(ctx context.Context, name string) (*rsa.PublicKey, error) {
	if key, err := r.known(name, time.Now()); key != nil || err != nil {
		return key, err
	}
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if key, err := r.known(name, time.Now()); key != nil || err != nil {
		return key, err // another call fetched them
	}
	fetch, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout) // other calls wait for it
	defer cancel()
	r.fetch(fetch)
	r.mu.Lock()
	defer r.mu.Unlock()
	if key := r.keys[name]; key != nil && time.Now().Before(r.until.Add(staleKeys)) {
		return key, nil
	}
	if r.failed != nil {
		return nil, r.failed
	}
	return nil, ErrUnknownKey
}

// known looks the name up in the fetched keys. Without a key and an error, the keys must be fetched.
func (r *RemoteKeys) known(name string, now time.Time) (*rsa.PublicKey, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := r.keys[name]
	soon := now.Round(0).Before(r.fetched.Add(fetchAgain)) // by the wall clock, because the monotonic clock may have stopped
	switch {
	case key != nil && now.Round(0).Before(r.until):
		return key, nil
	case !soon:
		return nil, nil
	case r.failed == nil:
		return nil, ErrUnknownKey
	case key != nil && now.Round(0).Before(r.until.Add(staleKeys)):
		return key, nil
	}
	return nil, r.failed
}

// fetch replaces the keys, or records the error.
func (r *RemoteKeys) fetch(ctx context.Context) {
	keys, keep, err := r.get(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now().Round(0)
	r.fetched = now
	if r.failed = err; err == nil {
		r.keys, r.until = keys, now.Add(keep)
	}
}

func (r *RemoteKeys) get(ctx context.Context) (keys map[string]*rsa.PublicKey, keep time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.address, nil) //nolint:gosec // the operator sets the address
	if err != nil {
		return nil, 0, fmt.Errorf("gcp: keys: %w", err)
	}
	res, err := r.client.Do(req) //nolint:gosec // as above
	if err != nil {
		return nil, 0, fmt.Errorf("gcp: keys: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, 0, fmt.Errorf("gcp: keys: %s", res.Status)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxKeys))
	if err != nil {
		return nil, 0, fmt.Errorf("gcp: keys: %w", err)
	}
	if keys, err = readKeys(body); err != nil {
		return nil, 0, err
	}
	return keys, keepFor(res.Header), nil
}

// readKeys returns the RSA signature keys of a key set, and ignores the others.
func readKeys(body []byte) (map[string]*rsa.PublicKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, fmt.Errorf("gcp: keys: %w", err)
	}
	keys := map[string]*rsa.PublicKey{}
	for _, text := range set.Keys {
		var k jose.JSONWebKey
		if err := k.UnmarshalJSON(text); err != nil {
			continue // of a kind that this program does not support
		}
		public, ok := k.Key.(*rsa.PublicKey)
		if ok && k.KeyID != "" && (k.Use == "" || k.Use == "sig") && (k.Algorithm == "" || k.Algorithm == string(jose.RS256)) && public.N.BitLen() >= leastKeyBits {
			keys[k.KeyID] = public
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("gcp: keys: the set has no RSA key for signatures")
	}
	return keys, nil
}

// keepFor returns how long an answer may be kept.
func keepFor(h http.Header) time.Duration {
	keep := usualKeys
	for part := range strings.SplitSeq(h.Get("Cache-Control"), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(part)), "=")
		switch name {
		case "no-store", "no-cache":
			keep = 0
		case "max-age":
			if age, ok := ageOf(strings.Trim(value, `"`)); ok {
				keep = age
			}
		}
	}
	if age, ok := ageOf(h.Get("Age")); ok {
		keep -= age
	}
	return min(max(keep, shortestKeys), longestKeys)
}

// ageOf reads a number of seconds, limited to longestKeys.
func ageOf(text string) (time.Duration, bool) {
	seconds, err := strconv.Atoi(text)
	return time.Duration(min(max(seconds, 0), int(longestKeys/time.Second))) * time.Second, err == nil
}
