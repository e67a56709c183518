package handler

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/belfry-dev/belfry/core"
)

// contextValue is the value in a handler's context.
type contextValue struct {
	job    *core.Job
	logger *slog.Logger // nil means slog.Default
}

type attemptKey struct{}

func contextOf(ctx context.Context, job *core.Job, logger *slog.Logger) context.Context {
	return context.WithValue(ctx, attemptKey{}, &contextValue{job, logger})
}

func attemptOf(ctx context.Context) *contextValue {
	a, _ := ctx.Value(attemptKey{}).(*contextValue)
	return a
}

// Logger returns a logger that identifies the attempt: a group "job" with id, type, attempt, priority, schedule_lag (from
// the job's due time to the start of this attempt, by the store's clock) and tenant, if it has one; and trace_id and
// span_id, if it has a trace. It never logs the payload. Outside a handler it returns slog.Default.
func Logger(ctx context.Context) *slog.Logger {
	a := attemptOf(ctx)
	if a == nil {
		return slog.Default()
	}
	job := []any{
		slog.Int64("id", a.job.ID), slog.String("type", a.job.Type), slog.Int("attempt", a.job.Attempts),
		slog.String("priority", a.job.Priority.String()), slog.Duration("schedule_lag", max(a.job.StartedAt.Sub(a.job.RunAt), 0)),
	}
	if a.job.Tenant != "" {
		job = append(job, slog.String("tenant", a.job.Tenant))
	}
	attrs := []any{slog.Group("job", job...)}
	if trace, ok := ParseTrace(a.job.Trace); ok {
		attrs = append(attrs, slog.String("trace_id", trace.TraceID), slog.String("span_id", trace.SpanID))
	}
	return cmp.Or(a.logger, slog.Default()).With(attrs...)
}

// WithLogger returns a context whose Logger builds on logger instead of the set's: for middleware that adds
// attributes of its own. Outside a handler it changes nothing.
func WithLogger(ctx context.Context, logger *slog.Logger) context.Context {
	a := attemptOf(ctx)
	if a == nil {
		return ctx
	}
	return contextOf(ctx, a.job, logger)
}
