package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/client"
)

func ExampleClient_Cancel() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	job, err := c.Submit(ctx, client.NewJob{Type: "later", Delay: time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	if job, err = c.Cancel(ctx, job.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.Status)

	_, err = c.Cancel(ctx, job.ID)
	var p *client.Problem
	if errors.As(err, &p) && errors.Is(err, client.ErrConflict) {
		fmt.Println(p.Reason)
	}
	// Output:
	// cancelled
	// the job is cancelled
}

func ExampleClient_Reschedule() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	job, err := c.Submit(ctx, client.NewJob{Type: "later", Delay: time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	at := time.Date(2090, 1, 2, 3, 4, 5, 0, time.UTC)
	if job, err = c.Reschedule(ctx, job.ID, at); err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.RunAt)
	// Output: 2090-01-02 03:04:05 +0000 UTC
}

func ExampleClient_RescheduleIn() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	job, err := c.Submit(ctx, client.NewJob{Type: "later", Delay: time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	sooner, err := c.RescheduleIn(ctx, job.ID, time.Minute)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sooner.RunAt.Before(job.RunAt))
	// Output: true
}

func ExampleClient_Ready() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	if err := c.Ready(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("jobs are accepted")
	// Output: jobs are accepted
}

func ExampleClient_Stats() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	stats, err := c.Stats(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, q := range stats.Queues {
		fmt.Println(q.Priority, q.Running)
	}
	// Output:
	// critical 0
	// default 0
	// bulk 0
}

func ExampleStats_Document() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	stats, err := c.Stats(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(stats.Document()[:8]))
	// Output: {"now":"
}

func ExampleJob_Document() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	job, err := c.Submit(ctx, client.NewJob{Type: "echo"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.HasPrefix(string(job.Document()), `{"id":"1","type":"echo"`))
	// Output: true
}

func ExampleNewJob_Document() {
	job := client.NewJob{Type: "echo", Payload: json.RawMessage(`{"n": 1e5}`), Delay: time.Minute}
	document, err := job.Document()
	fmt.Println(string(document), err)
	// Output: {"type":"echo","delay":"1m0s","payload":{"n": 1e5}} <nil>
}

func ExampleStatus_Ended() {
	fmt.Println(client.Queued.Ended(), client.Running.Ended(), client.Cancelled.Ended())
	// Output: false false true
}
