package webhook

import (
	"context"
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
	leasePrefix   = "blt1_" // identifies the format, so that a later one can be distinguished
	leaseDomain   = "belfry lease token 1\x00"
	minLeaseBytes = 32 // of a key
)

// ErrLeaseToken is the error for a text that is not a lease token of this server. It gives no reason, so that a guesser
// learns nothing.
var ErrLeaseToken = errors.New("not a lease token of this server")

// LeaseTokens makes and opens lease tokens, which prove that the holder received one attempt of one job. A token is valid as
// long as its number is the row's lease token. The caller checks the row; this type does not.
type LeaseTokens struct {
	keys  [][]byte
	scope func(ctx context.Context, id int64) string
}

// NewLeaseTokens takes the server's keys, each of at least 32 random bytes. The first key signs. Opening tries all keys, so
// that keys can be rotated. Every process of an installation needs the same keys. scope distinguishes jobs with the same id
// before and after a restore: a token of one is invalid for the other. Nil means that ids are never reused.
func NewLeaseTokens(keys [][]byte, scope func(ctx context.Context, id int64) string) (*LeaseTokens, error) {
	if len(keys) == 0 {
		return nil, errors.New("lease keys: none given, at least one is needed")
	}
	for i, key := range keys {
		if len(key) < minLeaseBytes {
			return nil, fmt.Errorf("lease key %d of %d: has %d bytes, must have at least %d", i+1, len(keys), len(key), minLeaseBytes)
		}
	}
	if scope == nil {
		scope = func(context.Context, int64) string { return "" }
	}
	return &LeaseTokens{keys, scope}, nil
}

// Mint returns the token of one attempt.
func (l *LeaseTokens) Mint(ctx context.Context, ref core.Ref) string {
	body := make([]byte, 16, 16+sha256.Size)
	binary.BigEndian.PutUint64(body, uint64(ref.ID))
	binary.BigEndian.PutUint64(body[8:], uint64(ref.Token))
	return leasePrefix + base64.RawURLEncoding.EncodeToString(append(body, leaseMAC(l.keys[0], body, l.scope(ctx, ref.ID))...))
}

// Open returns the job and lease token of a token made by Mint, or ErrLeaseToken.
func (l *LeaseTokens) Open(ctx context.Context, token string) (core.Ref, error) {
	text, ok := strings.CutPrefix(token, leasePrefix)
	if !ok || len(text) != base64.RawURLEncoding.EncodedLen(16+sha256.Size) {
		return core.Ref{}, ErrLeaseToken
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) != 16+sha256.Size {
		return core.Ref{}, ErrLeaseToken
	}
	body, mac := raw[:16], raw[16:]
	ref := core.Ref{ID: int64(binary.BigEndian.Uint64(body)), Token: int64(binary.BigEndian.Uint64(body[8:]))}
	known, scope := false, l.scope(ctx, ref.ID)
	for _, key := range l.keys {
		known = hmac.Equal(mac, leaseMAC(key, body, scope)) || known
	}
	if !known {
		return core.Ref{}, ErrLeaseToken
	}
	return ref, nil
}

func leaseMAC(key, body []byte, scope string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(leaseDomain))
	mac.Write(body)
	mac.Write([]byte(scope))
	return mac.Sum(nil)
}
