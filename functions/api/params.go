package api

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/decode"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// params reads a request's query and collects all that is wrong with it.
type params struct {
	values     url.Values
	now        time.Time
	tenantOnly string // the only tenant the caller sees; "" means all
	errs       core.FieldErrors
}

// emptyRule refuses a parameter that is given but empty: a script's variable that is not set must not ask for everything.
const emptyRule = "must not be empty; leave the parameter out instead"

// newParams reads the query. Names that are not among known are faults, and so are values that are given twice under a
// name that is not among many, and values that are empty. Only tenant may be empty: see tenant.
func (a *API) newParams(r *http.Request, known []string, many ...string) *params {
	p := &params{now: a.Now(), tenantOnly: callerOf(r.Context()).tenant}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		p.errs.Add("query", "is not a well-formed query")
	}
	p.values = values
	for _, name := range sortedNames(values) {
		switch {
		case !slices.Contains(known, name) && !slices.Contains(many, name):
			p.errs.Add(decode.Shown(name), "is not a parameter of this call; %s", parametersAre(append(slices.Clone(known), many...)))
		case len(values[name]) > 1 && !slices.Contains(many, name):
			p.errs.Add(name, "is given twice")
		case name != "tenant" && slices.Contains(values[name], ""):
			p.errs.Add(name, emptyRule)
			delete(values, name) // one fault is enough
		}
		if len(p.errs) == decode.MaxFaults {
			break
		}
	}
	return p
}

func parametersAre(known []string) string {
	if len(known) == 0 {
		return "there are none"
	}
	return "the parameters are " + decode.List(known)
}

func sortedNames(values url.Values) []string {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// problem is what was found, or nil.
func (p *params) problem() error {
	if len(p.errs) == 0 {
		return nil
	}
	return problem.Fields(http.StatusUnprocessableEntity, p.errs)
}

// text reads a name to filter by; "" where it is not given.
func (p *params) text(name string, limit int) string {
	value := p.values.Get(name)
	core.CheckText(&p.errs, name, value, limit)
	return value
}

// tenant reads the tenant to filter by: nil means any, "" what belongs to none. Calls about one thing refuse "".
func (p *params) tenant() *string {
	if !p.values.Has("tenant") {
		return nil
	}
	value := p.text("tenant", core.MaxTenantBytes)
	return &value
}

// whole reads a whole number within bounds.
func (p *params) whole(name string, low, high, absent int) int {
	if !p.values.Has(name) {
		return absent
	}
	n, err := strconv.Atoi(p.values.Get(name))
	if err != nil || n < low || n > high {
		p.errs.Add(name, "must be a whole number from %d to %d", low, high)
	}
	return n
}

// instant reads an RFC 3339 time. In a query a plus sign that is not encoded is a space.
func (p *params) instant(name string) time.Time {
	if !p.values.Has(name) {
		return time.Time{}
	}
	text := p.values.Get(name)
	t, fault := decode.ParseInstant(name, text, p.now)
	if fault != nil {
		if plus := strings.ReplaceAll(text, " ", "+"); plus != text && core.IsInstant(plus) {
			fault.Rule = `must have the + of its offset written as %2B: in a query a + is a space`
		}
		p.errs = append(p.errs, fault)
	}
	return t
}

// duration reads a Go duration from 0 to limit.
func (p *params) duration(name string, limit time.Duration) time.Duration {
	if !p.values.Has(name) {
		return 0
	}
	d, ok := core.ReadDuration(p.values.Get(name))
	if !ok || d < 0 || d > limit {
		p.errs.Add(name, `must be a duration with its unit, such as "30s", from 0s to %s`, limit)
	}
	return d
}

// flag reads true or false.
func (p *params) flag(name string) bool {
	switch value := p.values.Get(name); {
	case value == "true":
		return true
	case value == "false", !p.values.Has(name):
	default:
		p.errs.Add(name, "must be true or false")
	}
	return false
}

// ids reads the ids under a name that may stand more than once.
func (p *params) id(name string) int64 {
	if !p.values.Has(name) {
		return 0
	}
	id, ok := parseID(p.values.Get(name))
	if !ok {
		p.errs.Add(name, idRule)
	}
	return id
}

func (p *params) ids(name string, limit int) []int64 {
	values := p.values[name]
	if len(values) > limit {
		p.errs.Add(name, "must be given at most %d times", limit)
		return nil
	}
	var ids []int64
	for i, value := range values {
		id, ok := parseID(value)
		if !ok {
			p.errs.Add(fmt.Sprintf("%s[%d]", name, i), idRule)
		}
		ids = append(ids, id)
	}
	return ids
}

// idRule is the rule of parseID as a sentence.
const idRule = "must be a job's id: a whole number from 1 to 9223372036854775807, without sign or leading zeros"

// parseID reads an id in the one form it is written in.
func parseID(text string) (int64, bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id > 0 && text == strconv.FormatInt(id, 10)
}

// pathID reads the id in the path.
func pathID(r *http.Request) (int64, error) {
	id, ok := parseID(r.PathValue("id"))
	if !ok {
		return 0, problem.Field(http.StatusUnprocessableEntity, "id", idRule)
	}
	return id, nil
}
