package core

import "time"

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
