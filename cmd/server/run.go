package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host/node"
	"github.com/belfry-dev/belfry/functions/worker"
)

// run does what the command line names; it serves until ctx ends.
func run(ctx context.Context, args []string, out, errs io.Writer) error {
	o, err := parse(args, errs)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return err
	case o.command == versionCommand:
		fmt.Fprintln(out, boot.Version())
		return nil
	case o.command == healthCommand:
		return boot.AskHealth(ctx, o.settings, out)
	}
	log := boot.NewLogger(o.settings, errs)
	boot.QuietStandardLog(log)
	boot.WarnOfMisspelt(log)
	if err := work(ctx, o, log); err != nil {
		log.Error("ended", "error", err)
		return told{err}
	}
	return nil
}

// told is an error that stands in the log.
type told struct{ error }

func (t told) Unwrap() error { return t.error }

// work migrates or serves.
func work(ctx context.Context, o options, log *slog.Logger) error {
	start := patient{log: log, until: time.Now().Add(o.settings.StartWait)}
	if o.command == migrateCommand {
		if err := start.migrate(ctx, o.settings.DatabaseURL); err != nil {
			return err
		}
		log.Info("schema is up to date")
		return nil
	}
	parts := &node.Parts{Settings: o.settings, Roles: o.roles, Handlers: worker.Tryout(), Version: boot.Version(), Log: log}
	parts.Ready = func() { ready(parts, o) }
	return serve(ctx, o, start, parts)
}

// serve opens what the roles stand on, runs them until ctx ends, and closes it.
func serve(ctx context.Context, o options, start patient, parts *node.Parts) (err error) {
	if parts.Queue, err = openQueue(ctx, o.settings); err != nil {
		return err
	}
	parts.Shared = !inMemory(o.settings)
	if o.roles.API {
		if parts.Listener, err = boot.Listen(ctx, o.settings.Addr); err != nil {
			return fmt.Errorf("BELFRY_ADDR: %w", err)
		}
		defer parts.Listener.Close()
	}
	if parts.Health, err = boot.ListenHealth(ctx, o.settings); err != nil {
		return err
	}
	defer parts.Health.Close()
	if o.migrate {
		if err := start.migrate(ctx, o.settings.DatabaseURL); err != nil {
			return err
		}
	}
	store, err := start.openStore(ctx, o.settings.DatabaseURL, o.settings.DatabasePool)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	parts.Store = store
	if parts.Queue != nil && (o.roles.Tick || o.roles.Worker) {
		if err := start.tryQueue(ctx, parts.Queue); err != nil {
			return err
		}
	}
	return node.Run(ctx, *parts)
}

// ready says in the log where everything is.
func ready(parts *node.Parts, o options) {
	args := []any{"version", parts.Version, "roles", o.roles.String(), "mode", "direct", "health", parts.Health.Addr().String()}
	if parts.Queue != nil {
		args[5] = "over queues"
	}
	if parts.Listener != nil {
		args = append(args, "api", parts.Listener.Addr().String())
	}
	parts.Log.Info("running", args...)
}
