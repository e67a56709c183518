package core

import (
	"context"
	"time"
)

// MaxTokenNameBytes bounds what a token is for.
const MaxTokenNameBytes = 200

// CheckToken holds a new token against the rules. The error is FieldErrors.
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

// CheckFirstToken refuses a first token that would lock everybody out: one that cannot make another. The error is
// FieldErrors.
func CheckFirstToken(t *Token) error {
	var errs FieldErrors
	switch {
	case t.Role != RoleAdmin:
		errs.Add("role", "must be admin: %s", firstTokenRule)
	case t.Tenant != "":
		errs.Add("tenant", "must be left out: %s", firstTokenRule)
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
			if others = true; t.Role == RoleAdmin && t.Tenant == "" && !t.Expired(now) {
				return false, nil
			}
		}
		if len(tokens) < page {
			return others, nil
		}
		after = tokens[page-1].ID
	}
}
