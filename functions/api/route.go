package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/functions/api/access"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// methods are those a path is asked about for Allow.
var methods = [...]string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodTrace, http.MethodConnect}

// router takes all operations to their paths. None of it needs a schema: the document is another matter.
func (a *API) router() http.Handler {
	mux := http.NewServeMux()
	literal := map[string]bool{}
	for _, route := range slices.Concat(a.routes(unread{}), a.pages(), a.indexes()) {
		a.operations = append(a.operations, methodPath{route.Op.Method, route.Op.Path})
		literal[route.Op.Path] = !strings.Contains(route.Op.Path, "{")
		mux.HandleFunc(route.Op.Method+" "+route.Op.Path, a.run(route))
	}
	return notFound(mux, literal)
}

// routes are the operations of the document, with schemas as far as schemas has any.
func (a *API) routes(schemas huma.Registry) []call.Route {
	var all []call.Route
	for _, room := range a.rooms {
		all = append(all, room.Routes(schemas)...)
	}
	return all
}

// run answers an operation's requests.
func (a *API) run(route call.Route) http.HandlerFunc {
	holds := answer.AnswerHolds[route.Op.OperationID]
	return func(w http.ResponseWriter, r *http.Request) {
		watched, ok := w.(*answer.Writer)
		if !ok {
			watched = &answer.Writer{ResponseWriter: w}
		}
		limited, cancel := context.WithTimeout(r.Context(), a.Limits.Time+route.Extra)
		watched.Route, watched.Ctx = route.Op.Path, limited
		defer cancel()
		admitted, err := a.admit(route.Op, watched, r.WithContext(limited))
		if err == nil {
			watched.Hold.Of, watched.Hold.Caller = a.Memory, access.CallerOf(admitted.Context()).Name(admitted)
			err = watched.Hold.Set(limited, holds)
		}
		if err == nil {
			err = route.Handle(watched, admitted)
		}
		if err != nil {
			watched.Fail(endedBy(r.Context(), limited, err))
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
		answer.Problem(p, w)
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
