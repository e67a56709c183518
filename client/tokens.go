package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Role says what a token may do. Each role includes the ones before it.
type Role string

// The roles.
const (
	RoleRead   Role = "read"   // read
	RoleSubmit Role = "submit" // submit, cancel, retry and reschedule jobs
	RoleAdmin  Role = "admin"  // everything
)

// NewToken is a token to create.
type NewToken struct {
	Name      string // its purpose; required
	Role      Role   // required
	Tenant    string // the only tenant that it may access. Zero means all
	ExpiresAt time.Time
}

// Token is a bearer token as stored by the server.
type Token struct {
	ID        string    `json:"id"` // identifies it; not secret
	Name      string    `json:"name"`
	Role      Role      `json:"role"`
	Tenant    string    `json:"tenant,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at,omitzero"` // zero means never
	Text      string    `json:"token,omitempty"`     // the secret that its holder sends; only in the answer to CreateToken
}

// CreateToken creates a token. Only this answer contains its Text. The call is not retried after a lost answer; a token that
// nobody knows may then exist, listed under its name.
func (c *Client) CreateToken(ctx context.Context, t NewToken) (*Token, error) {
	fields := map[string]string{"name": t.Name, "role": string(t.Role)}
	if t.Tenant != "" {
		fields["tenant"] = t.Tenant
	}
	if !t.ExpiresAt.IsZero() {
		fields["expires_at"] = instant(t.ExpiresAt)
	}
	body, err := encode(fields)
	if err != nil {
		return nil, err
	}
	call := call{method: http.MethodPost, path: "/v1/tokens", body: body}
	_, answer, err := c.do(ctx, call)
	if err != nil {
		return nil, err
	}
	var made Token
	if json.Unmarshal(answer, &made) != nil || made.ID == "" || made.Text == "" {
		return nil, foreign(call.name())
	}
	return &made, nil
}

// Tokens iterates over the tokens, by id. An error ends it and comes with a nil token.
func (c *Client) Tokens(ctx context.Context) iter.Seq2[*Token, error] {
	return listed[Token](ctx, c, "/v1/tokens", url.Values{"limit": {"1000"}})
}

// RevokeToken revokes a token; within seconds it is refused everywhere. ErrNotFound means that it does not exist or was
// already revoked.
func (c *Client) RevokeToken(ctx context.Context, id string) error {
	return c.remove(ctx, "/v1/tokens/"+segment(id))
}
