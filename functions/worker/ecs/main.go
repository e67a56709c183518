// Command ecs is the worker in a container on AWS that runs all the time, on ECS, Fargate or elsewhere: it pulls from SQS,
// and extends what it holds for as long as jobs run. It has the tryout types and delivers webhooks; for handlers of your
// own copy it and put them in Handlers.
//
//	ecs            work
//	ecs health     ask the worker of this container for its health
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/boot/ecs"
	"github.com/belfry-dev/belfry/functions/worker"
)

const (
	mostVisibility = 12 * time.Hour   // that SQS hides a message in all
	mostGrace      = 14 * time.Second // stopping takes twice this and half a second, and ECS gives it thirty
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "belfry:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	if slices.Equal(args, []string{"health"}) {
		settings, err := boot.ReadSettings()
		if err != nil {
			return err
		}
		return boot.AskHealth(ctx, settings, os.Stdout)
	}
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q: want none, or health", args[0])
	}
	h, err := ecs.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	visibility, err := worker.Visibility(h.Settings, mostVisibility)
	if err != nil {
		return err
	}
	queue, err := h.OpenQueue(ctx, visibility)
	if err != nil {
		return err
	}
	h.Settings.StopGrace = min(h.Settings.StopGrace, mostGrace)
	return worker.Serve(ctx, worker.Options{
		Store: h.Store, Queue: queue, Handlers: worker.Tryout(), Settings: h.Settings, ID: h.Name, Log: h.Log,
		Deliver: h.Webhooks.Handler(), Types: h.Types,
	})
}
