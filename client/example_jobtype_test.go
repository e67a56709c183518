package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/belfry-dev/belfry/client"
)

// define defines a type.
func define(ctx context.Context, c *client.Client, name string) *client.JobType {
	of, _, err := c.PutType(ctx, client.JobType{Type: name, MaxAttempts: 8})
	if err != nil {
		log.Fatal(err)
	}
	return of
}

func ExampleClient_PutType() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	of, made, err := c.PutType(ctx, client.JobType{Type: "invoice.send", Timeout: 90 * time.Second, Backoff: []time.Duration{10 * time.Second, time.Minute}})
	if err != nil {
		log.Fatal(err)
	}
	job, err := c.Submit(ctx, client.NewJob{Type: "invoice.send", Delay: time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(made, of.Timeout, job.Timeout, job.Backoff)
	// Output: true 1m30s 1m30s [10s 1m0s]
}

func ExampleClient_GetType() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	define(ctx, c, "invoice.send")
	of, err := c.GetType(ctx, "invoice.send")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(of.MaxAttempts)
	// Output: 8
}

func ExampleClient_ListTypes() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	define(ctx, c, "invoice.send")
	define(ctx, c, "export")
	for of, err := range c.ListTypes(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(of.Type)
	}
	// Output:
	// export
	// invoice.send
}

func ExampleClient_DeleteType() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	define(ctx, c, "invoice.send")
	fmt.Println(c.DeleteType(ctx, "invoice.send"))
	fmt.Println(errors.Is(c.DeleteType(ctx, "invoice.send"), client.ErrNotFound))
	// Output:
	// <nil>
	// true
}

func ExampleJobType_Document() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	of := define(ctx, c, "invoice.send")
	fmt.Println(string(of.Document()[:24]))
	// Output: {"type":"invoice.send","
}

// accepted returns a delivery that was answered with 202, as a receiver has it.
func accepted(ctx context.Context) (c *client.Client, d delivered, stop func()) {
	settings := map[string]string{"BELFRY_WEBHOOK_SECRETS": webhookSecret, "BELFRY_WEBHOOK_ALLOW": "127.0.0.1"}
	for name, value := range settings {
		if err := os.Setenv(name, value); err != nil {
			log.Fatal(err)
		}
	}
	c, end := example()
	for name := range settings {
		if err := os.Unsetenv(name); err != nil {
			log.Fatal(err)
		}
	}
	server, deliveries := receiver()
	if _, err := c.Submit(ctx, client.NewJob{Type: "export", Target: &client.Target{URL: server.URL}}); err != nil {
		log.Fatal(err)
	}
	return c, <-deliveries, func() { server.Close(); end() }
}

func ExampleClient_Heartbeat() {
	ctx := context.Background()
	c, delivery, stop := accepted(ctx) // its headers belfry-job-id and belfry-lease-token
	defer stop()

	lease, err := c.Heartbeat(ctx, delivery.id, delivery.token)
	if err != nil {
		log.Fatal(err)
	}
	if lease.CancelWanted {
		fmt.Println("stop, and call Fail")
	}
	fmt.Println(time.Until(lease.LeaseUntil) > 0)
	// Output: true
}

func ExampleClient_Complete() {
	ctx := context.Background()
	c, delivery, stop := accepted(ctx) // its headers belfry-job-id and belfry-lease-token
	defer stop()

	status, err := c.Complete(ctx, delivery.id, delivery.token, map[string]int{"rows": 17})
	fmt.Println(status, err)
	// Output: done <nil>
}

func ExampleClient_Fail() {
	ctx := context.Background()
	c, delivery, stop := accepted(ctx) // its headers belfry-job-id and belfry-lease-token
	defer stop()

	status, err := c.Fail(ctx, delivery.id, delivery.token, client.Failure{Error: "the disk is full", RetryAfter: time.Hour})
	fmt.Println(status, err)
	// Output: scheduled <nil>
}
