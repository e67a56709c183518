package handler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/handler"
)

// timeless writes log lines without their time, which would differ on every run.
func timeless() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

func ExampleSet_Use() {
	set := handler.NewSet(handler.SetOptions{})
	set.Use(func(next handler.Handler) handler.Handler {
		return handler.Func(func(ctx context.Context, job *core.Job) (json.RawMessage, error) {
			result, err := next.Work(ctx, job)
			fmt.Printf("counted: a %s, error %t\n", job.Type, err != nil)
			return result, err
		})
	})
	handler.Register(set, "email.send", func(context.Context, *handler.Job[Email]) error { return nil })
	run(set, core.Job{Type: "email.send"})
	// Output:
	// counted: a email.send, error false
	// done
}

func ExampleWith() {
	// within limits a handler to less time than its job's timeout.
	within := func(d time.Duration) handler.Middleware {
		return func(next handler.Handler) handler.Handler {
			return handler.Func(func(ctx context.Context, job *core.Job) (json.RawMessage, error) {
				ctx, stop := context.WithTimeout(ctx, d)
				defer stop()
				return next.Work(ctx, job)
			})
		}
	}
	set := handler.NewSet(handler.SetOptions{})
	handler.Register(set, "email.send", func(ctx context.Context, _ *handler.Job[Email]) error {
		_, bounded := ctx.Deadline()
		fmt.Println("bounded:", bounded)
		return nil
	}, handler.With(within(5*time.Second)))
	run(set, core.Job{Type: "email.send"})
	// Output:
	// bounded: true
	// done
}

func ExampleLogger() {
	set := handler.NewSet(handler.SetOptions{Logger: timeless()})
	handler.Register(set, "email.send", func(ctx context.Context, _ *handler.Job[Email]) error {
		handler.Logger(ctx).InfoContext(ctx, "sent")
		return nil
	})
	due := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	run(set, core.Job{
		ID: 12, Type: "email.send", Priority: core.Default, Tenant: "acme", Attempts: 1,
		RunAt: due, StartedAt: due.Add(3 * time.Millisecond),
	})
	// Output:
	// level=INFO msg=sent job.id=12 job.type=email.send job.attempt=1 job.priority=default job.schedule_lag=3ms job.tenant=acme
	// done
}

func ExampleWithLogger() {
	set := handler.NewSet(handler.SetOptions{})
	set.Use(func(next handler.Handler) handler.Handler {
		return handler.Func(func(ctx context.Context, job *core.Job) (json.RawMessage, error) {
			return next.Work(handler.WithLogger(ctx, timeless().With("region", "eu")), job)
		})
	})
	handler.Register(set, "email.send", func(ctx context.Context, _ *handler.Job[Email]) error {
		handler.Logger(ctx).InfoContext(ctx, "sent")
		return nil
	})
	run(set, core.Job{ID: 12, Type: "email.send", Priority: core.Bulk, Attempts: 1})
	// Output:
	// level=INFO msg=sent region=eu job.id=12 job.type=email.send job.attempt=1 job.priority=bulk job.schedule_lag=0s
	// done
}

func ExampleParseTrace() {
	parsed, ok := handler.ParseTrace("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	fmt.Println(parsed.TraceID, parsed.SpanID, parsed.Sampled(), ok)
	// Output: 4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7 true true
}

func ExampleTrace_String() {
	parsed := handler.Trace{TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", SpanID: "00f067aa0ba902b7", Flags: "01"}
	fmt.Println(parsed)
	// Output: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
}

func ExampleTrace_Sampled() {
	fmt.Println(handler.Trace{Flags: "01"}.Sampled(), handler.Trace{Flags: "00"}.Sampled())
	// Output: true false
}

// The trace continues in OpenTelemetry: the handler's spans become part of the submitter's trace.
func ExampleTraceOf() {
	set := handler.NewSet(handler.SetOptions{})
	set.Use(func(next handler.Handler) handler.Handler {
		return handler.Func(func(ctx context.Context, job *core.Job) (json.RawMessage, error) {
			if submitted, ok := handler.TraceOf(ctx); ok {
				carrier := propagation.MapCarrier{"traceparent": submitted.String()}
				ctx = propagation.TraceContext{}.Extract(ctx, carrier)
			}
			return next.Work(ctx, job)
		})
	})
	handler.Register(set, "email.send", func(ctx context.Context, _ *handler.Job[Email]) error {
		span := trace.SpanContextFromContext(ctx)
		fmt.Println(span.TraceID(), span.IsRemote())
		return nil
	})
	run(set, core.Job{Type: "email.send", Trace: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})
	// Output:
	// 4bf92f3577b34da6a3ce929d0e0e4736 true
	// done
}
