package belfrytest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/belfrytest"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/submit"
)

func ExampleEngine_Job() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, mailHandlers())
	id := e.SubmitJob(core.NewJob{Type: "email.send", Tenant: "acme"}).ID
	job := e.Job(id)
	fmt.Println(job.Tenant, job.Status, job.MaxAttempts)
	// Output: acme scheduled 5
}

func ExampleEngine_Errors() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, mailHandlers())
	id := e.Submit("email.send", Email{To: "ada@example.com"})
	e.Drain()
	for _, failed := range e.Errors(id) {
		fmt.Println(failed.Attempt, failed.Kind, failed.Error)
	}
	// Output: 1 error connection refused
}

func ExampleEngine_Retry() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, mailHandlers())
	id := e.SubmitJob(core.NewJob{Type: "email.send", MaxAttempts: 1}).ID
	e.WaitFor(id, core.Failed)
	job := e.Retry(id)
	fmt.Println(job.Status, job.Attempts)
	// Output: scheduled 0
}

func ExampleEngine_Reschedule() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, mailHandlers())
	id := e.Submit("email.send", Email{To: "ada@example.com"})
	e.Reschedule(id, e.Now().Add(time.Hour))
	e.Drain()
	fmt.Println(e.Job(id).Attempts)
	// Output: 0
}

func ExampleEngine_Submitter() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, nil)
	welcome := func(ctx context.Context, jobs *submit.Submitter) error { // the code under test
		_, err := jobs.Submit(ctx, core.NewJob{Type: "email.send", Payload: []byte(`{"to": "ada@example.com"}`)})
		return err
	}
	fmt.Println(welcome(context.Background(), e.Submitter()))
	e.RequireSubmitted("email.send", belfrytest.Payload(Email{To: "ada@example.com"}))
	// Output: <nil>
}

func ExampleEngine_Store() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, mailHandlers())
	id := e.SubmitJob(core.NewJob{Type: "email.send", MaxAttempts: 1}).ID
	e.WaitFor(id, core.Failed)
	count, err := e.Store().CountDead(context.Background(), core.DeadQuery{Type: "email.send"})
	fmt.Println(count, err)
	// Output: 1 <nil>
}

func ExampleEngine_Submitted() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, nil)
	e.Submit("email.send", Email{To: "ada@example.com"})
	e.Submit("email.send", Email{To: "bob@example.com"})
	for _, job := range e.Submitted("email.send") {
		fmt.Println(string(job.Payload))
	}
	// Output:
	// {"to":"ada@example.com"}
	// {"to":"bob@example.com"}
}

func ExampleEngine_RequireSubmitted() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, mailHandlers())
	e.SubmitJob(core.NewJob{Type: "email.send", Payload: e.JSON(Email{To: "bob@example.com"}), Delay: time.Hour})
	e.RequireSubmitted("email.send", belfrytest.DueIn(time.Hour))
	e.RequireSubmitted("email.send", belfrytest.DueIn(time.Hour), belfrytest.Payload(Email{To: "ada@example.com"}))
	// Output:
	// no job of type "email.send" with a delay of 1h0m0s, payload {"to":"ada@example.com"} was submitted
	// submitted of that type:
	//   job 1 "email.send": scheduled, attempt 0 of 5, due in 1h0m0s
	//     payload {"to":"bob@example.com"}
	//     not with payload {"to":"ada@example.com"}
}

func ExampleEngine_RequireNotSubmitted() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, nil)
	e.RequireNotSubmitted("email.send")
	e.Submit("email.send", Email{To: "ada@example.com"})
	e.RequireNotSubmitted("email.send", belfrytest.Tenant("acme"))
	fmt.Println("neither ended the test")
	// Output: neither ended the test
}
