package main

import (
	"context"
	"errors"
	"flag"
	"io"

	"github.com/belfry-dev/belfry/adapters/local"
	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/cmd/local/solo"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
)

// run opens what the options name, runs the roles until ctx ends, and closes it.
func run(ctx context.Context, args []string, out, errs io.Writer) error {
	o, err := parse(args, errs)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if o.stack == containers {
		return runContainers(ctx, o.passed, out, errs)
	}
	boot.WarnOfMisspelt(boot.NewLogger(o.Settings, errs))
	return solo.Run(ctx, o.Options, out, errs, func(ctx context.Context) (solo.Stack, error) { return open(ctx, o, errs) })
}

// open opens the queues and the store that the options name.
func open(ctx context.Context, o options, errs io.Writer) (s solo.Stack, err error) {
	s = solo.Stack{Keeps: "SQLite file " + o.data, Queues: "direct", End: "What is unfinished goes on at the next start."}
	if o.Settings.DatabaseURL != "" {
		s.Keeps = "PostgreSQL"
	}
	if s.Queue, err = openQueue(o.Settings); err != nil {
		return s, err
	}
	if s.Queue != nil {
		s.Queues = "over queues"
	}
	s.Store, err = openStore(ctx, o, errs)
	return s, err
}

// openStore opens PostgreSQL when an URL is given, after bringing its schema up to date; else the SQLite file.
func openStore(ctx context.Context, o options, errs io.Writer) (core.Store, error) {
	if o.Settings.DatabaseURL == "" {
		return sqlite.Open(ctx, o.data, sqlite.Options{})
	}
	log := boot.NewLogger(o.Settings, errs)
	warn := boot.DatabaseWarnings(log)
	if err := (postgres.Migrator{Waiting: warn, Applied: boot.MigrationsApplied(log)}).Up(ctx, o.Settings.DatabaseURL); err != nil {
		return nil, err
	}
	return postgres.Open(ctx, o.Settings.DatabaseURL, postgres.Options{PoolSize: o.Settings.DatabasePool, Warn: warn})
}

// openQueue returns nil in direct mode. The queues of this program live in its memory.
func openQueue(s boot.Settings) (core.Queue, error) {
	return s.OpenQueues(func(urls map[core.Priority]string) (core.Queue, error) { return local.Open(urls) })
}
