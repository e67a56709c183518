package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/functions/api/problem"
)

// methods are those a path is asked about for Allow.
var methods = [...]string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodTrace, http.MethodConnect}

// route is one operation and what answers it. An error becomes the answer's problem document.
type route struct {
	op     *huma.Operation
	handle func(w http.ResponseWriter, r *http.Request) error
	extra  time.Duration // beyond Limits.Time: for a body to arrive, or to wait
}

// router takes all operations to their paths. None of it needs a schema: the document is another matter.
func (a *API) router() http.Handler {
	mux := http.NewServeMux()
	literal := map[string]bool{}
	for _, route := range slices.Concat(a.routes(unread{}), a.pages(), a.indexes()) {
		a.operations = append(a.operations, methodPath{route.op.Method, route.op.Path})
		literal[route.op.Path] = !strings.Contains(route.op.Path, "{")
		mux.HandleFunc(route.op.Method+" "+route.op.Path, a.run(route))
	}
	return notFound(mux, literal)
}

// routes are the operations of the document, with schemas as far as schemas has any.
func (a *API) routes(schemas huma.Registry) []route {
	return slices.Concat(a.jobRoutes(schemas), a.leaseRoutes(schemas), a.typeRoutes(schemas), a.scheduleRoutes(schemas), a.deadRoutes(schemas),
		a.tokenRoutes(schemas), a.statsRoutes(schemas))
}

// run answers an operation's requests.
func (a *API) run(route route) http.HandlerFunc {
	holds := answerHolds[route.op.OperationID]
	return func(w http.ResponseWriter, r *http.Request) {
		watched, ok := w.(*answer)
		if !ok {
			watched = &answer{ResponseWriter: w}
		}
		limited, cancel := context.WithTimeout(r.Context(), a.Limits.Time+route.extra)
		watched.route, watched.ctx = route.op.Path, limited
		defer cancel()
		admitted, err := a.admit(route.op, watched, r.WithContext(limited))
		if err == nil {
			watched.hold.of, watched.hold.caller = a.memory, callerOf(admitted.Context()).name(admitted)
			err = watched.hold.set(limited, holds)
		}
		if err == nil {
			err = route.handle(watched, admitted)
		}
		if err != nil {
			watched.fail(endedBy(r.Context(), limited, err))
		}
	}
}

// endedBy is the reason why a request failed: where its client has gone, or its time was over, whatever was being done says
// no more than that it was broken off.
func endedBy(client, limited context.Context, err error) error {
	var p *problem.Problem
	switch {
	case errors.As(err, &p):
		return err
	case client.Err() != nil:
		return context.Canceled
	case limited.Err() != nil && errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	}
	return err
}

// notFound answers what no operation matches: 404, or 405 with the methods the path knows. The mux itself
// would answer in plain text, and redirect paths that are not clean. A path without a variable belongs to its own
// operations alone: GET /v1/jobs/batch asks for no job of that id.
func notFound(mux *http.ServeMux, literal map[string]bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		clean := cleanPath(r.URL.EscapedPath())
		knows := func(r *http.Request) bool {
			_, pattern := mux.Handler(r)
			if base, index := strings.CutSuffix(pattern, "{$}"); index {
				return strings.HasSuffix(base, " "+r.URL.EscapedPath())
			}
			return pattern != "" && clean && (!literal[r.URL.Path] || strings.HasSuffix(pattern, " "+r.URL.Path))
		}
		if knows(r) {
			mux.ServeHTTP(w, r)
			return
		}
		var allow []string
		for _, method := range methods {
			if knows(&http.Request{Method: method, URL: r.URL, Host: r.Host}) {
				allow = append(allow, method)
			}
		}
		p := problem.New(http.StatusNotFound, "there is nothing at this path; /docs lists what there is")
		if len(allow) > 0 {
			p = problem.New(http.StatusMethodNotAllowed, "this path accepts only "+strings.Join(allow, ", ")).With("Allow", strings.Join(allow, ", "))
		}
		writeProblem(p, w)
	})
}

// cleanPath reports whether a path, as it was sent, has no empty part and none that is "." or "..". What is encoded
// belongs to a name: a%2F%2Fb is one.
func cleanPath(escaped string) bool {
	for i, part := range strings.Split(escaped, "/") {
		if part == "." || part == ".." || part == "" && i > 0 {
			return false
		}
	}
	return true
}
