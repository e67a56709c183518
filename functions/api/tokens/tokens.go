// Package tokens is the calls about tokens.
package tokens

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/access"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/decode"
	"github.com/belfry-dev/belfry/functions/api/problem"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// Calls are the calls about tokens.
type Calls struct{ *call.Base }

// New makes them.
func New(b *call.Base) *Calls { return &Calls{b} }

// createToken answers POST /v1/tokens. The token's text is in this answer and nowhere else.
func (a *Calls) createToken(w http.ResponseWriter, r *http.Request) error {
	if err := a.NewParams(r, nil).Problem(); err != nil {
		return err
	}
	body, err := a.ReadBody(w, r, a.Limits.Body)
	if err != nil {
		return err
	}
	raw, err := decode.Parse(body)
	if err != nil {
		return err
	}
	var t core.Token
	var d decode.Decoder
	now := a.Now()
	d.Object(raw, []string{"name", "role", "tenant", "expires_at"}, func(name string, value []byte) {
		switch name {
		case "name":
			t.Name, _ = d.Text(name, value)
		case "role":
			text, _ := d.Text(name, value)
			t.Role = core.Role(text)
		case "tenant":
			t.Tenant = d.Some(name, value)
		case "expires_at":
			t.ExpiresAt = d.Instant(name, value, now)
		}
	})
	d.AddFaults(core.CheckToken(&t, now))
	if access.CallerOf(r.Context()) == access.AnyTenant {
		d.AddFaults(core.CheckFirstToken(&t, now))
	}
	if p := d.Problem(); p != nil {
		return p
	}
	text, id, hash, err := core.NewToken(rand.Reader)
	if err != nil {
		return err
	}
	t.ID, t.Hash = id, hash
	kept, err := a.Access.CreateToken(r.Context(), t)
	if err != nil {
		return err
	}
	a.Callers.Forget(id)
	document := appendToken(nil, &kept)
	document = append(show.AppendField(document[:len(document)-1], "token", text), '}')
	answer.JSON(w, http.StatusCreated, document)
	return nil
}

// listTokens answers GET /v1/tokens: by id, without what they are proved by.
func (a *Calls) listTokens(w http.ResponseWriter, r *http.Request) error {
	p := a.NewParams(r, []string{"limit", "cursor"})
	filter := p.Filter("tokens")
	limit, after := p.Whole("limit", 1, call.MaxPage, call.DefaultPage), p.NameCursor(filter)
	if err := p.Problem(); err != nil {
		return err
	}
	tokens, err := a.Access.ListTokens(r.Context(), after, limit+1)
	if err != nil {
		return err
	}
	next := ""
	if len(tokens) > limit {
		tokens = tokens[:limit]
		next = call.EncodeNameCursor(filter, tokens[limit-1].ID)
	}
	answer.Page(w, tokens, next, appendToken)
	return nil
}

// lastAdmin says why a token stays.
const lastAdmin = "this is the last token that can make tokens, and others are left: revoke those first, make another one of role admin, or set BELFRY_TOKENS"

// revokeToken answers DELETE /v1/tokens/{id}.
func (a *Calls) revokeToken(w http.ResponseWriter, r *http.Request) error {
	if err := a.NewParams(r, nil).Problem(); err != nil {
		return err
	}
	id := r.PathValue("id")
	if !core.ValidTokenID(id) {
		return problem.Field(http.StatusUnprocessableEntity, "id", "must be a token's id: "+strconv.Itoa(core.TokenIDLength)+" letters and digits")
	}
	if access.CallerOf(r.Context()).ID == id { // only then can it be the last
		last, err := core.LastAdmin(r.Context(), a.Access, id, a.Now())
		switch {
		case err != nil:
			return err
		case last && !a.Callers.Set():
			return problem.New(http.StatusConflict, lastAdmin)
		}
	}
	err := a.Access.RevokeToken(r.Context(), id)
	if errors.Is(err, core.ErrNotFound) {
		return problem.New(http.StatusNotFound, "there is no token with this id")
	}
	if err != nil {
		return err
	}
	a.Callers.Forget(id)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// appendToken appends the document of a token: what is kept of it, but for its hash.
func appendToken(b []byte, t *core.Token) []byte {
	b = show.AppendString(append(b, `{"id":`...), t.ID)
	b = show.AppendField(b, "name", t.Name)
	b = show.AppendField(b, "role", string(t.Role))
	if t.Tenant != "" {
		b = show.AppendField(b, "tenant", t.Tenant)
	}
	b = show.AppendTime(b, "created_at", t.CreatedAt)
	return append(show.AppendTime(b, "expires_at", t.ExpiresAt.Truncate(time.Microsecond)), '}')
}
