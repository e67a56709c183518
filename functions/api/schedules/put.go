package schedules

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/functions/api/access"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/decode"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// definition is what a caller asks to make of the schedule of a name. It has passed every check.
type definition struct {
	tenant, name string
	rule         core.ScheduleRule
}

// readDefinition reads the definition in a request's body and holds it against every rule.
func (a *Calls) readDefinition(w http.ResponseWriter, r *http.Request) (definition, error) {
	s := definition{tenant: access.CallerOf(r.Context()).Tenant, name: r.PathValue("name")}
	body, err := a.ReadBody(w, r, a.Limits.Body)
	if err != nil {
		return s, err
	}
	raw, err := decode.Parse(body)
	if err != nil {
		return s, err
	}
	d := &decode.Decoder{}
	d.Object(raw, scheduleFields, func(field string, value []byte) {
		if field == "tenant" {
			s.tenant = ownTenant(d, value, s.tenant)
			return
		}
		a.scheduleField(d, &s.rule, field, value)
	})
	if !d.Has("type") {
		d.Fault("type", "is required")
	}
	checked := s.rule // Put fills in the defaults itself
	d.AddFaults(a.Schedules.Check(s.tenant, s.name, &checked, a.Now()))
	a.BoundTimeout(d, time.Duration(s.rule.Timeout), s.rule.Target, s.rule.Type)
	if noPathPart(s.name) {
		d.Fault("name", nameRule)
	}
	if p := d.Problem(); p != nil {
		return s, p
	}
	return s, a.CheckTarget(r.Context(), s.rule.Target)
}

// ownTenant reads the tenant of a definition: the one given, which must be the token's where that has one.
func ownTenant(d *decode.Decoder, value []byte, own string) string {
	const field = "tenant"
	switch given := d.Some(field, value); {
	case own == "":
		return given
	case clean(d, field) && given != own:
		d.Fault(field, "must be left out, or be the tenant of this token")
	}
	return own
}

// putSchedule answers PUT /v1/schedules/{name}: it makes the schedule, or gives it another definition as a whole.
func (a *Calls) putSchedule(w http.ResponseWriter, r *http.Request) error {
	if err := a.NewParams(r, nil).Problem(); err != nil {
		return err
	}
	asked, err := readConditions(r.Header)
	if err != nil {
		return err
	}
	s, err := a.readDefinition(w, r)
	if err != nil {
		return err
	}
	match, err := a.resolve(r.Context(), asked, s.tenant, s.name)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return scheduleFault(core.ErrStale)
	case err != nil:
		return scheduleFault(err)
	}
	kept, made, err := a.Schedules.Put(r.Context(), s.tenant, s.name, s.rule, match)
	if err != nil {
		return scheduleFault(err)
	}
	status := http.StatusOK
	if made {
		status = http.StatusCreated
	}
	return a.showSchedule(w, status, &kept)
}

// planSchedule answers POST /v1/schedules/{name}/plan: what putting this definition would change. It checks all that PUT
// checks and keeps nothing.
func (a *Calls) planSchedule(w http.ResponseWriter, r *http.Request) error {
	if err := a.NewParams(r, nil).Problem(); err != nil {
		return err
	}
	s, err := a.readDefinition(w, r)
	if err != nil {
		return err
	}
	change, err := a.Schedules.Compare(r.Context(), s.tenant, s.name, s.rule)
	if err != nil {
		return err
	}
	answer.JSON(w, http.StatusOK, appendScheduleChange(nil, s.tenant, &change))
	return nil
}

// appendScheduleChange appends what putting a definition would do.
func appendScheduleChange(b []byte, tenant string, c *schedule.Change) []byte {
	action := "change"
	switch {
	case c.Version == 0:
		action = "create"
	case len(c.Fields) == 0:
		action = "none"
	}
	b = show.AppendString(append(b, `{"action":`...), action)
	b = append(b, `,"fields":[`...)
	for i, field := range c.Fields {
		b = show.AppendString(show.Comma(b, i), field)
	}
	b = append(b, ']')
	if tenant != "" {
		b = show.AppendField(b, "tenant", tenant)
	}
	if c.Version != 0 {
		b = strconv.AppendInt(append(b, `,"version":`...), c.Version, 10)
	}
	b = show.AppendField(b, "description", c.Description)
	return append(b, '}')
}
