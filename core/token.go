package core

import (
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

// Matches reports whether hash is the token's, in a time that does not depend on how much of it is right.
func (t *Token) Matches(hash [32]byte) bool {
	return subtle.ConstantTimeCompare(t.Hash[:], hash[:]) == 1
}

// The parts of a token's text, belfry_<id>_<secret>. Both are of letters and digits, so that a double click takes
// the whole, and the prefix lets scanners for leaked secrets know it.
const (
	tokenPrefix      = "belfry_"
	TokenIDLength    = 16 // 95 bits: ids do not meet by chance
	tokenSecretChars = 43 // 256 bits
	tokenAlphabet    = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewToken makes a token from random: the text that its holder carries and the id and hash that are kept. The text
// cannot be made again from what is kept. Pass crypto/rand's Reader.
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
