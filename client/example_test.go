package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// example is a client of a server of its own.
func example() (c *client.Client, stop func()) {
	dir, err := os.MkdirTemp("", "belfry")
	if err != nil {
		log.Fatal(err)
	}
	store, err := sqlite.Open(context.Background(), filepath.Join(dir, "belfry.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	address, end, err := nodetest.Run("all", store)
	if err != nil {
		log.Fatal(err)
	}
	if c, err = client.New(address, client.Options{}); err != nil {
		log.Fatal(err)
	}
	return c, func() {
		if err := errors.Join(end(), os.RemoveAll(dir)); err != nil {
			log.Fatal(err)
		}
	}
}

func ExampleNew() {
	c, err := client.New("https://belfry.example", client.Options{
		Token: os.Getenv("BELFRY_TOKEN"),
		Retry: client.Retry{Tries: 8, MaxWait: time.Minute},
	})
	fmt.Println(c != nil, err)
	// Output: true <nil>
}

func ExampleClient_Submit() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	order := map[string]any{"order": 42}
	job, err := c.Submit(ctx, client.NewJob{Type: "order.confirm", Payload: order, Delay: time.Hour, DedupeKey: "order-42"})
	if err != nil {
		log.Fatal(err)
	}
	again, err := c.Submit(ctx, client.NewJob{Type: "order.confirm", Payload: order, DedupeKey: "order-42"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.Status, again.Duplicate, again.ID == job.ID)
	// Output: scheduled true true
}

func ExampleClient_SubmitBatch() {
	c, stop := example()
	defer stop()

	items, err := c.SubmitBatch(context.Background(), []client.NewJob{
		{Type: "echo", Payload: 1},
		{Type: "not a type"},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range items {
		fmt.Println(item.Job != nil, errors.Is(item.Err, client.ErrInvalid))
	}
	// Output:
	// true false
	// false true
}

func ExampleClient_SubmitDocuments() {
	c, stop := example()
	defer stop()

	items, err := c.SubmitDocuments(context.Background(), []json.RawMessage{[]byte(`{"type": "echo", "payload": 1e5}`)}, "import-2031-01-02")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(items[0].Job.Payload))
	// Output: 1e5
}

func ExampleClient_Wait() {
	c, stop := example()
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	job, err := c.Submit(ctx, client.NewJob{Type: "echo", Payload: "hello"})
	if err != nil {
		log.Fatal(err)
	}
	if job, err = c.Wait(ctx, job.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.Status, string(job.Result))
	// Output: done "hello"
}

func ExampleClient_Get() {
	c, stop := example()
	defer stop()

	_, err := c.Get(context.Background(), "42")
	fmt.Println(errors.Is(err, client.ErrNotFound))
	// Output: true
}

func ExampleClient_List() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	for n := range 3 {
		if _, err := c.Submit(ctx, client.NewJob{Type: "later", Payload: n, Delay: time.Hour}); err != nil {
			log.Fatal(err)
		}
	}
	for job, err := range c.List(ctx, client.Filter{Type: "later", Statuses: []client.Status{client.Scheduled}}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(job.Payload))
	}
	// Output:
	// 2
	// 1
	// 0
}

func ExampleBaseAddress() {
	for _, copied := range []string{"http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/", "https://belfry.example/jobs/docs", "https://gateway.example/v1/v1"} {
		fmt.Println(client.BaseAddress(copied))
	}
	// Output:
	// http://127.0.0.1:8080
	// http://127.0.0.1:8080
	// https://belfry.example/jobs
	// https://gateway.example/v1
}
