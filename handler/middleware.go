package handler

import "github.com/belfry-dev/belfry/core"

// Handler handles jobs with their undecoded payload; Func is a function that implements it.
type (
	Handler = core.Handler
	Func    = core.HandlerFunc
)

// Middleware wraps a handler: the function that it returns is called in place of next, and may call next. It sees every job,
// its result and its error, also payloads that do not decode and their permanent error. A panic passes through it to the
// worker, which records it.
type Middleware func(next Handler) Handler

// wrap wraps a handler in middleware, the first one outermost.
func wrap(h Handler, middleware []Middleware) Handler {
	for i := len(middleware) - 1; i >= 0; i-- {
		h = middleware[i](h)
	}
	return h
}
