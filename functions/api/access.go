package api

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

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// MinToken is the least length of a token of Options.Tokens, in bytes: shorter ones can be guessed.
const MinToken = 20

// accessControl decides who may call. It knows the tokens of Options.Tokens, whose holders may do everything, and through
// found those of the store.
type accessControl struct {
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

// newAccessControl hashes the tokens. One that is empty or short is refused: it would look like access control.
func newAccessControl(o *Options) (*accessControl, error) {
	g := &accessControl{rates: newRates(o.Limits.Rate, o.Limits.Rate), closed: o.Closed, loopback: o.Loopback}
	if o.Access != nil {
		g.found = newFoundTokens(o.Access, o.Now)
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

// admit says who makes a request: the holder of the token it carries, or whoever may call while there are no
// tokens. It is a problem of 401 where neither is so.
func (g *accessControl) admit(r *http.Request) (caller, error) {
	c, err := g.holder(r)
	if err == nil || !errors.Is(err, errNoToken) {
		return c, err
	}
	open, err := g.open(r.Context())
	switch {
	case err != nil:
		return caller{}, err
	case !open:
		return caller{}, problem.New(http.StatusUnauthorized, "this call needs a bearer token: Authorization: Bearer …").With("WWW-Authenticate", `Bearer realm="belfry"`)
	case g.loopback && !loopbackName(r.Host):
		return caller{}, problem.New(http.StatusForbidden, "without tokens this server answers under localhost and loopback addresses only")
	}
	return anyTenant, nil
}

// errNoToken says that a request carries no token that is good.
var errNoToken = errors.New("no token")

// holder is who the request's token was made for, or errNoToken. How long it takes does not depend on how much of a
// token is right.
func (g *accessControl) holder(r *http.Request) (caller, error) {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || len(r.Header["Authorization"]) != 1 {
		return caller{}, errNoToken
	}
	given, found := sha256.Sum256([]byte(text)), caller{}
	for _, t := range g.static {
		if subtle.ConstantTimeCompare(given[:], t.hash[:]) == 1 {
			found = caller{id: t.id, role: core.RoleAdmin}
		}
	}
	if found.role != "" {
		return found, nil
	}
	id, hash, ok := core.ParseToken(text)
	if !ok || g.found == nil {
		return caller{}, errNoToken
	}
	t, err := g.found.find(r.Context(), id, addressOf(r))
	switch {
	case errors.Is(err, core.ErrNotFound):
		return caller{}, errNoToken
	case err != nil:
		return caller{}, err
	case !t.Matches(hash) || t.Expired(g.found.now()) || !t.Role.Valid():
		return caller{}, errNoToken
	}
	return caller{id: t.ID, role: t.Role, tenant: t.Tenant, expires: t.ExpiresAt}, nil
}

// still is nil while a caller that was let in would be let in again: its token has not been revoked, nor has it expired, and
// where it has none none is needed. What was looked up within tokenMemory counts.
func (g *accessControl) still(ctx context.Context, c caller) error {
	if c.id == "" {
		open, err := g.open(ctx)
		if err == nil && !open {
			err = errTokenEnded()
		}
		return err
	}
	if slices.ContainsFunc(g.static, func(t staticToken) bool { return t.id == c.id }) {
		return nil
	}
	t, err := g.found.find(ctx, c.id, "")
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
func (g *accessControl) open(ctx context.Context) (bool, error) {
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
