package client_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/belfry-dev/belfry/client"
)

// failed submits a job that fails for good.
func failed(ctx context.Context, c *client.Client) *client.Job {
	job, err := c.Submit(ctx, client.NewJob{Type: "fail", Payload: map[string]bool{"permanent": true}})
	if err == nil {
		job, err = c.Wait(ctx, job.ID)
	}
	if err != nil {
		log.Fatal(err)
	}
	return job
}

func ExampleClient_DeadLetters() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	failed(ctx, c)
	failed(ctx, c)
	for job, err := range c.DeadLetters(ctx, client.DeadFilter{Type: "fail"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(job.ID, job.Errors[0].Error)
	}
	// Output:
	// 2 failed as asked
	// 1 failed as asked
}

func ExampleClient_DeadGroups() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	failed(ctx, c)
	failed(ctx, c)
	groups, err := c.DeadGroups(ctx, client.DeadFilter{}, 10)
	if err != nil {
		log.Fatal(err)
	}
	for _, g := range groups.Items {
		fmt.Println(g.Count, g.Type, g.Error)
	}
	// Output: 2 fail failed as asked
}

func ExampleClient_CountDead() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	failed(ctx, c)
	failed(ctx, c)
	n, capped, err := c.CountDead(ctx, client.DeadFilter{Type: "fail"}, "")
	fmt.Println(n, capped, err)
	// Output: 2 false <nil>
}

func ExampleClient_Retry() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	job := failed(ctx, c)
	job, err := c.Retry(ctx, job.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.Status.Ended(), job.Attempts)
	// Output: false 0
}

func ExampleClient_Redrive() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	failed(ctx, c)
	failed(ctx, c)
	r, err := c.Redrive(ctx, client.DeadFilter{Type: "fail"}, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Redriven, r.After)
	// Output: 1 1
}

func ExampleClient_RedriveAll() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	failed(ctx, c)
	failed(ctx, c)
	r, err := c.RedriveAll(ctx, client.DeadFilter{All: true}, client.RedriveOptions{
		Rate: 10, From: time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC), // a tenth of a second apart
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Redriven, r.NextRunAt)
	// Output: 2 2090-01-01 00:00:00.2 +0000 UTC
}

func ExampleClient_Discard() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	job := failed(ctx, c)
	gone, err := c.Discard(ctx, client.DeadFilter{IDs: []string{job.ID}}, 0)
	fmt.Println(gone, err)
	// Output: 1 <nil>
}

func ExampleClient_DiscardAll() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	failed(ctx, c)
	failed(ctx, c)
	gone, err := c.DiscardAll(ctx, client.DeadFilter{All: true}, client.DiscardOptions{})
	fmt.Println(gone.Discarded, gone.Left, err)
	// Output: 2 [] <nil>
}
