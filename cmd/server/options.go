package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/belfry-dev/belfry/cmd/cmdline"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host/node"
)

// defaults are those of the settings that differ in a container: it is reached from outside, its log is read by
// machines, and it is killed ten seconds after it was told to stop, of which a stop takes up to two graces, or, of the API, a
// delay and a grace.
var defaults = map[string]string{
	"BELFRY_ADDR": ":8080", "BELFRY_HEALTH_ADDR": ":8081", "BELFRY_LOG_FORMAT": "json", "BELFRY_STOP_GRACE": "4s",
	"BELFRY_STOP_DELAY": "5s",
}

// The commands.
const (
	serveCommand   = "serve"
	migrateCommand = "migrate"
	healthCommand  = "health"
	versionCommand = "version"
)

// options are what the environment and the command line say.
type options struct {
	command  string
	settings boot.Settings
	roles    node.Roles
	migrate  bool
}

const usage = `usage: server [-role api,tick,worker] [-migrate=false]
       server migrate | health | version

Settings come from the environment: see docs/settings.md.

`

// parse reads environment and flags. flag.ErrHelp means help was printed.
func parse(args []string, errs io.Writer) (options, error) {
	o := options{command: serveCommand}
	f := flag.NewFlagSet("server", flag.ContinueOnError)
	f.SetOutput(errs)
	f.Usage = func() { fmt.Fprint(errs, usage); f.PrintDefaults() }
	role := f.String("role", "all", "all, api, tick or worker, or several with commas")
	f.BoolVar(&o.migrate, "migrate", true, "bring the database's schema up to date first")
	if err := cmdline.Parse(f, args); err != nil {
		return o, err
	}
	var err error
	if o.roles, err = node.ParseRoles(*role); err != nil {
		return o, cmdline.Errorf("-role: %s", err)
	}
	switch {
	case f.NArg() == 0:
	case f.NArg() == 1 && f.NFlag() == 0 && isCommand(f.Arg(0)):
		o.command = f.Arg(0)
	case f.NFlag() == 0 && isCommand(f.Arg(0)):
		return o, cmdline.Errorf("unexpected argument %q: %s takes none", f.Arg(1), f.Arg(0))
	case isCommand(f.Arg(0)):
		return o, cmdline.Errorf("%s takes no flags", f.Arg(0))
	default:
		return o, cmdline.Errorf("unexpected argument %q: see -help", f.Arg(0))
	}
	if o.command == versionCommand {
		return o, nil
	}
	if o.settings, err = boot.ReadSettingsOr(defaults); err != nil {
		return o, err
	}
	if o.command == healthCommand {
		return o, nil
	}
	return o, o.check()
}

func isCommand(word string) bool {
	return word == migrateCommand || word == healthCommand || word == versionCommand
}

// check refuses what this program cannot do, before it touches anything.
func (o *options) check() error {
	if err := o.settings.CheckCloud(boot.NoCloud); err != nil {
		return err
	}
	if o.settings.DatabaseURL == "" {
		return errors.New("BELFRY_DATABASE_URL is not set: want postgres://user:password@host:5432/database (without PostgreSQL use cmd/local, on a SQLite file)")
	}
	return checkQueues(o.settings, o.roles)
}
