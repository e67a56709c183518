// Package access decides who may call, and what a caller sees.
//
//	access.go  Control: tokens, and calls without one
//	caller.go  who makes a request; jobs.go the store as a caller sees it
//	found.go   tokens of the store, as far as they were asked for lately; look.go looks them up together
//	rate.go    requests a second
package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// MinToken is the least length of a token of Options.Tokens, in bytes: shorter ones can be guessed.
const MinToken = 20

// Options say who may call; see the options of the API of the same names.
type Options struct {
	Tokens           []string
	Closed, Loopback bool
	Rate             int              // requests a second of one caller. Zero means no bound
	Store            core.AccessStore // of tokens. Nil where there is none
	Now              func() time.Time
}

// Control decides who may call. It knows the tokens of Options.Tokens, whose holders may do everything, and through
// found those of the store.
type Control struct {
	static   []staticToken
	found    *foundTokens // nil where there is no store of tokens
	rates    *rates
	closed   bool // no call goes without a token
	loopback bool // without a token only under a loopback name
}

// staticToken is one of Options.Tokens. Its text is not kept.
type staticToken struct {
	hash [sha256.Size]byte
	id   string
}

// New hashes the tokens. One that is empty or short is refused: it would look like access control.
func New(o Options) (*Control, error) {
	g := &Control{rates: newRates(o.Rate, o.Rate), closed: o.Closed, loopback: o.Loopback}
	if o.Store != nil {
		g.found = newFoundTokens(o.Store, o.Now)
	}
	for i, text := range o.Tokens {
		if len(text) < MinToken || strings.ContainsAny(text, " \t\r\n") {
			return nil, fmt.Errorf("token %d: want at least %d characters without spaces", i+1, MinToken)
		}
		name := sha256.Sum256([]byte("belfry token name\x00" + text))
		g.static = append(g.static, staticToken{sha256.Sum256([]byte(text)), "setting-" + hex.EncodeToString(name[:6])})
	}
	return g, nil
}

// Admit says who makes a request: the holder of the token it carries, or whoever may call while there are no
// tokens. It is a problem of 401 where neither is so.
func (g *Control) Admit(r *http.Request) (Caller, error) {
	c, err := g.Holder(r)
	if err == nil || !errors.Is(err, ErrNoToken) {
		return c, err
	}
	open, err := g.open(r.Context())
	switch {
	case err != nil:
		return Caller{}, err
	case !open:
		return Caller{}, problem.New(http.StatusUnauthorized, "this call needs a bearer token: Authorization: Bearer …").With("WWW-Authenticate", `Bearer realm="belfry"`)
	case g.loopback && !loopbackName(r.Host):
		return Caller{}, problem.New(http.StatusForbidden, "without tokens this server answers under localhost and loopback addresses only")
	}
	return AnyTenant, nil
}

// ErrNoToken says that a request carries no token that is good.
var ErrNoToken = errors.New("no token")

// Needless reports whether calls may go without a token as long as there is none in the store.
func (g *Control) Needless() bool { return !g.closed && !g.Set() }

// Set reports whether there are tokens of the setting.
func (g *Control) Set() bool { return len(g.static) > 0 }

// Forget forgets what was found of a token in the store, which has changed.
func (g *Control) Forget(id string) { g.found.forget(id) }

// Bound counts a request of a caller, by name. The problem, if any, is 429 and says when to come again.
func (g *Control) Bound(name string, now time.Time) *problem.Problem {
	return g.rates.take(name, now)
}

// Holder is who the request's token was made for, or ErrNoToken. How long it takes does not depend on how much of a
// token is right.
func (g *Control) Holder(r *http.Request) (Caller, error) {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || len(r.Header["Authorization"]) != 1 {
		return Caller{}, ErrNoToken
	}
	given, found := sha256.Sum256([]byte(text)), Caller{}
	for _, t := range g.static {
		if subtle.ConstantTimeCompare(given[:], t.hash[:]) == 1 {
			found = Caller{ID: t.id, Role: core.RoleAdmin}
		}
	}
	if found.Role != "" {
		return found, nil
	}
	id, hash, ok := core.ParseToken(text)
	if !ok || g.found == nil {
		return Caller{}, ErrNoToken
	}
	t, err := g.found.find(r.Context(), id, addressOf(r))
	switch {
	case errors.Is(err, core.ErrNotFound):
		return Caller{}, ErrNoToken
	case err != nil:
		return Caller{}, err
	case !t.Matches(hash) || t.Expired(g.found.now()) || !t.Role.Valid():
		return Caller{}, ErrNoToken
	}
	return Caller{ID: t.ID, Role: t.Role, Tenant: t.Tenant, Expires: t.ExpiresAt}, nil
}

// Still is nil while a caller that was let in would be let in again: its token has not been revoked, nor has it expired, and
// where it has none none is needed. What was looked up within tokenMemory counts.
func (g *Control) Still(ctx context.Context, c Caller) error {
	if c.ID == "" {
		open, err := g.open(ctx)
		if err == nil && !open {
			err = errTokenEnded()
		}
		return err
	}
	if slices.ContainsFunc(g.static, func(t staticToken) bool { return t.id == c.ID }) {
		return nil
	}
	t, err := g.found.find(ctx, c.ID, "")
	if errors.Is(err, core.ErrNotFound) || err == nil && t.Expired(g.found.now()) {
		return errTokenEnded()
	}
	return err
}

// errTokenEnded is the answer to a call that goes on for longer than its right to it.
func errTokenEnded() error {
	return problem.New(http.StatusUnauthorized, "the token was revoked or has expired").With("WWW-Authenticate", `Bearer realm="belfry"`)
}

// open reports whether calls may go without a token: there are none, and it was not said that one is needed.
func (g *Control) open(ctx context.Context) (bool, error) {
	if g.closed || len(g.static) > 0 {
		return false, nil
	}
	if g.found == nil {
		return true, nil
	}
	some, err := g.found.some(ctx)
	return !some, err
}

// loopbackName reports whether a Host header names this machine and nothing that a stranger's name server could
// have pointed here.
func loopbackName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// errOpen says how to serve beyond this machine.
var errOpen = errors.New("anyone who reaches this address could submit and see jobs: make a token (belfry tokens create --role admin --name … --database-url …), set BELFRY_TOKENS, listen on a loopback address, or say BELFRY_INSECURE=true")

// CheckOpen refuses to serve an address that others reach while there is no token, neither among texts nor in the
// store, unless insecure is said.
func CheckOpen(ctx context.Context, loopback bool, texts []string, insecure bool, store core.AccessStore) error {
	if loopback || len(texts) > 0 || insecure {
		return nil
	}
	tokens, err := store.ListTokens(ctx, "", 1)
	if err != nil {
		return err
	}
	if len(tokens) == 0 {
		return errOpen
	}
	return nil
}
