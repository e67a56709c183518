package call

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/access"
	"github.com/belfry-dev/belfry/functions/api/decode"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// Params reads a request's query and collects all that is wrong with it.
type Params struct {
	Values     url.Values
	now        time.Time
	tenantOnly string // the only tenant the caller sees; "" means all
	Errs       core.FieldErrors
}

// EmptyRule refuses a parameter that is given but empty: a script's variable that is not set must not ask for everything.
const EmptyRule = "must not be empty; leave the parameter out instead"

// NewParams reads the query. Names that are not among known are faults, and so are values that are given twice under a
// name that is not among many, and values that are empty. Only tenant may be empty: see tenant.
func (a *Base) NewParams(r *http.Request, known []string, many ...string) *Params {
	p := &Params{now: a.Now(), tenantOnly: access.CallerOf(r.Context()).Tenant}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		p.Errs.Add("query", "is not a well-formed query")
	}
	p.Values = values
	for _, name := range sortedNames(values) {
		switch {
		case !slices.Contains(known, name) && !slices.Contains(many, name):
			p.Errs.Add(decode.Shown(name), "is not a parameter of this call; %s", parametersAre(append(slices.Clone(known), many...)))
		case len(values[name]) > 1 && !slices.Contains(many, name):
			p.Errs.Add(name, "is given twice")
		case name != "tenant" && slices.Contains(values[name], ""):
			p.Errs.Add(name, EmptyRule)
			delete(values, name) // one fault is enough
		}
		if len(p.Errs) == decode.MaxFaults {
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

// Problem is what was found, or nil.
func (p *Params) Problem() error {
	if len(p.Errs) == 0 {
		return nil
	}
	return problem.Fields(http.StatusUnprocessableEntity, p.Errs)
}

// Text reads a name to filter by; "" where it is not given.
func (p *Params) Text(name string, limit int) string {
	value := p.Values.Get(name)
	core.CheckText(&p.Errs, name, value, limit)
	return value
}

// Tenant reads the tenant to filter by: nil means any, "" what belongs to none. Calls about one thing refuse "".
func (p *Params) Tenant() *string {
	if !p.Values.Has("tenant") {
		return nil
	}
	value := p.Text("tenant", core.MaxTenantBytes)
	return &value
}

// Whole reads a whole number within bounds.
func (p *Params) Whole(name string, low, high, absent int) int {
	if !p.Values.Has(name) {
		return absent
	}
	n, err := strconv.Atoi(p.Values.Get(name))
	if err != nil || n < low || n > high {
		p.Errs.Add(name, "must be a whole number from %d to %d", low, high)
	}
	return n
}

// Instant reads an RFC 3339 time. In a query a plus sign that is not encoded is a space.
func (p *Params) Instant(name string) time.Time {
	if !p.Values.Has(name) {
		return time.Time{}
	}
	text := p.Values.Get(name)
	t, fault := decode.ParseInstant(name, text, p.now)
	if fault != nil {
		if plus := strings.ReplaceAll(text, " ", "+"); plus != text && core.IsInstant(plus) {
			fault.Rule = `must have the + of its offset written as %2B: in a query a + is a space`
		}
		p.Errs = append(p.Errs, fault)
	}
	return t
}

// Duration reads a Go duration from 0 to limit.
func (p *Params) Duration(name string, limit time.Duration) time.Duration {
	if !p.Values.Has(name) {
		return 0
	}
	d, ok := core.ReadDuration(p.Values.Get(name))
	if !ok || d < 0 || d > limit {
		p.Errs.Add(name, `must be a duration with its unit, such as "30s", from 0s to %s`, limit)
	}
	return d
}

// Flag reads true or false.
func (p *Params) Flag(name string) bool {
	switch value := p.Values.Get(name); {
	case value == "true":
		return true
	case value == "false", !p.Values.Has(name):
	default:
		p.Errs.Add(name, "must be true or false")
	}
	return false
}

// ID reads an id; 0 where it is not given.
func (p *Params) ID(name string) int64 {
	if !p.Values.Has(name) {
		return 0
	}
	id, ok := ParseID(p.Values.Get(name))
	if !ok {
		p.Errs.Add(name, IDRule)
	}
	return id
}

// IDs reads the ids under a name that may stand more than once.
func (p *Params) IDs(name string, limit int) []int64 {
	values := p.Values[name]
	if len(values) > limit {
		p.Errs.Add(name, "must be given at most %d times", limit)
		return nil
	}
	var ids []int64
	for i, value := range values {
		id, ok := ParseID(value)
		if !ok {
			p.Errs.Add(fmt.Sprintf("%s[%d]", name, i), IDRule)
		}
		ids = append(ids, id)
	}
	return ids
}

// IDRule is the rule of ParseID as a sentence.
const IDRule = "must be a job's id: a whole number from 1 to 9223372036854775807, without sign or leading zeros"

// ParseID reads an id in the one form it is written in.
func ParseID(text string) (int64, bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id > 0 && text == strconv.FormatInt(id, 10)
}

// PathID reads the id in the path.
func PathID(r *http.Request) (int64, error) {
	id, ok := ParseID(r.PathValue("id"))
	if !ok {
		return 0, problem.Field(http.StatusUnprocessableEntity, "id", IDRule)
	}
	return id, nil
}
