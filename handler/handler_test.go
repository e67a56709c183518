package handler_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/handler"
)

type order struct {
	ID    int64     `json:"id"`
	Lines []line    `json:"lines"`
	At    time.Time `json:"at"`
}

type line struct {
	Quantity int `json:"quantity"`
}

func nothing(context.Context, *handler.Job[order]) error { return nil }

// work runs the set's handler for one job.
func work(t *testing.T, set *handler.Set, job core.Job) (json.RawMessage, error) {
	t.Helper()
	handlers, err := set.Handlers()
	if err != nil {
		t.Fatal(err)
	}
	return handlers[job.Type].Work(t.Context(), &job)
}

func TestPayloadIsDecoded(t *testing.T) {
	set := handler.NewSet(handler.SetOptions{})
	var got order
	var raw string
	handler.Register(set, "order", func(_ context.Context, job *handler.Job[order]) error {
		got, raw = job.Payload, string(job.Job.Payload)
		return nil
	})
	text := `{"id": 9007199254740993, "lines": [{"quantity": 2}], "extra": 1}`
	if _, err := work(t, set, core.Job{Type: "order", Payload: json.RawMessage(text)}); err != nil {
		t.Fatal(err)
	}
	if got.ID != 9007199254740993 || got.Lines[0].Quantity != 2 || raw != text {
		t.Errorf("decoded %+v of %s", got, raw)
	}
	if _, err := work(t, set, core.Job{Type: "order"}); err != nil {
		t.Errorf("no payload at all: %v", err)
	}
}

// TestPayloadThatDoesNotDecode: the error is permanent, and its text helps without quoting the payload.
func TestPayloadThatDoesNotDecode(t *testing.T) {
	entered := false
	set := handler.NewSet(handler.SetOptions{})
	never := func(context.Context, *handler.Job[order]) error { entered = true; return nil }
	handler.Register(set, "lenient", never)
	handler.Register(set, "strict", never, handler.Strict())
	for _, c := range []struct{ jobType, payload, want string }{
		{"lenient", `[1]`, "payload: must be an object, not an array"},
		{"lenient", `{"id": "hunter2"}`, "payload: id: must be a whole number that 64 bits can hold, not a string"},
		{"lenient", `{"id": 123456789012345678901234567890}`, "payload: id: must be a whole number that 64 bits can hold"},
		{"lenient", `{"lines": [{"quantity": "hunter2"}]}`, "payload: lines.quantity: must be a whole number that 64 bits can hold, not a string"},
		{"lenient", `{"at": "hunter2"}`, `payload: a time in it must be RFC 3339, such as "2026-03-01T09:00:00Z"`},
		{"lenient", `{"id": 1`, "payload: is not one whole JSON value"},
		{"lenient", `{"id": 1} {}`, "payload: is not one whole JSON value"},
		{"lenient", `{"id": hunter2}`, "payload: is not JSON, at byte 8"},
		{"strict", `{"id": 1, "amount": "hunter2"}`, `payload: the field "amount" is unknown`},
	} {
		_, err := work(t, set, core.Job{Type: c.jobType, Payload: json.RawMessage(c.payload)})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s of %s: %v, want %s", c.jobType, c.payload, err, c.want)
			continue
		}
		if !core.IsPermanent(err) {
			t.Errorf("%s: a retry would not mend it: %v", c.payload, err)
		}
	}
	if entered {
		t.Error("a function was called without its payload")
	}
	var wrong *json.UnmarshalTypeError
	if _, err := work(t, set, core.Job{Type: "lenient", Payload: json.RawMessage(`7`)}); !errors.As(err, &wrong) {
		t.Errorf("the cause is lost: %v", err)
	}
}

func TestRawPayloads(t *testing.T) {
	set := handler.NewSet(handler.SetOptions{})
	text, got := `{"n": 1.0, "id": 3889108265204450030}`, ""
	handler.Register(set, "raw", func(_ context.Context, job *handler.Job[json.RawMessage]) error {
		got = string(job.Payload)
		return nil
	})
	if _, err := work(t, set, core.Job{Type: "raw", Payload: json.RawMessage(text)}); err != nil || got != text {
		t.Errorf("%s, %v", got, err)
	}
}

func TestResult(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		name   string
		result func(*handler.Job[order])
		err    error
		want   string
		fault  string
	}{
		{"none", func(*handler.Job[order]) {}, nil, "", ""},
		{"kept", func(job *handler.Job[order]) { job.SetResult(map[string]int{"sent": 3}) }, nil, `{"sent":3}`, ""},
		{"the last one", func(job *handler.Job[order]) { job.SetResult(make(chan int)); job.SetResult(2) }, nil, `2`, ""},
		{"as it was then", func(job *handler.Job[order]) { v := []int{1}; job.SetResult(v); v[0] = 2 }, nil, `[1]`, ""},
		{"no JSON can be made", func(job *handler.Job[order]) { job.SetResult(make(chan int)) }, nil, "", "result: json: unsupported type: chan int"},
		{"of an attempt that failed", func(job *handler.Job[order]) { job.SetResult(1) }, boom, "", "boom"},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := handler.NewSet(handler.SetOptions{})
			handler.Register(set, "order", func(_ context.Context, job *handler.Job[order]) error { c.result(job); return c.err })
			got, err := work(t, set, core.Job{Type: "order"})
			if string(got) != c.want || (err == nil) != (c.fault == "") || err != nil && err.Error() != c.fault {
				t.Errorf("%s, %v; want %s, %s", got, err, c.want, c.fault)
			}
			if err != nil && core.IsPermanent(err) != (c.err == nil) {
				t.Errorf("permanent: %t", core.IsPermanent(err))
			}
		})
	}
}

