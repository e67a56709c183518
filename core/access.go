package core

import "time"

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
