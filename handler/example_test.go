package handler_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/handler"
)

// Email is the payload of the examples.
type Email struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
}

// run runs one job as a worker does, and prints how it ended.
func run(set *handler.Set, job core.Job) {
	handlers, err := set.Handlers()
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := handlers[job.Type].Work(context.Background(), &job)
	switch {
	case core.IsPermanent(err):
		fmt.Println("failed for good:", err)
	case err != nil:
		fmt.Println("to be run again:", err)
	case result == nil:
		fmt.Println("done")
	default:
		fmt.Println("done", string(result))
	}
}

func Example() {
	set := handler.NewSet(handler.SetOptions{})
	handler.Register(set, "email.send", func(ctx context.Context, job *handler.Job[Email]) error {
		if job.Payload.To == "" {
			return handler.Permanent(errors.New("no recipient"))
		}
		fmt.Println("sending to", job.Payload.To)
		job.SetResult(map[string]bool{"sent": true})
		return nil
	})

	run(set, core.Job{Type: "email.send", Payload: json.RawMessage(`{"to": "ada@example.com"}`)})
	run(set, core.Job{Type: "email.send", Payload: json.RawMessage(`{}`)})
	// Output:
	// sending to ada@example.com
	// done {"sent":true}
	// failed for good: no recipient
}

func ExampleNewSet() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, nil))
	set := handler.NewSet(handler.SetOptions{Logger: logger}) // the zero SetOptions logs to slog.Default
	handlers, err := set.Handlers()
	fmt.Println(len(handlers), err)
	// Output: 0 <nil>
}

func ExampleRegister() {
	set := handler.NewSet(handler.SetOptions{})
	handler.Register(set, "email.send", func(ctx context.Context, job *handler.Job[Email]) error {
		fmt.Printf("job %d of %q: to %s, attempt %d\n", job.ID, job.Tenant, job.Payload.To, job.Attempts)
		return nil
	})
	row := core.Job{ID: 12, Type: "email.send", Tenant: "acme", Attempts: 1}
	row.Payload = json.RawMessage(`{"to": "ada@example.com"}`)
	run(set, row)
	row.Payload = json.RawMessage(`{"to": 7}`)
	run(set, row)
	// Output:
	// job 12 of "acme": to ada@example.com, attempt 1
	// done
	// failed for good: payload: to: must be a string, not a number
}

func ExampleStrict() {
	set := handler.NewSet(handler.SetOptions{})
	handler.Register(set, "email.send", func(context.Context, *handler.Job[Email]) error {
		return nil
	}, handler.Strict())
	run(set, core.Job{Type: "email.send", Payload: json.RawMessage(`{"too": "ada@example.com"}`)})
	// Output: failed for good: payload: the field "too" is unknown
}

func ExampleSet_Handlers() {
	set := handler.NewSet(handler.SetOptions{})
	send := func(context.Context, *handler.Job[Email]) error { return nil }
	handler.Register(set, "email.send", send)
	handler.Register(set, "email.send", send)
	_, err := set.Handlers()
	fmt.Println(err)
	// Output: handlers: type "email.send": registered twice
}

func ExampleSet_Handle() {
	set := handler.NewSet(handler.SetOptions{})
	set.Handle("echo", handler.Func(func(_ context.Context, job *core.Job) (json.RawMessage, error) {
		return job.Payload, nil
	}))
	run(set, core.Job{Type: "echo", Payload: json.RawMessage(`{"hello": "world"}`)})
	// Output: done {"hello": "world"}
}

func ExamplePermanent() {
	set := handler.NewSet(handler.SetOptions{})
	handler.Register(set, "email.send", func(context.Context, *handler.Job[Email]) error {
		return handler.Permanent(errors.New("550 no such mailbox"))
	})
	run(set, core.Job{Type: "email.send"})
	// Output: failed for good: 550 no such mailbox
}

func ExampleRetryAfter() {
	set := handler.NewSet(handler.SetOptions{})
	handler.Register(set, "email.send", func(context.Context, *handler.Job[Email]) error {
		return handler.RetryAfter(errors.New("421 too many messages"), 10*time.Minute)
	})
	run(set, core.Job{Type: "email.send"})
	// Output: to be run again: 421 too many messages
}

func ExampleSnooze() {
	set := handler.NewSet(handler.SetOptions{})
	handler.Register(set, "report.build", func(context.Context, *handler.Job[struct{}]) error {
		return handler.Snooze(time.Hour) // the data is not there yet, and that is no error
	})
	run(set, core.Job{Type: "report.build"})
	// Output: to be run again: snoozed for 1h0m0s
}

func ExampleJob_SetResult() {
	set := handler.NewSet(handler.SetOptions{})
	handler.Register(set, "sum", func(_ context.Context, job *handler.Job[[]int]) error {
		sum := 0
		for _, n := range job.Payload {
			sum += n
		}
		job.SetResult(map[string]int{"sum": sum})
		return nil
	})
	run(set, core.Job{Type: "sum", Payload: json.RawMessage(`[1, 2, 3]`)})
	// Output: done {"sum":6}
}

func ExampleJob_LastAttempt() {
	set := handler.NewSet(handler.SetOptions{})
	handler.Register(set, "email.send", func(_ context.Context, job *handler.Job[Email]) error {
		if job.LastAttempt() {
			fmt.Println("giving up: tell somebody")
		}
		return errors.New("connection refused")
	})
	run(set, core.Job{Type: "email.send", Attempts: 4, MaxAttempts: 5})
	run(set, core.Job{Type: "email.send", Attempts: 5, MaxAttempts: 5})
	// Output:
	// to be run again: connection refused
	// giving up: tell somebody
	// to be run again: connection refused
}
