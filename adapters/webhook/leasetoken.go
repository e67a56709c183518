package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

const (
	leasePrefix   = "blt1_" // names the form, so that a later one can be told apart
	leaseDomain   = "belfry lease token 1\x00"
	minLeaseBytes = 32 // of a key
)

// ErrLeaseToken is the error of a text that is no lease token of this server. It says no more, so that a
// guesser learns nothing.
var ErrLeaseToken = errors.New("not a lease token of this server")

// LeaseTokens makes and reads lease tokens: proof that the holder was given one attempt of one job. A token is
// good for as long as that attempt's lease token is the row's; the row decides that, not this type.
type LeaseTokens struct{ keys [][]byte }

// NewLeaseTokens takes the server's keys, each of at least 32 random bytes. The first signs; all are tried
// when a token is opened, so that keys can be rotated. Every process of one installation needs the same.
func NewLeaseTokens(keys [][]byte) (*LeaseTokens, error) {
	if len(keys) == 0 {
		return nil, errors.New("lease keys: none given, at least one is needed")
	}
	for i, key := range keys {
		if len(key) < minLeaseBytes {
			return nil, fmt.Errorf("lease key %d of %d: has %d bytes, must have at least %d", i+1, len(keys), len(key), minLeaseBytes)
		}
	}
	return &LeaseTokens{keys}, nil
}

// Mint returns the token of one attempt.
func (l *LeaseTokens) Mint(ref core.Ref) string {
	body := make([]byte, 16, 16+sha256.Size)
	binary.BigEndian.PutUint64(body, uint64(ref.ID))
	binary.BigEndian.PutUint64(body[8:], uint64(ref.Token))
	return leasePrefix + base64.RawURLEncoding.EncodeToString(append(body, leaseMAC(l.keys[0], body)...))
}

// Open returns the job and lease token that a token was minted for, or ErrLeaseToken.
func (l *LeaseTokens) Open(token string) (core.Ref, error) {
	text, ok := strings.CutPrefix(token, leasePrefix)
	if !ok || len(text) != base64.RawURLEncoding.EncodedLen(16+sha256.Size) {
		return core.Ref{}, ErrLeaseToken
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) != 16+sha256.Size {
		return core.Ref{}, ErrLeaseToken
	}
	body, mac := raw[:16], raw[16:]
	known := false
	for _, key := range l.keys {
		known = hmac.Equal(mac, leaseMAC(key, body)) || known
	}
	if !known {
		return core.Ref{}, ErrLeaseToken
	}
	return core.Ref{ID: int64(binary.BigEndian.Uint64(body)), Token: int64(binary.BigEndian.Uint64(body[8:]))}, nil
}

func leaseMAC(key, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(leaseDomain))
	mac.Write(body)
	return mac.Sum(nil)
}
