package api

import (
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/functions/api/access"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/jobs"
	"github.com/belfry-dev/belfry/functions/api/problem"
	"github.com/belfry-dev/belfry/functions/api/schedules"
)

// admit decides whether a request may go to its operation. The request that comes back says who makes it.
func (a *API) admit(op *huma.Operation, w *answer.Writer, r *http.Request) (*http.Request, error) {
	n := needOf(op)
	if n.scope == public {
		return r, nil
	}
	c, err := a.callerFor(n, r)
	w.Caller = c.ID
	if p := (*problem.Problem)(nil); err == nil || errors.As(err, &p) {
		if p := a.Callers.Bound(c.Name(r), a.Now()); p != nil { // who is refused is counted too, by address
			return r, p
		}
	}
	if err != nil {
		return r, err
	}
	r = r.WithContext(c.With(r.Context()))
	if n.scope == lease {
		err = a.leaseOfOwn(c, r)
	} else {
		err = n.judge(c)
	}
	if p := refuseUnsupported(op, r); err == nil && p != nil {
		err = p
	}
	return r, err
}

// callerFor is who makes a request to an operation. Where a lease token is the right to it nobody needs to be known;
// a bearer token that comes along all the same says whose matter the caller may see.
func (a *API) callerFor(n need, r *http.Request) (access.Caller, error) {
	if n.scope != lease {
		return a.Callers.Admit(r)
	}
	c, err := a.Callers.Holder(r)
	if errors.Is(err, access.ErrNoToken) {
		return access.Caller{}, nil
	}
	return c, err
}

// leaseOfOwn refuses a tenant's token access to another tenant's attempts, even with a valid lease token.
func (a *API) leaseOfOwn(c access.Caller, r *http.Request) error {
	if c.Tenant == "" {
		return nil
	}
	id, err := call.PathID(r)
	if err != nil {
		return err
	}
	_, err = a.Jobs.Get(r.Context(), id)
	return err
}

// promises are the request headers that change what a write may do, with what a call that does not support one says. A
// call supports those that its operation in the document names.
var promises = []struct{ header, refusal string }{
	{jobs.KeyHeader, "is not supported by this call; only those that submit jobs take one"},
	{schedules.MatchHeader, "is not supported by this call; only PUT and DELETE of a schedule take one"},
	{schedules.NoneMatchHeader, "is not supported by this call; only PUT and DELETE of a schedule take one"},
}

// refuseUnsupported refuses a write with a header whose promise it would not keep. A read changes nothing, so it may ignore them.
func refuseUnsupported(op *huma.Operation, r *http.Request) *problem.Problem {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	for _, promise := range promises {
		if len(r.Header.Values(promise.header)) > 0 && !namesHeader(op, promise.header) {
			return problem.Field(http.StatusUnprocessableEntity, promise.header, promise.refusal)
		}
	}
	return nil
}

// namesHeader reports whether an operation has the header among its parameters.
func namesHeader(op *huma.Operation, header string) bool {
	for _, p := range op.Parameters {
		if p.In == "header" && p.Name == header {
			return true
		}
	}
	return false
}
