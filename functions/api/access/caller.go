package access

import (
	"context"
	"net/http"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// Caller is who makes a request.
type Caller struct {
	ID      string // of its token; "" for whoever calls without one
	Role    core.Role
	Tenant  string    // the only one it sees and touches; "" means all
	Expires time.Time // of its token; zero means never
}

// AnyTenant is the caller where there are no tokens.
var AnyTenant = Caller{Role: core.RoleAdmin}

// Name tells callers apart, for counting what they do.
func (c Caller) Name(r *http.Request) string {
	if c.ID != "" {
		return "token " + c.ID
	}
	return addressOf(r)
}

type callerKey struct{}

// With returns a ctx that says who calls.
func (c Caller) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf is who makes the request that ctx is about. Where none was let in, it is one without a role.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// sees reports whether the caller may see what belongs to tenant.
func (c Caller) sees(tenant string) bool { return c.Tenant == "" || c.Tenant == tenant }

// Adopt gives a job that the caller submits its tenant. path stands before the names of fields.
func (c Caller) Adopt(path string, j *core.NewJob) *problem.Problem {
	if c.Tenant == "" {
		return nil
	}
	if j.Tenant == "" {
		j.Tenant = c.Tenant
	}
	if j.Tenant != c.Tenant {
		return problem.Field(http.StatusUnprocessableEntity, path+"tenant", "must be left out, or be the tenant of this token")
	}
	return nil
}

// errNoTenant is the answer to a filter by a tenant that the caller does not see. Whether there is one is not said.
func errNoTenant() error {
	return problem.New(http.StatusNotFound, "there is no such tenant")
}

// Narrow restricts a filter by tenant to what the caller sees.
func (c Caller) Narrow(tenant *string) (*string, error) {
	switch {
	case c.Tenant == "":
		return tenant, nil
	case tenant == nil || *tenant == c.Tenant:
		return &c.Tenant, nil
	}
	return nil, errNoTenant()
}
