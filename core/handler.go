package core

import (
	"context"
	"encoding/json"
)

// Handler runs jobs of one type. A nil error ends the job as done, with result (JSON or nil) kept on it. An
// error is retried by the job's back-off unless marked by Permanent, RetryAfter or Snooze. ctx ends on
// cancel, on the attempt's timeout, when the lease is lost and when the worker stops; context.Cause says
// which: ErrCancelWanted, ErrTimeout, ErrLeaseLost, ErrStopping.
type Handler interface {
	Work(ctx context.Context, job *Job) (result json.RawMessage, err error)
}

// HandlerFunc makes a function a Handler.
type HandlerFunc func(ctx context.Context, job *Job) (json.RawMessage, error)

// Work calls f.
func (f HandlerFunc) Work(ctx context.Context, job *Job) (json.RawMessage, error) { return f(ctx, job) }

// Handlers maps a type to its handler.
type Handlers map[string]Handler
