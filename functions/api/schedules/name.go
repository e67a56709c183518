package schedules

import (
	"net/http"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/functions/api/access"
	"github.com/belfry-dev/belfry/functions/api/call"
)

// nameRule is why a name cannot be a part of a path: on the way to here, much would take it for a step up.
const nameRule = `must not be "." or ".."`

func noPathPart(name string) bool { return name == "." || name == ".." }

// scheduleOf reads the schedule that a path and the parameter tenant name, among parameters that are known.
func (a *Calls) scheduleOf(p *call.Params, r *http.Request) (tenant, name string, err error) {
	name = r.PathValue("name")
	core.CheckText(&p.Errs, "name", name, schedule.MaxScheduleNameBytes)
	if noPathPart(name) {
		p.Errs.Add("name", nameRule)
	}
	given := p.Tenant()
	if given != nil && *given == "" {
		p.Errs.Add("tenant", call.EmptyRule)
	}
	if err := p.Problem(); err != nil {
		return "", "", err
	}
	narrowed, err := access.CallerOf(r.Context()).Narrow(given)
	if err != nil {
		return "", "", errNoSchedule()
	}
	if narrowed != nil {
		tenant = *narrowed
	}
	return tenant, name, nil
}
