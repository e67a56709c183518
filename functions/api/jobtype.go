package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/decode"
	"github.com/belfry-dev/belfry/functions/api/problem"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// Types keeps the definitions of types, and remembers them: a typecache.Cache.
type Types interface {
	core.TypeStore
	Fresh(ctx context.Context) error
	Lookup(name string) (core.JobType, bool)
}

// typeFields are the fields of a type's definition. Those of later are refused by name until they act.
var (
	typeFields      = []string{"target", "timeout", "max_attempts", "backoff", "expires_after", "expect_within"}
	laterTypeFields = []string{"concurrency", "rate"}
)

// errNoType is the answer for a type without a definition, even if there are jobs of the type.
func errNoType() error {
	return problem.New(http.StatusNotFound, "there is no definition of this type")
}

// putType answers PUT /v1/types/{type}: it makes the definition, or replaces it as a whole.
func (a *API) putType(w http.ResponseWriter, r *http.Request) error {
	t := core.JobType{Name: r.PathValue("type")}
	if err := a.newParams(r, nil).problem(); err != nil {
		return err
	}
	body, err := a.readBody(w, r, a.Limits.Body)
	if err != nil {
		return err
	}
	raw, err := decode.Parse(body)
	if err != nil {
		return err
	}
	d := &decode.Decoder{}
	d.Object(raw, append(typeFields[:len(typeFields):len(typeFields)], laterTypeFields...), func(name string, value []byte) {
		a.typeField(d, &t, name, value)
	})
	d.AddFaults(core.CheckJobType(&t))
	a.boundTimeout(d, t.Timeout, t.Target, "")
	if p := d.Problem(); p != nil {
		return p
	}
	if err := a.checkTarget(r.Context(), t.Target); err != nil {
		return err
	}
	kept, made, err := a.Types.PutType(r.Context(), t)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if made {
		status = http.StatusCreated
	}
	writeJSON(w, status, appendType(nil, &kept))
	return nil
}

func (a *API) typeField(d *decode.Decoder, t *core.JobType, name string, value []byte) {
	switch name {
	case "target":
		t.Target = a.target(d, name, value)
	case "timeout":
		var ok bool
		if t.Timeout, ok = d.Duration(name, value); ok && t.Timeout == 0 {
			d.Fault(name, "must lie between 1s and 24h")
		}
	case "max_attempts":
		t.MaxAttempts = d.Whole(name, value, 1, core.MaxAttempts)
	case "backoff":
		t.Backoff = []time.Duration{}
		d.Array(name, value, core.MaxBackoff, func(field string, value []byte) {
			wait, _ := d.Duration(field, value)
			t.Backoff = append(t.Backoff, wait)
		})
	case "expires_after":
		var ok bool
		if t.ExpiresAfter, ok = d.Duration(name, value); ok && t.ExpiresAfter == 0 {
			d.Fault(name, core.ExpiresAfterRule)
		}
	case "expect_within":
		var ok bool
		if t.ExpectWithin, ok = d.Duration(name, value); ok && t.ExpectWithin == 0 {
			d.Fault(name, "must lie between 1s and 9600h (400 days)")
		}
	default:
		d.Fault(name, "is not supported yet by this version")
	}
}

// getType answers GET /v1/types/{type}.
func (a *API) getType(w http.ResponseWriter, r *http.Request) error {
	name, err := a.typeName(r)
	if err != nil {
		return err
	}
	t, err := a.Types.GetType(r.Context(), name)
	if errors.Is(err, core.ErrNotFound) {
		return errNoType()
	}
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, appendType(nil, &t))
	return nil
}

// deleteType answers DELETE /v1/types/{type}. Jobs of the type stay.
func (a *API) deleteType(w http.ResponseWriter, r *http.Request) error {
	name, err := a.typeName(r)
	if err != nil {
		return err
	}
	err = a.Types.DeleteType(r.Context(), name)
	if errors.Is(err, core.ErrNotFound) {
		return errNoType()
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// typeName reads the type in the path of a call that takes nothing else.
func (a *API) typeName(r *http.Request) (string, error) {
	if err := a.newParams(r, nil).problem(); err != nil {
		return "", err
	}
	name := r.PathValue("type")
	return name, core.CheckTypeName(name)
}

// listTypes answers GET /v1/types: definitions by name.
func (a *API) listTypes(w http.ResponseWriter, r *http.Request) error {
	p := a.newParams(r, []string{"limit", "cursor"})
	filter := p.filter("types")
	limit, after := p.whole("limit", 1, maxPage, defaultPage), p.nameCursor(filter)
	if err := p.problem(); err != nil {
		return err
	}
	b, n, next, more := []byte(`{"items":[`), 0, "", true
	for more && next == "" {
		types, err := a.Types.ListTypes(r.Context(), after, stepPage)
		if err != nil {
			return err
		}
		more = len(types) == stepPage
		for i := range types {
			if n == limit || n > 0 && len(b) >= a.Limits.PageBytes {
				next = encodeNameCursor(filter, after)
				break
			}
			b = appendType(show.Comma(b, n), &types[i])
			after = types[i].Name
			n++
		}
	}
	b = append(b, `],"next_cursor":`...)
	writeJSON(w, http.StatusOK, append(strconv.AppendQuote(b, next), '}'))
	return nil
}

// appendType appends the document of a definition.
func appendType(b []byte, t *core.JobType) []byte {
	b = show.AppendString(append(b, `{"type":`...), t.Name)
	if len(t.Target) > 0 {
		b = show.AppendTarget(append(b, `,"target":`...), t.Target)
	}
	if t.Timeout != 0 {
		b = show.AppendField(b, "timeout", t.Timeout.String())
	}
	if t.MaxAttempts != 0 {
		b = strconv.AppendInt(append(b, `,"max_attempts":`...), int64(t.MaxAttempts), 10)
	}
	b = show.AppendBackoff(b, t.Backoff)
	if t.ExpiresAfter != 0 {
		b = show.AppendField(b, "expires_after", t.ExpiresAfter.String())
	}
	if t.ExpectWithin != 0 {
		b = show.AppendField(b, "expect_within", t.ExpectWithin.String())
	}
	b = show.AppendTime(b, "created_at", t.CreatedAt)
	return append(show.AppendTime(b, "updated_at", t.UpdatedAt), '}')
}
