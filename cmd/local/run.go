package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"

	"github.com/belfry-dev/belfry/adapters/local"
	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/worker"
	"github.com/belfry-dev/belfry/internal/node"
)

// run opens what the options name, runs the roles until ctx ends, and closes it.
func run(ctx context.Context, args []string, out, errs io.Writer) (err error) {
	o, err := parse(args, errs)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	o.allowThisMachine()
	log := boot.NewLogger(o.settings, errs)
	boot.QuietStandardLog(log)
	parts := node.Parts{
		Settings: o.settings, Roles: o.roles, Handlers: worker.Tryout(), Version: boot.Version(),
		Log: log,
	}
	if o.roles.API {
		if parts.Listener, err = new(net.ListenConfig).Listen(ctx, "tcp", o.settings.Addr); err != nil {
			return fmt.Errorf("listen on %s: %w (another address: -addr 127.0.0.1:0)", o.settings.Addr, err)
		}
		defer parts.Listener.Close()
	}
	if parts.Queue, err = openQueue(o.settings); err != nil {
		return err
	}
	if parts.Store, err = openStore(ctx, o); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, parts.Store.Close()) }()
	parts.Ready = func() { greet(out, o, parts.Listener, needsToken(ctx, o, parts.Store)) }
	return node.Run(ctx, parts)
}

// openStore opens PostgreSQL when an URL is given, after bringing its schema up to date; else the SQLite file.
func openStore(ctx context.Context, o options) (core.Store, error) {
	if o.settings.DatabaseURL == "" {
		return sqlite.Open(ctx, o.data, sqlite.Options{})
	}
	if err := postgres.Migrate(ctx, o.settings.DatabaseURL); err != nil {
		return nil, err
	}
	return postgres.Open(ctx, o.settings.DatabaseURL, postgres.Options{PoolSize: o.settings.DatabasePool})
}

// openQueue returns nil in direct mode. The queues of this program live in its memory.
func openQueue(s boot.Settings) (core.Queue, error) {
	if !s.QueueMode() {
		return nil, nil
	}
	return local.Open(map[core.Priority]string{
		core.Critical: s.QueueCriticalURL, core.Default: s.QueueDefaultURL, core.Bulk: s.QueueBulkURL,
	})
}

// needsToken reports whether calls of the API need a token. Where that cannot be told it says no: the API will.
func needsToken(ctx context.Context, o options, store core.Store) bool {
	tokens, err := store.ListTokens(ctx, "", 1)
	return len(o.settings.Tokens) > 0 || err == nil && len(tokens) > 0
}

// greet prints where everything is and a command that works.
func greet(out io.Writer, o options, l net.Listener, token bool) {
	where := "SQLite file " + o.data
	if o.settings.DatabaseURL != "" {
		where = "PostgreSQL"
	}
	mode := "direct"
	if o.settings.QueueMode() {
		mode = "over queues"
	}
	fmt.Fprintf(out, "Belfry %s: %s, %s, jobs in %s\n", boot.Version(), o.roles, mode, where)
	if l == nil {
		return
	}
	url := "http://" + l.Addr().String()
	fmt.Fprintf(out, "  API          %s/v1\n  docs         %s/docs\n  OpenAPI      %s/openapi.json\n  metrics      %s/metrics\n", url, url, url, url)
	header := "" // the reader's own token to fill in: none is printed
	if token {
		header = ` -H "Authorization: Bearer $TOKEN"`
	}
	fmt.Fprintf(out, "\nSubmit a job:\n  curl -s %s/v1/jobs%s -H 'Content-Type: application/json' -d '{\"type\":\"echo\",\"payload\":{\"hello\":\"world\"}}'\n", url, header)
	fmt.Fprintf(out, "\nWait for its end:\n  curl -s%s '%s/v1/jobs/1?wait=30s'\n\nCtrl-C stops. What is unfinished goes on at the next start.\n", header, url)
}
