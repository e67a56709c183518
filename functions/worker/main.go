package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
)

// Host configures a worker that pulls, and the limits of its platform.
type Host struct {
	Options       // without Queue
	OpenQueue     func(ctx context.Context, visibility time.Duration) (core.Queue, error)
	MaxVisibility time.Duration // how long the queue can hide a message
	MaxGrace      time.Duration // maximum stop grace; a stop takes twice this and half a second
	Close         func() error
}

// Main is a worker that pulls, as a program: without arguments it works until SIGTERM or an interrupt, with "health" it
// asks the worker of this container for its health. On an error it prints the error and exits with 1.
func Main(open func(context.Context) (*Host, error)) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := runHost(ctx, os.Args[1:], open); err != nil {
		fmt.Fprintln(os.Stderr, "belfry:", err)
		os.Exit(1)
	}
}

func runHost(ctx context.Context, args []string, open func(context.Context) (*Host, error)) (err error) {
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
	h, err := open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	visibility, err := Visibility(h.Settings, h.MaxVisibility)
	if err != nil {
		return err
	}
	if h.Queue, err = h.OpenQueue(ctx, visibility); err != nil {
		return err
	}
	h.Settings.StopGrace = min(h.Settings.StopGrace, h.MaxGrace)
	return Serve(ctx, h.Options)
}
