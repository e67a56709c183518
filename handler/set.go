package handler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Set holds handlers by job type. Handlers returns all registration errors, so that a program checks once, at its start. It
// is not safe for concurrent use.
type Set struct {
	logger     *slog.Logger
	handlers   core.Handlers
	middleware []Middleware
	faults     []error
}

// SetOptions are the settings of a Set.
type SetOptions struct {
	Logger *slog.Logger // the base of Logger. Nil means slog.Default
}

// NewSet returns a Set without handlers.
func NewSet(opts SetOptions) *Set {
	return &Set{logger: opts.Logger, handlers: core.Handlers{}}
}

// Use wraps all handlers of the set in middleware, those registered before and after. The first middleware is the outermost.
func (s *Set) Use(middleware ...Middleware) {
	if slices.ContainsFunc(middleware, isNil) {
		s.faults = append(s.faults, errors.New("middleware is nil"))
		return
	}
	s.middleware = append(s.middleware, middleware...)
}

// Handle registers a handler that gets the submitted payload. Register does the same for a function with a typed payload.
func (s *Set) Handle(jobType string, h Handler, opts ...Option) {
	if h == nil {
		s.faults = append(s.faults, fmt.Errorf("type %q: the handler is nil", jobType))
		return
	}
	s.add(jobType, h, settingsOf(opts))
}

func isNil(m Middleware) bool { return m == nil }

func (s *Set) add(jobType string, h Handler, set settings) {
	if _, err := core.CheckNewJob(core.NewJob{Type: jobType}, core.JobType{}, time.Time{}); err != nil {
		s.faults = append(s.faults, fmt.Errorf("type %q: %w", jobType, err))
		return
	}
	if slices.ContainsFunc(set.middleware, isNil) {
		s.faults = append(s.faults, fmt.Errorf("type %q: middleware is nil", jobType))
		return
	}
	if s.handlers[jobType] != nil {
		s.faults = append(s.faults, fmt.Errorf("type %q: registered twice", jobType))
		return
	}
	s.handlers[jobType] = wrap(h, set.middleware)
}

// Handlers returns the handlers, wrapped in their middleware, for a worker. The error joins all registration errors: an
// invalid type, a type registered twice, a nil function.
func (s *Set) Handlers() (core.Handlers, error) {
	if len(s.faults) > 0 {
		return nil, fmt.Errorf("handlers: %w", errors.Join(s.faults...))
	}
	ready := make(core.Handlers, len(s.handlers))
	for jobType, h := range s.handlers {
		inner := wrap(h, s.middleware)
		ready[jobType] = Func(func(ctx context.Context, job *core.Job) (json.RawMessage, error) {
			return inner.Work(contextOf(ctx, job, s.logger), job)
		})
	}
	return ready, nil
}