func TestFaultsOfRegistrationAreToldTogether(t *testing.T) {
	set := handler.NewSet(handler.SetOptions{})
	handler.Register(set, "order", nothing)
	handler.Register(set, "order", nothing)
	handler.Register(set, "no such type!", nothing)
	handler.Register[order](set, "nil.function", nil)
	handler.Register(set, "nil.inner", nothing, handler.With(nil))
	set.Handle("nil.handler", nil)
	set.Use(nil)
	handlers, err := set.Handlers()
	if err == nil || handlers != nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`type "order": registered twice`, `type "no such type!": type: must be`, `type "nil.function": the function is nil`,
		`type "nil.inner": middleware is nil`, `type "nil.handler": the handler is nil`, "middleware is nil",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

func TestMiddlewareOrder(t *testing.T) {
	var calls []string
	mark := func(name string) handler.Middleware {
		return func(next handler.Handler) handler.Handler {
			return handler.Func(func(ctx context.Context, job *core.Job) (json.RawMessage, error) {
				calls = append(calls, name)
				result, err := next.Work(ctx, job)
				calls = append(calls, "/"+name)
				return result, err
			})
		}
	}
	set := handler.NewSet(handler.SetOptions{})
	set.Use(mark("a"))
	handler.Register(set, "order", func(context.Context, *handler.Job[order]) error {
		calls = append(calls, "work")
		return nil
	}, handler.With(mark("c"), mark("d")))
	set.Handle("raw", handler.Func(func(context.Context, *core.Job) (json.RawMessage, error) {
		calls = append(calls, "raw")
		return json.RawMessage(`1`), nil
	}))
	set.Use(mark("b"))

	if _, err := work(t, set, core.Job{Type: "order"}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(calls, " "); got != "a b c d work /d /c /b /a" {
		t.Errorf("called %s", got)
	}
	calls = nil
	if result, err := work(t, set, core.Job{Type: "raw"}); err != nil || string(result) != `1` {
		t.Fatal(string(result), err)
	}
	if got := strings.Join(calls, " "); got != "a b raw /b /a" {
		t.Errorf("called %s", got)
	}
	calls = nil
	if _, err := work(t, set, core.Job{Type: "order", Payload: json.RawMessage(`[]`)}); !core.IsPermanent(err) {
		t.Fatal(err)
	}
	if got := strings.Join(calls, " "); got != "a b c d /d /c /b /a" {
		t.Errorf("called %s for a payload that does not decode", got)
	}
}

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestLoggerTellsTheAttemptAndNeverThePayload(t *testing.T) {
	var out bytes.Buffer
	set := handler.NewSet(handler.SetOptions{Logger: slog.New(slog.NewJSONHandler(&out, nil))})
	set.Use(func(next handler.Handler) handler.Handler {
		return handler.Func(func(ctx context.Context, job *core.Job) (json.RawMessage, error) {
			return next.Work(handler.WithLogger(ctx, slog.New(slog.NewJSONHandler(&out, nil)).With("shop", "west")), job)
		})
	})
	handler.Register(set, "order", func(ctx context.Context, _ *handler.Job[order]) error {
		handler.Logger(ctx).InfoContext(ctx, "hello", "n", 1)
		return nil
	})
	due := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	job := core.Job{
		ID: 7, Type: "order", Payload: json.RawMessage(`{"id": 4711}`), Priority: core.Bulk, Tenant: "acme", Attempts: 2,
		RunAt: due, StartedAt: due.Add(1500 * time.Millisecond), Trace: traceparent, DedupeKey: "secret-key",
	}
	if _, err := work(t, set, job); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	attrs, _ := got["job"].(map[string]any)
	for name, want := range map[string]any{"id": 7.0, "type": "order", "attempt": 2.0, "priority": "bulk", "tenant": "acme", "schedule_lag": 1.5e9} {
		if attrs[name] != want {
			t.Errorf("job.%s is %v, want %v", name, attrs[name], want)
		}
	}
	if got["trace_id"] != "4bf92f3577b34da6a3ce929d0e0e4736" || got["span_id"] != "00f067aa0ba902b7" || got["shop"] != "west" || got["n"] != 1.0 {
		t.Errorf("logged %s", out.String())
	}
	if text := out.String(); strings.Contains(text, "4711") || strings.Contains(text, "secret-key") {
		t.Errorf("the payload or the key is in the log: %s", text)
	}
}

func TestOutsideAHandler(t *testing.T) {
	ctx := t.Context()
	if handler.Logger(ctx) != slog.Default() {
		t.Error("another logger than the default one")
	}
	if handler.WithLogger(ctx, slog.New(slog.DiscardHandler)) != ctx {
		t.Error("another context")
	}
	if _, ok := handler.TraceOf(ctx); ok {
		t.Error("a trace")
	}
}

func TestParseTrace(t *testing.T) {
	trace, ok := handler.ParseTrace(traceparent)
	if !ok || trace.TraceID != "4bf92f3577b34da6a3ce929d0e0e4736" || trace.SpanID != "00f067aa0ba902b7" || !trace.Sampled() || trace.String() != traceparent {
		t.Errorf("%+v, %t", trace, ok)
	}
	if trace, ok := handler.ParseTrace(strings.TrimSuffix(traceparent, "1") + "2"); !ok || trace.Sampled() {
		t.Errorf("%+v, %t; want one that is not sampled", trace, ok)
	}
	for _, bad := range []string{
		"", "00", "01" + traceparent[2:], strings.ToUpper(traceparent), traceparent + "-x",
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
	} {
		if trace, ok := handler.ParseTrace(bad); ok {
			t.Errorf("%q is read as %+v", bad, trace)
		}
	}
	if (handler.Trace{}).Sampled() {
		t.Error("no trace is sampled")
	}
}
