// Command driver stands in for what invokes functions on AWS, where the functions run under the Runtime Interface
// Emulator: it maps queues to the worker, invokes the tick each minute, and serves a Function URL of the API. It brings
// the schema up to date before it begins, as a deployment does.
//
//	function.go   a function, as a set of environments that serve one invocation each
//	mapping.go    an event source mapping: batches of a queue's messages, deleted but for those that failed
//	schedule.go   one invocation a minute, which overlaps the one before
//	front.go      a Function URL
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/sync/errgroup"

	"github.com/belfry-dev/belfry/adapters/postgres"
)

// options are where everything is. Each function is a host that resolves to all of its environments, and a port.
type options struct {
	listen, database, endpoint, region string
	api, tick, worker                  string
	concurrency                        int // of each mapping: how many batches of a queue are worked on at once
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := options{database: os.Getenv("BELFRY_DATABASE_URL")}
	flag.StringVar(&o.listen, "listen", ":8080", "address of the Function URL")
	flag.StringVar(&o.endpoint, "sqs", "http://localstack:4566", "endpoint of SQS")
	flag.StringVar(&o.region, "region", "eu-west-1", "region of the queues")
	flag.StringVar(&o.api, "api", "api:8080", "environments of the api function")
	flag.StringVar(&o.tick, "tick", "tick:8080", "environments of the tick function")
	flag.StringVar(&o.worker, "worker", "worker:8080", "environments of the worker function")
	flag.IntVar(&o.concurrency, "concurrency", 2, "batches of one queue that are worked on at once")
	flag.Parse()
	if err := o.check(); err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(2)
	}
	if err := run(ctx, o, slog.New(slog.NewTextHandler(os.Stderr, nil))); err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(1)
	}
}

// check refuses what would leave it waiting for nothing.
func (o options) check() error {
	if o.database == "" {
		return errors.New("BELFRY_DATABASE_URL is not set")
	}
	if o.concurrency < 1 {
		return fmt.Errorf("-concurrency is %d, want 1 or more", o.concurrency)
	}
	return nil
}

// run triggers the functions until ctx ends.
func run(ctx context.Context, o options, log *slog.Logger) error {
	if err := postgres.Migrate(ctx, o.database); err != nil {
		return err
	}
	client := sqs.New(sqs.Options{
		Region: o.region, BaseEndpoint: &o.endpoint, Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
	worker := newFunction("worker", o.worker)
	parts, ctx := errgroup.WithContext(ctx)
	for _, queue := range []string{"belfry-critical", "belfry-default", "belfry-bulk"} {
		m, err := newMapping(ctx, client, queue, worker, log)
		if err != nil {
			return err
		}
		for range o.concurrency {
			parts.Go(func() error { m.run(ctx); return nil })
		}
	}
	parts.Go(func() error { invokeEach(ctx, time.Minute, newFunction("tick", o.tick), o.region, log); return nil })
	parts.Go(func() error { return serve(ctx, o.listen, front{api: newFunction("api", o.api), log: log}, log) })
	if err := parts.Wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
