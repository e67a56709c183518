package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Role says what a token may do; each may do what those before it may.
type Role string

// The roles.
const (
	RoleRead   Role = "read"   // look
	RoleSubmit Role = "submit" // submit, cancel, retry and reschedule jobs
	RoleAdmin  Role = "admin"  // everything
)

// NewToken is a token to be made.
type NewToken struct {
	Name      string // what it is for; required
	Role      Role   // required
	Tenant    string // the only tenant it sees and touches. Zero means all
	ExpiresAt time.Time
}

// Token is a bearer token as the server keeps it.
type Token struct {
	ID        string    `json:"id"` // names it; no secret
	Name      string    `json:"name"`
	Role      Role      `json:"role"`
	Tenant    string    `json:"tenant,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at,omitzero"` // zero means never
	Text      string    `json:"token,omitempty"`     // what its holder sends: in the answer to CreateToken only
}

// CreateToken makes a token. Its Text is in this answer and nowhere else. The call is not tried again after a lost
// answer: a token may then be there that nobody knows, in the list by its name.
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

// Tokens goes through the tokens, by id. An error ends it: it comes with a nil token.
func (c *Client) Tokens(ctx context.Context) iter.Seq2[*Token, error] {
	return listed[Token](ctx, c, "/v1/tokens", url.Values{"limit": {"1000"}})
}

// RevokeToken makes a token worthless, everywhere within seconds. ErrNotFound: there is none, or it was revoked.
func (c *Client) RevokeToken(ctx context.Context, id string) error {
	return c.remove(ctx, "/v1/tokens/"+segment(id))
}
