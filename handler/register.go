package handler

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/belfry-dev/belfry/core"
)

// Option changes the handling of one type.
type Option func(*settings)

type settings struct {
	strict     bool
	middleware []Middleware
}

func settingsOf(opts []Option) settings {
	var set settings
	for _, opt := range opts {
		opt(&set)
	}
	return set
}

// Strict refuses payloads with fields that the payload's Go type does not have. Without it they are ignored, so
// that a field can be added by submitters first.
func Strict() Option { return func(s *settings) { s.strict = true } }

// With wraps the handler of this type in middleware, the first one outermost, inside the set's middleware.
func With(middleware ...Middleware) Option {
	return func(s *settings) { s.middleware = append(s.middleware, middleware...) }
}

// Register makes work the handler of a job type. Each payload is decoded into a new T by the rules of encoding/json. A
// payload that does not decode fails its job for good, because a retry would not help. With T any, numbers become float64:
// use json.RawMessage or json.Number for numbers beyond 2^53.
func Register[T any](set *Set, jobType string, work func(ctx context.Context, job *Job[T]) error, opts ...Option) {
	if work == nil {
		set.faults = append(set.faults, fmt.Errorf("type %q: the function is nil", jobType))
		return
	}
	chosen := settingsOf(opts)
	set.add(jobType, Func(func(ctx context.Context, row *core.Job) (json.RawMessage, error) {
		payload, err := decode[T](row.Payload, chosen.strict)
		if err != nil {
			return nil, Permanent(err)
		}
		job := &Job[T]{Job: row, Payload: payload}
		if err := work(ctx, job); err != nil {
			return nil, err
		}
		if job.fault != nil {
			return nil, Permanent(job.fault)
		}
		return job.result, nil
	}), chosen)
}
