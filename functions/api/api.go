package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/deadletters"
	"github.com/belfry-dev/belfry/functions/api/jobs"
	"github.com/belfry-dev/belfry/functions/api/jobtypes"
	"github.com/belfry-dev/belfry/functions/api/leases"
	"github.com/belfry-dev/belfry/functions/api/schedules"
	"github.com/belfry-dev/belfry/functions/api/stats"
	"github.com/belfry-dev/belfry/functions/api/tokens"
)

// Options say what the API stands on.
type Options = call.Options

// Limits bound what one request may take.
type Limits = call.Limits

// API is the HTTP API. It is safe for concurrent use. Close it after the last request.
type API struct {
	*call.Base
	serve      http.Handler
	operations []methodPath // that are served
	rooms      []calls
}

// calls are the operations about one thing.
type calls interface {
	// Routes are the operations, with schemas as far as schemas has any.
	Routes(schemas huma.Registry) []call.Route
}

// New puts the API together. An error names the option that is missing.
func New(o Options) (*API, error) {
	b, err := call.New(o)
	if err != nil {
		return nil, err
	}
	jobs := jobs.New(b)
	a := &API{Base: b, rooms: []calls{jobs, leases.New(b), jobtypes.New(b), schedules.New(b), deadletters.New(jobs), tokens.New(b), stats.New(b)}}
	a.serve = a.wrapHandler(a.router())
	return a, nil
}

// ServeHTTP answers one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.serve.ServeHTTP(w, r) }

// Ended tells requests that wait for these jobs to look at once: what a worker in the same process calls. It
// never blocks.
func (a *API) Ended(ids ...int64) { a.Wait.Wake(ids) }

// Drain has the API say that it is not ready, and that connections end, while it answers as before: what a host calls when
// it is told to stop, a while before Close.
func (a *API) Drain() { a.Draining.Store(true) }

// HeldMemory is how many bytes of memory requests in flight hold, as far as Limits.Memory counts them.
func (a *API) HeldMemory() int64 { return a.Memory.InUse() }

// Close ends waiting requests and what runs in the background, and returns when it is gone.
func (a *API) Close() { a.Wait.Close() }
