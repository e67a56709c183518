package tokens

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/openapi"
)

// newTokenDoc is a token as it is asked for.
type newTokenDoc struct {
	Name      openapi.LineText `json:"name" minLength:"1" maxLength:"200" doc:"What it is for." example:"shop"`
	Role      string           `json:"role" enum:"admin,submit,read" doc:"read looks; submit also submits, cancels, retries and reschedules jobs; admin does everything."`
	Tenant    openapi.LineText `json:"tenant,omitempty" minLength:"1" maxLength:"255" doc:"The only tenant it sees and touches. Left out, all." example:"acme"`
	ExpiresAt string           `json:"expires_at,omitempty" format:"date-time" doc:"Good up to this time. Left out, until it is revoked."`
}

// tokenDoc is a token as it is kept.
type tokenDoc struct {
	ID        string           `json:"id" pattern:"^[0-9A-Za-z]{16}$" doc:"Names the token, also in logs. It is a part of the token and no secret." example:"4fTzKq0ZpLw8sXyR"`
	Name      openapi.LineText `json:"name"`
	Role      string           `json:"role" enum:"admin,submit,read"`
	Tenant    openapi.LineText `json:"tenant,omitempty"`
	CreatedAt string           `json:"created_at" format:"date-time"`
	ExpiresAt string           `json:"expires_at,omitempty" format:"date-time"`
}

// madeTokenDoc is a new token.
type madeTokenDoc struct {
	ID        string           `json:"id" pattern:"^[0-9A-Za-z]{16}$" example:"4fTzKq0ZpLw8sXyR"`
	Name      openapi.LineText `json:"name"`
	Role      string           `json:"role" enum:"admin,submit,read"`
	Tenant    openapi.LineText `json:"tenant,omitempty"`
	CreatedAt string           `json:"created_at" format:"date-time"`
	ExpiresAt string           `json:"expires_at,omitempty" format:"date-time"`
	Token     string           `json:"token" doc:"Send it as Authorization: Bearer …. It is shown this once; what is kept is a hash."`
}

// tokenPageDoc is one page of tokens.
type tokenPageDoc struct {
	Items      []tokenDoc `json:"items" nullable:"false"`
	NextCursor string     `json:"next_cursor" doc:"Pass it as cursor for the next page; empty on the last one."`
}

// Routes are the calls about bearer tokens.
func (a *Calls) Routes(schemas huma.Registry) []call.Route {
	if a.Access == nil {
		return nil
	}
	const tag, path = "Tokens", "/v1/tokens"
	id := &huma.Param{Name: "id", In: "path", Required: true, Description: "The token's id.", Example: "4fTzKq0ZpLw8sXyR",
		Schema: &huma.Schema{Type: huma.TypeString, Pattern: "^[0-9A-Za-z]{16}$"}}
	gone := openapi.Describe(schemas, tag, "revoke-token", http.MethodDelete, path+"/{id}", "Revoke a token", "It opens nothing within a few seconds, in every process. 409: it is the caller's own, others are left, and none of them could make another.").With(id)
	gone.Responses["204"] = &huma.Response{Description: "Revoked."}
	return []call.Route{
		{Op: openapi.Describe(schemas, tag, "create-token", http.MethodPost, path, "Make a token", "From the first token on no call goes without one, so the first one must have the role admin and no tenant, unless BELFRY_TOKENS is set.").
			Takes(openapi.SchemaOf[newTokenDoc](schemas), true).Answers(http.StatusCreated, "The new token, and its text.", openapi.SchemaOf[madeTokenDoc](schemas)).RefusesBody(), Handle: a.createToken, Extra: a.Limits.BodyTime},
		{Op: openapi.Describe(schemas, tag, "list-tokens", http.MethodGet, path, "List tokens", "By id.").
			With(openapi.Query("limit", "Tokens on a page.", openapi.WholeSchema(1, call.MaxPage, call.DefaultPage)), openapi.Query("cursor", "The next_cursor of the page before.", openapi.TextSchema(100))).
			Answers(http.StatusOK, "A page.", openapi.SchemaOf[tokenPageDoc](schemas)).Refuses(http.StatusUnprocessableEntity), Handle: a.listTokens, Extra: 0},
		{Op: gone.Refuses(http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity), Handle: a.revokeToken, Extra: 0},
	}
}

// Compile-time check: what the documents say of ids.
var _ = [1]struct{}{}[core.TokenIDLength-16]
