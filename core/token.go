package core

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"strings"
	"time"
)

// Role says what a token may do; each role may do what those below it may.
type Role string

// The roles.
const (
	RoleAdmin  Role = "admin"  // everything: also types, schedules, tokens, dead letters
	RoleSubmit Role = "submit" // submit, cancel, retry and reschedule jobs
	RoleRead   Role = "read"   // look
)

// Valid reports whether r is one of the roles.
func (r Role) Valid() bool { return r == RoleAdmin || r == RoleSubmit || r == RoleRead }

// Allows reports whether a token of role r may do what asks for role need.
func (r Role) Allows(need Role) bool {
	rank := map[Role]int{RoleRead: 1, RoleSubmit: 2, RoleAdmin: 3}
	return rank[need] > 0 && rank[r] >= rank[need]
}

// Token is one bearer token as it is kept: its secret is not.
type Token struct {
	ID        string // public part of the token, names it in lists
	Name      string // what it is for
	Hash      [32]byte
	Role      Role
	Tenant    string // the only tenant it sees and touches; "" means all
	CreatedAt time.Time
	ExpiresAt time.Time // zero means never
}

// Expired reports whether the token is worthless at now.
func (t *Token) Expired(now time.Time) bool { return !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt) }

// Administers reports whether the token may make tokens for all tenants, while it has not expired.
func (t *Token) Administers() bool { return t.Role == RoleAdmin && t.Tenant == "" }

// Matches reports whether hash is the token's, in a time that does not depend on how much of it is right.
func (t *Token) Matches(hash [32]byte) bool {
	return subtle.ConstantTimeCompare(t.Hash[:], hash[:]) == 1
}

// Parts of a token's text, belfry_<id>_<secret>. Id and secret consist of letters and digits, so that a double click selects
// the whole token. The prefix lets scanners for leaked secrets recognise it.
const (
	tokenPrefix      = "belfry_"
	TokenIDLength    = 16 // 95 bits: random ids do not collide
	tokenSecretChars = 43 // 256 bits
	tokenAlphabet    = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewToken makes a token from random: the text for its holder, and the id and hash for the store. The text cannot be
// computed from these. Pass crypto/rand's Reader.
func NewToken(random io.Reader) (text, id string, hash [32]byte, err error) {
	drawn, err := draw(random, TokenIDLength+tokenSecretChars)
	if err != nil {
		return "", "", hash, fmt.Errorf("new token: %w", err)
	}
	id = drawn[:TokenIDLength]
	text = tokenPrefix + id + "_" + drawn[TokenIDLength:]
	return text, id, sha256.Sum256([]byte(text)), nil
}

// ParseToken reads a token's text: its id and the hash to compare with the one kept under that id. ok is false for
// what NewToken cannot have made.
func ParseToken(text string) (id string, hash [32]byte, ok bool) {
	rest, found := strings.CutPrefix(text, tokenPrefix)
	if !found || len(rest) != TokenIDLength+1+tokenSecretChars || rest[TokenIDLength] != '_' {
		return "", hash, false
	}
	id = rest[:TokenIDLength]
	if !alphanumeric(id) || !alphanumeric(rest[TokenIDLength+1:]) {
		return "", hash, false
	}
	return id, sha256.Sum256([]byte(text)), true
}

// TokenTextFault says why a token that somebody chose cannot be sent in a header as it is, as the end of a sentence about the
// token, without repeating it; "" means that it can. Quotes around it are those of a file or a shell that kept them.
func TokenTextFault(text string) string {
	const quotes = "\"'`"
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c > '~' {
			return fmt.Sprintf("holds a character that is not visible ASCII, at byte %d", i)
		}
	}
	if text != "" && (strings.Contains(quotes, text[:1]) || strings.Contains(quotes, text[len(text)-1:])) {
		return "begins or ends with a quotation mark, which is taken as a part of the value: write it without quotes"
	}
	return ""
}

// ValidTokenID reports whether id may be a token's id.
func ValidTokenID(id string) bool { return len(id) == TokenIDLength && alphanumeric(id) }

// draw returns n characters of the alphabet, each equally likely: bytes that would favour some are drawn again.
func draw(random io.Reader, n int) (string, error) {
	const fair = 256 / len(tokenAlphabet) * len(tokenAlphabet)
	var text strings.Builder
	for buffer := make([]byte, 64); text.Len() < n; {
		if _, err := io.ReadFull(random, buffer); err != nil {
			return "", err
		}
		for _, b := range buffer {
			if int(b) < fair && text.Len() < n {
				text.WriteByte(tokenAlphabet[int(b)%len(tokenAlphabet)])
			}
		}
	}
	return text.String(), nil
}

func alphanumeric(text string) bool {
	for i := range len(text) {
		if !letter(text[i]) && !digit(text[i]) {
			return false
		}
	}
	return true
}

// MaxTokenNameBytes bounds a token's name.
const MaxTokenNameBytes = 200

// CheckToken checks a new token. The error is FieldErrors.
func CheckToken(t *Token, now time.Time) error {
	var errs FieldErrors
	if t.Name == "" {
		errs.Add("name", "must say what the token is for")
	}
	CheckText(&errs, "name", t.Name, MaxTokenNameBytes)
	if !t.Role.Valid() {
		errs.Add("role", "must be admin, submit or read")
	}
	CheckText(&errs, "tenant", t.Tenant, MaxTenantBytes)
	if !t.ExpiresAt.IsZero() {
		at, fault := CheckInstant("expires_at", t.ExpiresAt, now)
		switch {
		case fault != nil:
			errs = append(errs, fault)
		case !at.After(now):
			errs.Add("expires_at", "must lie ahead")
		default:
			t.ExpiresAt = at
		}
	}
	return errs.Err()
}

// firstTokenRule says why the first token must be an admin's of the whole, and what else helps.
const firstTokenRule = "from the first token on no call goes without one, and this one could make no other: make one of role admin without a tenant " +
	"first, or set BELFRY_TOKENS, whose tokens may do everything"

// FirstTokenLife is how long the first token is good for, at least: time to make another one.
const FirstTokenLife = time.Hour

// CheckFirstToken refuses a first token that would lock everybody out: one that cannot make another, or not for long. The error is
// FieldErrors.
func CheckFirstToken(t *Token, now time.Time) error {
	var errs FieldErrors
	switch {
	case t.Role != RoleAdmin:
		errs.Add("role", "must be admin: %s", firstTokenRule)
	case t.Tenant != "":
		errs.Add("tenant", "must be left out: %s", firstTokenRule)
	case !t.ExpiresAt.IsZero() && t.ExpiresAt.Before(now.Add(FirstTokenLife)):
		errs.Add("expires_at", "must lie an hour ahead or more: from the first token on no call goes without one. Make one that lasts first, or set BELFRY_TOKENS, whose tokens may do everything")
	}
	return errs.Err()
}

// LastAdmin reports whether tokens other than the one of this id are kept, and none of them may make tokens at now.
func LastAdmin(ctx context.Context, store AccessStore, id string, now time.Time) (bool, error) {
	const page = 1000
	others := false
	for after := ""; ; {
		tokens, err := store.ListTokens(ctx, after, page)
		if err != nil {
			return false, err
		}
		for i := range tokens {
			t := &tokens[i]
			if t.ID == id {
				continue
			}
			if others = true; t.Administers() && !t.Expired(now) {
				return false, nil
			}
		}
		if len(tokens) < page {
			return others, nil
		}
		after = tokens[page-1].ID
	}
}
