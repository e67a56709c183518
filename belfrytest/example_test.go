package belfrytest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/belfrytest"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/handler"
)

// Email is the payload of the examples.
type Email struct {
	To string `json:"to"`
}

// mailHandlers are the handlers under test: the mail server refuses the first attempt.
func mailHandlers() *handler.Set {
	set := handler.NewSet(handler.SetOptions{})
	handler.Register(set, "email.send", func(_ context.Context, job *handler.Job[Email]) error {
		if job.Attempts == 1 {
			return errors.New("connection refused")
		}
		fmt.Println("sent to", job.Payload.To)
		return nil
	})
	return set
}

// slowHandlers returns a handler that works until its context ends.
func slowHandlers() *handler.Set {
	set := handler.NewSet(handler.SetOptions{})
	handler.Register(set, "export", func(ctx context.Context, _ *handler.Job[struct{}]) error {
		<-ctx.Done()
		fmt.Println("stopped:", context.Cause(ctx))
		return ctx.Err()
	})
	return set
}

func Example() {
	t := &exampleT{} // in a test: its *testing.T
	defer t.finish()

	e := belfrytest.New(t, mailHandlers())
	id := e.Submit("email.send", Email{To: "ada@example.com"})
	e.Drain()
	fmt.Println(e.Job(id).Status, "after", e.Errors(id)[0].Error)
	e.Advance(30 * time.Second)
	e.WaitFor(id, core.Done)
	// Output:
	// scheduled after connection refused
	// sent to ada@example.com
}

func ExampleNew() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, nil) // the code under test only submits
	e.Submit("email.send", Email{To: "ada@example.com"})
	fmt.Println(len(e.Submitted("email.send")))
	// Output: 1
}

func ExampleNewWith() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.NewWith(t, mailHandlers(), belfrytest.Options{Start: time.Date(2027, 12, 31, 23, 59, 0, 0, time.UTC)})
	e.Advance(time.Minute)
	fmt.Println(e.Now())
	// Output: 2028-01-01 00:00:00 +0000 UTC
}

func ExampleEngine_Now() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, mailHandlers())
	before := e.Now()
	e.Drain() // whatever it does takes no time
	fmt.Println(e.Now().Sub(before))
	// Output: 0s
}

func ExampleEngine_Submit() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, mailHandlers())
	id := e.Submit("email.send", Email{To: "ada@example.com"})
	fmt.Println(e.Job(id).Status)
	// Output: scheduled
}

func ExampleEngine_SubmitJob() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, mailHandlers())
	job := core.NewJob{Type: "email.send", Payload: e.JSON(Email{To: "ada@example.com"}), DedupeKey: "welcome-ada", Delay: time.Hour}
	first := e.SubmitJob(job)
	again := e.SubmitJob(job)
	fmt.Println(again.Existing != nil, again.ID == first.ID)
	// Output: true true
}

func ExampleEngine_JSON() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, nil)
	fmt.Println(string(e.JSON(Email{To: "ada@example.com"})))
	// Output: {"to":"ada@example.com"}
}

func ExampleEngine_Drain() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, mailHandlers())
	id := e.Submit("email.send", Email{To: "ada@example.com"})
	e.Drain()
	fmt.Println(e.Job(id).Status, "again in", e.Job(id).RunAt.Sub(e.Now()))
	// Output: scheduled again in 30s
}

func ExampleEngine_Advance() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, slowHandlers())
	id := e.SubmitJob(core.NewJob{Type: "export", Timeout: 10 * time.Minute}).ID
	e.WaitFor(id, core.Running)
	e.Advance(10 * time.Minute)
	fmt.Println(e.Errors(id)[0].Kind)
	// Output:
	// stopped: the attempt's timeout has passed
	// timeout
}

func ExampleEngine_Skip() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, slowHandlers())
	id := e.Submit("export", nil)
	e.WaitFor(id, core.Running)
	e.Skip(2 * time.Minute)
	e.Drain()
	fmt.Println(e.Errors(id)[0].Kind)
	// Output:
	// stopped: the lease is lost
	// lost
}

func ExampleEngine_WaitFor() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, mailHandlers())
	id := e.SubmitJob(core.NewJob{Type: "email.send", Payload: e.JSON(Email{To: "ada@example.com"}), MaxAttempts: 1}).ID
	job := e.WaitFor(id, core.Failed)
	fmt.Println(job.Attempts)
	e.WaitFor(id, core.Done)
	// Output:
	// 1
	// WaitFor: job 1 is not done:
	//   job 1 "email.send": failed, attempt 1 of 1, ended now
	//     payload {"to":"ada@example.com"}
	//     attempt 1 now: error: connection refused
}

func ExampleEngine_Cancel() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, slowHandlers())
	id := e.Submit("export", nil)
	e.WaitFor(id, core.Running)
	e.Cancel(id)
	fmt.Println(e.WaitFor(id, core.Cancelled).Status)
	// Output:
	// stopped: cancel is wanted
	// cancelled
}
