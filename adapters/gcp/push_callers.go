package gcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const (
	tokenLeeway = time.Minute // tolerated difference of clocks
	maxToken    = 8 << 10
	maxTokenAge = 24 * time.Hour // Google's are valid for an hour
	removed     = "SIGNATURE_REMOVED_BY_GOOGLE"
	challenge   = `Bearer realm="belfry"`
)

// Errors for refused callers.
var (
	// ErrToken says that the token is missing or invalid.
	ErrToken = errors.New("gcp: the caller's token is not valid")
	// ErrCaller says that the token is valid but belongs to another caller.
	ErrCaller = errors.New("gcp: this caller is not accepted")
)

// CallerOptions say which callers are accepted.
type CallerOptions struct {
	Audience string // the only audience accepted in tokens; required
	Account  string // e-mail address of the tokens' service account; required
	Keys     Keys   // keys for checking signatures; required
	// Unsigned accepts tokens whose signature Cloud Run has removed. Cloud Run does so after it has checked the caller
	// itself (IAM's invoker role), and nothing remains to check the signature with. It must be false if anyone may invoke
	// the service, because anyone could write such a token.
	Unsigned bool
	Now      func() time.Time // nil means time.Now
}

// Callers checks the identity tokens of Google's services. Requests of Pub/Sub and Cloud Scheduler carry one.
type Callers struct{ opts CallerOptions }

// NewCallers refuses options that would accept anyone.
func NewCallers(o CallerOptions) (*Callers, error) {
	if o.Audience == "" || o.Account == "" || o.Keys == nil {
		return nil, errors.New("gcp: callers: want an audience, a service account and keys")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Callers{o}, nil
}

// issuers are the names of Google as an issuer.
var issuers = []string{"https://accounts.google.com", "accounts.google.com"}

// claims are the claims that are checked.
type claims struct {
	Issuer        string           `json:"iss"`
	Audience      jwt.Audience     `json:"aud"`
	Expiry        *jwt.NumericDate `json:"exp"`
	IssuedAt      *jwt.NumericDate `json:"iat"`
	NotBefore     *jwt.NumericDate `json:"nbf"`
	Email         string           `json:"email"`
	EmailVerified bool             `json:"email_verified"`
}

// Check checks the request's token. ErrToken and ErrCaller refuse the caller; any other error means that this cannot be
// determined now. No error quotes the token.
func (c *Callers) Check(r *http.Request) error {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	switch {
	case !strings.EqualFold(scheme, "Bearer") || token == "":
		return fmt.Errorf("%w: there is none", ErrToken)
	case len(r.Header.Values("Authorization")) > 1:
		return fmt.Errorf("%w: there are several", ErrToken)
	case len(token) > maxToken:
		return fmt.Errorf("%w: it is longer than %d bytes", ErrToken, maxToken)
	}
	found, err := c.read(r.Context(), token)
	if err != nil {
		return err
	}
	return c.judge(found, c.opts.Now())
}

// read returns the token's claims after checking its signature.
func (c *Callers) read(ctx context.Context, token string) (found claims, err error) {
	if body, ok := strings.CutSuffix(token, "."+removed); ok && c.opts.Unsigned {
		return readUnsigned(body)
	}
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil || len(parsed.Headers) != 1 || parsed.Headers[0].KeyID == "" {
		return found, fmt.Errorf("%w: it is not signed with RS256 and a named key", ErrToken)
	}
	key, err := c.opts.Keys.Key(ctx, parsed.Headers[0].KeyID)
	if errors.Is(err, ErrUnknownKey) {
		return found, fmt.Errorf("%w: it is signed with an unknown key", ErrToken)
	}
	if err != nil {
		return found, err
	}
	if err := parsed.Claims(key, &found); err != nil {
		return found, fmt.Errorf("%w: its signature or its claims are damaged", ErrToken)
	}
	return found, nil
}

func readUnsigned(body string) (found claims, err error) {
	_, payload, ok := strings.Cut(body, ".")
	text, err := base64.RawURLEncoding.DecodeString(payload)
	if !ok || err != nil || json.Unmarshal(text, &found) != nil {
		return found, fmt.Errorf("%w: its claims are damaged", ErrToken)
	}
	return found, nil
}

// judge compares the claims with the options.
func (c *Callers) judge(found claims, now time.Time) error {
	switch {
	case !slices.Contains(issuers, found.Issuer):
		return fmt.Errorf("%w: another issuer made it", ErrToken)
	case len(found.Audience) != 1 || found.Audience[0] != c.opts.Audience:
		return fmt.Errorf("%w: it is for another audience", ErrToken)
	case found.Expiry == nil || !now.Before(found.Expiry.Time().Add(tokenLeeway)):
		return fmt.Errorf("%w: it has expired", ErrToken)
	case found.IssuedAt == nil || now.Before(found.IssuedAt.Time().Add(-tokenLeeway)) || now.Sub(found.IssuedAt.Time()) > maxTokenAge:
		return fmt.Errorf("%w: it was issued too long ago", ErrToken)
	case found.NotBefore != nil && now.Before(found.NotBefore.Time().Add(-tokenLeeway)):
		return fmt.Errorf("%w: it is not valid yet", ErrToken)
	case found.Email != c.opts.Account:
		return fmt.Errorf("%w: it is another account's", ErrCaller)
	case !found.EmailVerified:
		return fmt.Errorf("%w: its account is not verified", ErrCaller)
	}
	return nil
}

// Guard passes accepted callers to next. It answers others without reading their body: 401, 403, or 503 if the check is not
// possible now. If refused is not nil, it is called with the reason.
func (c *Callers) Guard(next http.Handler, refused func(error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := c.Check(r)
		if err == nil {
			next.ServeHTTP(w, r)
			return
		}
		if refused != nil {
			refused(err)
		}
		status := http.StatusServiceUnavailable
		switch {
		case errors.Is(err, ErrToken):
			status = http.StatusUnauthorized
			w.Header().Set("WWW-Authenticate", challenge)
		case errors.Is(err, ErrCaller):
			status = http.StatusForbidden
		}
		w.Header().Set("Connection", "close") // the rest of the request is not needed
		w.WriteHeader(status)
	})
}
