package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-dev/belfry/adapters/aws"
	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/cmd/local/solo"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/internal/containers"
	"github.com/belfry-dev/belfry/internal/containers/engine"
)

// open starts both servers at once, and makes the tables and the queues.
func open(ctx context.Context, settings boot.Settings, errs io.Writer) (_ solo.Stack, err error) {
	if err := engine.Answers(ctx); err != nil {
		return solo.Stack{}, fmt.Errorf("%w; %s", err, engine.HowTo)
	}
	var database, queues *containers.Server
	closeAll := func() error {
		var errs []error
		for _, s := range []*containers.Server{queues, database} {
			if s != nil {
				errs = append(errs, s.Close())
			}
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll())
		}
	}()
	tell := teller(errs)
	starts, starting := errgroup.WithContext(ctx)
	starts.Go(func() (err error) { database, err = containers.Start(starting, "postgres", tell); return err })
	starts.Go(func() (err error) { queues, err = containers.Start(starting, "sqs", tell); return err })
	if err := starts.Wait(); err != nil {
		return solo.Stack{}, err
	}
	tell("making tables and queues")
	urls, err := makeQueues(ctx, queues.URL)
	if err != nil {
		return solo.Stack{}, err
	}
	queue, err := aws.OpenQueue(ctx, urls, aws.QueueOptions{Visibility: settings.Lease.Round(time.Second)})
	if err != nil {
		return solo.Stack{}, err
	}
	if err := postgres.Migrate(ctx, database.URL); err != nil {
		return solo.Stack{}, err
	}
	store, err := postgres.Open(ctx, database.URL, postgres.Options{PoolSize: settings.DatabasePool})
	if err != nil {
		return solo.Stack{}, err
	}
	return solo.Stack{
		Store: core.Store(store), Queue: queue, Close: closeAll,
		Keeps:  "PostgreSQL (" + database.Image + ", " + database.URL + ")",
		Queues: "over SQS (" + queues.Image + ", " + queues.URL + ")",
		End:    "The containers go, and the jobs with them.",
	}, nil
}

// teller prints lines with the time that has passed, from any goroutine.
func teller(errs io.Writer) func(string) {
	var mu sync.Mutex
	begun := time.Now()
	return func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(errs, "%5.1fs  %s\n", time.Since(begun).Seconds(), line)
	}
}
