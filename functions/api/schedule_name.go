package api

import (
	"net/http"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
)

// nameRule is why a name cannot be a part of a path: on the way to here, much would take it for a step up.
const nameRule = `must not be "." or ".."`

func noPathPart(name string) bool { return name == "." || name == ".." }

// scheduleOf reads the schedule that a path and the parameter tenant name, among parameters that are known.
func (a *API) scheduleOf(p *params, r *http.Request) (tenant, name string, err error) {
	name = r.PathValue("name")
	core.CheckText(&p.errs, "name", name, schedule.MaxScheduleNameBytes)
	if noPathPart(name) {
		p.errs.Add("name", nameRule)
	}
	given := p.tenant()
	if given != nil && *given == "" {
		p.errs.Add("tenant", emptyRule)
	}
	if err := p.problem(); err != nil {
		return "", "", err
	}
	narrowed, err := callerOf(r.Context()).narrow(given)
	if err != nil {
		return "", "", errNoSchedule()
	}
	if narrowed != nil {
		tenant = *narrowed
	}
	return tenant, name, nil
}
