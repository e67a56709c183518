package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/functions/api/problem"
)

// promises are the request headers that change what a write may do, with what a call that does not support one says. A
// call supports those that its operation in the document names.
var promises = []struct{ header, refusal string }{
	{keyHeader, "is not supported by this call; only those that submit jobs take one"},
	{matchHeader, "is not supported by this call; only PUT and DELETE of a schedule take one"},
	{noneMatchHeader, "is not supported by this call; only PUT and DELETE of a schedule take one"},
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
