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

// Host is what a worker that pulls stands on, and what its platform allows.
type Host struct {
	Options       // without Queue
	OpenQueue     func(ctx context.Context, visibility time.Duration) (core.Queue, error)
	MaxVisibility time.Duration // that the queue hides a message
	MaxGrace      time.Duration // of stopping, which takes twice this and half a second
	Close         func() error
}

// Main is a worker that pulls, as a program: without arguments it works until SIGTERM or an interrupt, with "health" it
// asks the worker of this container for its health. What it cannot do it says, and exits with 1.
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
