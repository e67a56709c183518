package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/internal/node"
)

// options are what the command line says, over what the environment says.
type options struct {
	settings boot.Settings
	roles    node.Roles
	data     string
}

// allowThisMachine lets webhooks reach receivers on this machine where nobody but its own users can submit jobs: all
// roles are in this process and the API listens on loopback.
func (o *options) allowThisMachine() {
	host, _, err := net.SplitHostPort(o.settings.Addr)
	if ip := net.ParseIP(host); err != nil || o.roles != (node.Roles{API: true, Tick: true, Worker: true}) || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return
	}
	o.settings.WebhookAllow = append(slices.Clone(o.settings.WebhookAllow), "127.0.0.0/8", "::1", "localhost")
}

// parse reads environment and flags. flag.ErrHelp means help was printed.
func parse(args []string, errs io.Writer) (options, error) {
	settings, err := boot.ReadSettings()
	if err == nil {
		err = settings.CheckCloud(boot.NoCloud)
	}
	if err != nil {
		return options{}, err
	}
	settings.StopGrace = min(settings.StopGrace, time.Second) // Ctrl-C stops within two seconds
	o := options{settings: settings}
	f := flag.NewFlagSet("local", flag.ContinueOnError)
	f.SetOutput(errs)
	f.StringVar(&o.settings.Addr, "addr", settings.Addr, "address the API listens on; port 0 takes a free one")
	f.StringVar(&o.data, "data", "belfry.db", "SQLite file that keeps the jobs when no database URL is given")
	f.StringVar(&o.settings.DatabaseURL, "database-url", "", "PostgreSQL to keep the jobs in (default BELFRY_DATABASE_URL)")
	f.IntVar(&o.settings.Workers, "workers", settings.Workers, "jobs run at once")
	role := f.String("role", "all", "all, api, tick or worker, or several with commas; all but \"all\" need a database URL")
	f.DurationVar(&o.settings.Tick, "tick", settings.Tick, "period of the tick")
	if err := f.Parse(args); err != nil {
		return options{}, err
	}
	if f.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q: see -help", f.Arg(0))
	}
	if o.settings.DatabaseURL == "" {
		o.settings.DatabaseURL = settings.DatabaseURL
	}
	if o.roles, err = node.ParseRoles(*role); err != nil {
		return options{}, fmt.Errorf("-role: %w", err)
	}
	if o.settings.DatabaseURL == "" && (o.roles != node.Roles{API: true, Tick: true, Worker: true}) {
		return options{}, fmt.Errorf("-role %s needs -database-url: a SQLite file has room for one process, which runs all roles", o.roles)
	}
	if o.settings.QueueMode() && o.roles.Tick != o.roles.Worker {
		return options{}, fmt.Errorf("-role %s: mem:// queues live in one process: run tick and worker in it together, or unset the queues (BELFRY_QUEUE_*_URL)", o.roles)
	}
	return o, blame(f, o.settings.Check())
}

// settingOf are the settings that a flag goes before.
var settingOf = map[string]string{"addr": "BELFRY_ADDR", "database-url": "BELFRY_DATABASE_URL", "workers": "BELFRY_WORKERS", "tick": "BELFRY_TICK"}

// blame gives faults of settings that a flag has set the flag's name.
func blame(f *flag.FlagSet, err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	f.Visit(func(given *flag.Flag) {
		if name := settingOf[given.Name]; name != "" {
			text = strings.ReplaceAll("\n"+text, "\n"+name+": ", "\n-"+given.Name+": ")[1:]
		}
	})
	return errors.New(text)
}
