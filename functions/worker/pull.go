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
	"github.com/belfry-dev/belfry/functions/host"
)

// Pull configures a worker that pulls, and the limits of its platform.
type Pull struct {
	Platform      func() host.Platform
	Handlers      core.Handlers
	MaxVisibility time.Duration // how long the queue can hide a message
	MaxGrace      time.Duration // maximum stop grace; a stop takes twice this and half a second
}

// Main is a worker that pulls, as a program: without arguments it works until SIGTERM or an interrupt, with "health" it
// asks the worker of this container for its health. On an error it prints the error and exits with 1.
func Main(p Pull) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := p.run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "belfry:", err)
		os.Exit(1)
	}
}

func (p Pull) run(ctx context.Context, args []string) (err error) {
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
	h, err := host.Open(ctx, p.Platform())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	visibility, err := Visibility(h.Settings, p.MaxVisibility)
	if err != nil {
		return err
	}
	o := For(h, p.Handlers)
	if o.Queue, err = h.OpenQueue(ctx, visibility); err != nil {
		return err
	}
	o.Settings.StopGrace = min(o.Settings.StopGrace, p.MaxGrace)
	return serve(ctx, h, o)
}

// serve runs a worker that pulls, until ctx ends and its jobs are finished or handed back. A lost store does not make it
// unhealthy: another container would not find it sooner, and this one may be running jobs.
func serve(ctx context.Context, h *host.Host, o Options) error {
	var queues *host.QueueHealth
	if o.Queue != nil {
		o.Queue, queues = host.WatchQueue(o.Queue)
	}
	listener, err := boot.ListenHealth(ctx, o.Settings)
	if err != nil {
		return err
	}
	f, err := New(o)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	answer := func(context.Context) (any, bool) {
		if err := queues.Receiving(); err != nil {
			return map[string]string{"status": "failing", "reason": err.Error()}, false
		}
		return map[string]string{"status": "ok"}, true
	}
	o.Log.Info("running", "worker", o.ID, "version", boot.Version(), "queues", o.Queue != nil, "health", listener.Addr().String())
	return h.Run(ctx, host.Health{Listener: listener, Answer: answer}, f.Run)
}

// Visibility is how long a pulled message is hidden from other workers unless it is extended: as long as the row's
// lease, in whole seconds. It refuses a lease that is longer than the queue can hide a message.
func Visibility(s boot.Settings, longest time.Duration) (time.Duration, error) {
	v := (s.Lease + time.Second - 1).Truncate(time.Second)
	if v > longest {
		return 0, fmt.Errorf("BELFRY_LEASE: is %s, want at most %s: the queue hides a message no longer", s.Lease, longest)
	}
	return v, nil
}
