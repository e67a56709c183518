package webhook

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

func TestLeaseTokensRoundTrip(t *testing.T) {
	l := newLeases(t, "a")
	for _, ref := range []core.Ref{{ID: 1, Token: 1}, {ID: math.MaxInt64, Token: math.MaxInt64}, {}, {ID: -1, Token: math.MinInt64}} {
		token := l.Mint(t.Context(), ref)
		if got, err := l.Open(t.Context(), token); err != nil || got != ref {
			t.Errorf("%+v: %+v, %v", ref, got, err)
		}
		if strings.Trim(token, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			t.Errorf("%s is not plain", token)
		}
	}
}

// Every token with one changed character, and every text that was not minted, gets the same error.
func TestLeaseTokensThatWereNotMinted(t *testing.T) {
	l := newLeases(t, "a")
	token := l.Mint(t.Context(), core.Ref{ID: 42, Token: 7})
	bad := []string{"", "blt1_", token + "A", token[:len(token)-1], " " + token, token + "\n", strings.ToUpper(token), newLeases(t, "b").Mint(t.Context(), core.Ref{ID: 42, Token: 7})}
	for i := range token {
		changed := []byte(token)
		if changed[i] == 'A' {
			changed[i] = 'B'
		} else {
			changed[i] = 'A'
		}
		bad = append(bad, string(changed))
	}
	for _, b := range bad {
		if ref, err := l.Open(t.Context(), b); !errors.Is(err, ErrLeaseToken) || ref != (core.Ref{}) {
			t.Errorf("%q opens as %+v, %v", b, ref, err)
		}
	}
}

func TestLeaseKeysRotate(t *testing.T) {
	ref := core.Ref{ID: 42, Token: 7}
	old := newLeases(t, "a").Mint(t.Context(), ref)
	both := newLeases(t, "b", "a")
	if got, err := both.Open(t.Context(), old); err != nil || got != ref {
		t.Errorf("%+v, %v", got, err)
	}
	if both.Mint(t.Context(), ref) != newLeases(t, "b").Mint(t.Context(), ref) {
		t.Error("the first key does not sign")
	}
}

func newLeases(t testing.TB, keys ...string) *LeaseTokens {
	t.Helper()
	var raw [][]byte
	for _, key := range keys {
		raw = append(raw, bytes.Repeat([]byte(key), 32))
	}
	l, err := NewLeaseTokens(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// After a restore, the token of a job is invalid for another job with the same id.
func TestLeaseTokenIsOfOneInstallation(t *testing.T) {
	of := func(installation string) *LeaseTokens {
		l, err := NewLeaseTokens([][]byte{bytes.Repeat([]byte("k"), 32)}, func(context.Context, int64) string { return installation })
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	ref := core.Ref{ID: 42, Token: 7}
	for _, minted := range []string{"", "a", "b"} {
		for _, opened := range []string{"", "a", "b"} {
			if _, err := of(opened).Open(t.Context(), of(minted).Mint(t.Context(), ref)); (err == nil) != (minted == opened) {
				t.Errorf("minted by %q, opened by %q: %v", minted, opened, err)
			}
		}
	}
}
