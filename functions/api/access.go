package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// MinToken is the least length of a bearer token, in bytes: shorter ones can be guessed.
const MinToken = 20

// tokens are the hashes of the bearer tokens that may call. None means that anyone may.
type tokens [][sha256.Size]byte

// newTokens hashes the tokens. One that is empty or short is refused: it would look like access control.
func newTokens(texts []string) (tokens, error) {
	var t tokens
	for i, text := range texts {
		if len(text) < MinToken || strings.ContainsAny(text, " \t\r\n") {
			return nil, fmt.Errorf("token %d: want at least %d characters without spaces", i+1, MinToken)
		}
		t = append(t, sha256.Sum256([]byte(text)))
	}
	return t, nil
}

// admit reports whether a request carries a token, in constant time whatever it carries.
func (t tokens) admit(r *http.Request) error {
	if len(t) == 0 {
		return nil
	}
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	given, found := sha256.Sum256([]byte(text)), 0
	for i := range t {
		found |= subtle.ConstantTimeCompare(given[:], t[i][:])
	}
	if found == 1 && strings.EqualFold(scheme, "Bearer") && len(r.Header["Authorization"]) == 1 {
		return nil
	}
	return newProblem(http.StatusUnauthorized, "this call needs a bearer token: Authorization: Bearer …").with("WWW-Authenticate", `Bearer realm="belfry"`)
}

// guarded says which operations ask for a token: all but those that tell nothing of jobs.
func guarded(op *huma.Operation) bool {
	return strings.HasPrefix(op.Path, "/v1/") && !byLeaseToken(op) || op.Path == "/metrics"
}

// ask notes in the document that an operation asks for a token.
func ask(op *huma.Operation, schemas huma.Registry) {
	op.Security = []map[string][]string{{"token": {}}}
	operation{op, schemas}.refuses(http.StatusUnauthorized)
}

// errOpen says how to serve beyond this machine.
var errOpen = errors.New("anyone who reaches this address could submit and see jobs: set BELFRY_TOKENS, listen on a loopback address, or say BELFRY_INSECURE=true")

// CheckOpen refuses to serve an address that others reach without tokens, unless insecure is said.
func CheckOpen(loopback bool, texts []string, insecure bool) error {
	if loopback || len(texts) > 0 || insecure {
		return nil
	}
	return errOpen
}
