package api

import (
	"context"
	"net/http"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// caller is who makes a request.
type caller struct {
	id      string // of its token; "" for whoever calls without one
	role    core.Role
	tenant  string    // the only one it sees and touches; "" means all
	expires time.Time // of its token; zero means never
}

// anyTenant is the caller where there are no tokens.
var anyTenant = caller{role: core.RoleAdmin}

// name tells callers apart, for counting what they do.
func (c caller) name(r *http.Request) string {
	if c.id != "" {
		return "token " + c.id
	}
	return addressOf(r)
}

type callerKey struct{}

// with returns a ctx that says who calls.
func (c caller) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// callerOf is who makes the request that ctx is about. Where none was let in, it is one without a role.
func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// sees reports whether the caller may see what belongs to tenant.
func (c caller) sees(tenant string) bool { return c.tenant == "" || c.tenant == tenant }

// adopt gives a job that the caller submits its tenant. path stands before the names of fields.
func (c caller) adopt(path string, j *core.NewJob) *problem.Problem {
	if c.tenant == "" {
		return nil
	}
	if j.Tenant == "" {
		j.Tenant = c.tenant
	}
	if j.Tenant != c.tenant {
		return problem.Field(http.StatusUnprocessableEntity, path+"tenant", "must be left out, or be the tenant of this token")
	}
	return nil
}

// errNoTenant is the answer to a filter by a tenant that the caller does not see. Whether there is one is not said.
func errNoTenant() error {
	return problem.New(http.StatusNotFound, "there is no such tenant")
}

// narrow restricts a filter by tenant to what the caller sees.
func (c caller) narrow(tenant *string) (*string, error) {
	switch {
	case c.tenant == "":
		return tenant, nil
	case tenant == nil || *tenant == c.tenant:
		return &c.tenant, nil
	}
	return nil, errNoTenant()
}
