// Package jobtypes is the calls about definitions of job types.
package jobtypes

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/decode"
	"github.com/belfry-dev/belfry/functions/api/problem"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// Calls are the calls about job types.
type Calls struct{ *call.Base }

// New makes them.
func New(b *call.Base) *Calls { return &Calls{b} }

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
func (a *Calls) putType(w http.ResponseWriter, r *http.Request) error {
	t := core.JobType{Name: r.PathValue("type")}
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
	d := &decode.Decoder{}
	d.Object(raw, append(typeFields[:len(typeFields):len(typeFields)], laterTypeFields...), func(name string, value []byte) {
		a.typeField(d, &t, name, value)
	})
	d.AddFaults(core.CheckJobType(&t))
	a.BoundTimeout(d, t.Timeout, t.Target, "")
	if p := d.Problem(); p != nil {
		return p
	}
	if err := a.CheckTarget(r.Context(), t.Target); err != nil {
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
	answer.JSON(w, status, appendType(nil, &kept))
	return nil
}

func (a *Calls) typeField(d *decode.Decoder, t *core.JobType, name string, value []byte) {
	switch name {
	case "target":
		t.Target = a.Target(d, name, value)
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
func (a *Calls) getType(w http.ResponseWriter, r *http.Request) error {
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
	answer.JSON(w, http.StatusOK, appendType(nil, &t))
	return nil
}

// deleteType answers DELETE /v1/types/{type}. Jobs of the type stay.
func (a *Calls) deleteType(w http.ResponseWriter, r *http.Request) error {
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
func (a *Calls) typeName(r *http.Request) (string, error) {
	if err := a.NewParams(r, nil).Problem(); err != nil {
		return "", err
	}
	name := r.PathValue("type")
	return name, core.CheckTypeName(name)
}

// listTypes answers GET /v1/types: definitions by name.
func (a *Calls) listTypes(w http.ResponseWriter, r *http.Request) error {
	p := a.NewParams(r, []string{"limit", "cursor"})
	filter := p.Filter("types")
	limit, after := p.Whole("limit", 1, call.MaxPage, call.DefaultPage), p.NameCursor(filter)
	if err := p.Problem(); err != nil {
		return err
	}
	b, n, next, more := []byte(`{"items":[`), 0, "", true
	for more && next == "" {
		types, err := a.Types.ListTypes(r.Context(), after, call.StepPage)
		if err != nil {
			return err
		}
		more = len(types) == call.StepPage
		for i := range types {
			if n == limit || n > 0 && len(b) >= a.Limits.PageBytes {
				next = call.EncodeNameCursor(filter, after)
				break
			}
			b = appendType(show.Comma(b, n), &types[i])
			after = types[i].Name
			n++
		}
	}
	b = append(b, `],"next_cursor":`...)
	answer.JSON(w, http.StatusOK, append(strconv.AppendQuote(b, next), '}'))
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
