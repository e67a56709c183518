package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host/node"
	"github.com/belfry-dev/belfry/functions/worker"
	"github.com/belfry-dev/belfry/internal/queues"
)

// serve is a child process: one role, or several with commas, on the database and over the queues that the environment
// names. Its workers run the tryout types.
func serve(role string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	settings, err := boot.ReadSettings()
	if err != nil {
		return err
	}
	p := node.Parts{Settings: settings, Handlers: worker.Tryout(), Log: boot.NewLogger(settings, os.Stderr).With("role", role)}
	boot.QuietStandardLog(p.Log)
	if p.Roles, err = node.ParseRoles(role); err != nil {
		return err
	}
	p.Ready = func() { fmt.Println(readyLine) }
	if p.Roles.API {
		if p.Listener, err = new(net.ListenConfig).Listen(ctx, "tcp", settings.Addr); err != nil {
			return err
		}
		defer p.Listener.Close()
		p.Ready = func() { fmt.Printf("http://%s\n", p.Listener.Addr()) }
	}
	if p.Queue, err = settings.OpenQueues(func(urls map[core.Priority]string) (core.Queue, error) {
		return queues.Open(ctx, urls, settings.Lease)
	}); err != nil {
		return err
	}
	if p.Store, err = postgres.Open(ctx, settings.DatabaseURL, postgres.Options{PoolSize: settings.DatabasePool}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Store.Close()) }()
	return node.Run(ctx, p)
}
