package belfrytest_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/belfrytest"
	"github.com/belfry-dev/belfry/core"
)

// welcome returns an engine with one job that sets everything the matches check.
func welcome(t *exampleT) *belfrytest.Engine {
	e := belfrytest.New(t, nil)
	e.SubmitJob(core.NewJob{
		Type: "email.send", Payload: e.JSON(Email{To: "ada@example.com"}), Tenant: "acme", Priority: core.Bulk,
		Tags: []string{"welcome"}, DedupeKey: "welcome-ada", Delay: time.Hour,
	})
	return e
}

func ExamplePayload() {
	t := &exampleT{}
	defer t.finish()

	e := welcome(t)
	e.RequireSubmitted("email.send", belfrytest.Payload(Email{To: "ada@example.com"}))
	e.RequireNotSubmitted("email.send", belfrytest.Payload(Email{To: "bob@example.com"}))
	fmt.Println("both hold")
	// Output: both hold
}

func ExamplePayloadWhere() {
	t := &exampleT{}
	defer t.finish()

	e := welcome(t)
	e.RequireSubmitted("email.send", belfrytest.PayloadWhere("to example.com", func(m Email) bool { return strings.HasSuffix(m.To, "@example.com") }))
	e.RequireNotSubmitted("email.send", belfrytest.PayloadWhere("to nobody", func(m Email) bool { return m.To == "" }))
	fmt.Println("both hold")
	// Output: both hold
}

func ExampleTenant() {
	t := &exampleT{}
	defer t.finish()

	e := welcome(t)
	e.RequireSubmitted("email.send", belfrytest.Tenant("acme"))
	e.RequireNotSubmitted("email.send", belfrytest.Tenant(""))
	fmt.Println("both hold")
	// Output: both hold
}

func ExamplePriority() {
	t := &exampleT{}
	defer t.finish()

	e := welcome(t)
	e.RequireSubmitted("email.send", belfrytest.Priority(core.Bulk))
	e.RequireNotSubmitted("email.send", belfrytest.Priority(core.Critical))
	fmt.Println("both hold")
	// Output: both hold
}

func ExampleTag() {
	t := &exampleT{}
	defer t.finish()

	e := welcome(t)
	e.RequireSubmitted("email.send", belfrytest.Tag("welcome"))
	e.RequireNotSubmitted("email.send", belfrytest.Tag("goodbye"))
	fmt.Println("both hold")
	// Output: both hold
}

func ExampleDedupeKey() {
	t := &exampleT{}
	defer t.finish()

	e := welcome(t)
	e.RequireSubmitted("email.send", belfrytest.DedupeKey("welcome-ada"))
	e.RequireNotSubmitted("email.send", belfrytest.DedupeKey("welcome-bob"))
	fmt.Println("both hold")
	// Output: both hold
}

func ExampleDueIn() {
	t := &exampleT{}
	defer t.finish()

	e := welcome(t)
	e.RequireSubmitted("email.send", belfrytest.DueIn(time.Hour))
	e.RequireNotSubmitted("email.send", belfrytest.DueIn(0))
	fmt.Println("both hold")
	// Output: both hold
}

func ExampleDueAt() {
	t := &exampleT{}
	defer t.finish()

	e := welcome(t)
	e.RequireSubmitted("email.send", belfrytest.DueAt(e.Now().Add(time.Hour)))
	e.RequireNotSubmitted("email.send", belfrytest.DueAt(e.Now()))
	fmt.Println("both hold")
	// Output: both hold
}

func ExampleStatus() {
	t := &exampleT{}
	defer t.finish()

	e := welcome(t)
	e.RequireSubmitted("email.send", belfrytest.Status(core.Scheduled))
	e.RequireNotSubmitted("email.send", belfrytest.Status(core.Done))
	fmt.Println("both hold")
	// Output: both hold
}

func ExampleWhere() {
	t := &exampleT{}
	defer t.finish()

	e := welcome(t)
	e.RequireSubmitted("email.send", belfrytest.Where("no expiry", func(job core.Job) bool { return job.ExpiresAt.IsZero() }))
	e.RequireNotSubmitted("email.send", belfrytest.Where("an expiry", func(job core.Job) bool { return !job.ExpiresAt.IsZero() }))
	fmt.Println("both hold")
	// Output: both hold
}

// Each match has a text that says what it checks.
func Example_match() {
	t := &exampleT{}
	defer t.finish()

	e := belfrytest.New(t, nil)
	e.SubmitJob(core.NewJob{
		Type: "email.send", Payload: e.JSON(Email{To: "ada@example.com"}), Tenant: "acme", Priority: core.Bulk,
		Tags: []string{"welcome"}, DedupeKey: "welcome-ada", Delay: time.Hour,
	})
	e.RequireSubmitted("email.send",
		belfrytest.Payload(Email{To: "ada@example.com"}),
		belfrytest.PayloadWhere("to example.com", func(m Email) bool { return strings.HasSuffix(m.To, "@example.com") }),
		belfrytest.Tenant("acme"),
		belfrytest.Priority(core.Bulk),
		belfrytest.Tag("welcome"),
		belfrytest.DedupeKey("welcome-ada"),
		belfrytest.DueIn(time.Hour),
		belfrytest.DueAt(e.Now().Add(time.Hour)),
		belfrytest.Status(core.Scheduled),
		belfrytest.Where("no expiry", func(job core.Job) bool { return job.ExpiresAt.IsZero() }),
	)
	fmt.Println("all hold")
	// Output: all hold
}
