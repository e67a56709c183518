package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/belfry-dev/belfry/cmd/cmdline"
	"github.com/belfry-dev/belfry/cmd/local/solo"
	"github.com/belfry-dev/belfry/functions/host/node"
)

// The stacks that the program can stand on.
const (
	embedded   = "embedded"
	containers = "containers"
)

// options are what the command line says, over what the environment says.
type options struct {
	solo.Options
	data  string
	stack string
	// passed are the flags that were given, for the program of the containers.
	passed []string
}

// parse reads environment and flags. flag.ErrHelp means help was printed.
func parse(args []string, errs io.Writer) (options, error) {
	read, err := solo.Read()
	if err != nil {
		return options{}, err
	}
	fromEnvironment := read.Settings.DatabaseURL
	o := options{Options: read}
	f := flag.NewFlagSet("local", flag.ContinueOnError)
	f.SetOutput(errs)
	o.Flags(f)
	f.StringVar(&o.data, "data", "belfry.db", "SQLite file that keeps the jobs when no database URL is given")
	f.StringVar(&o.Settings.DatabaseURL, "database-url", "", "PostgreSQL to keep the jobs in (default BELFRY_DATABASE_URL)")
	role := f.String("role", "all", "all, api, tick or worker, or several with commas; all but \"all\" need a database URL")
	f.StringVar(&o.stack, "stack", embedded, "embedded, or containers: PostgreSQL and SQS on LocalStack, started in containers and removed at the end")
	if err := cmdline.Parse(f, args); err != nil {
		return options{}, err
	}
	if o.Settings.DatabaseURL == "" {
		o.Settings.DatabaseURL = fromEnvironment
	}
	return o, cmdline.Wrong(o.settle(f, *role))
}

// settle holds what the flags say against one another and against the settings.
func (o *options) settle(f *flag.FlagSet, role string) (err error) {
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: see -help", f.Arg(0))
	}
	switch o.stack {
	case embedded:
	case containers:
		return o.pass(f)
	default:
		return fmt.Errorf("-stack: is %q, want %s or %s", o.stack, embedded, containers)
	}
	if o.Roles, err = node.ParseRoles(role); err != nil {
		return fmt.Errorf("-role: %w", err)
	}
	if o.Settings.DatabaseURL == "" && o.Roles != solo.All {
		return fmt.Errorf("-role %s needs -database-url: a SQLite file has room for one process, which runs all roles", o.Roles)
	}
	if o.Settings.QueueMode() && o.Roles.Tick != o.Roles.Worker {
		return fmt.Errorf("-role %s: mem:// queues live in one process: run tick and worker in it together, or unset the queues (BELFRY_QUEUE_*_URL)", o.Roles)
	}
	if o.Settings.DatabaseURL != "" && isGiven(f, "data") {
		return errors.New("-data: goes without a database URL, and -database-url or BELFRY_DATABASE_URL gives one")
	}
	return o.Check(f)
}

func isGiven(f *flag.FlagSet, name string) (given bool) {
	f.Visit(func(one *flag.Flag) { given = given || one.Name == name })
	return given
}

// pass keeps the flags that the program of the containers has too, and refuses those that it cannot follow.
func (o *options) pass(f *flag.FlagSet) (err error) {
	f.Visit(func(given *flag.Flag) {
		switch given.Name {
		case "stack":
		case "data", "database-url", "role":
			err = fmt.Errorf("-%s: with -stack %s jobs are in a PostgreSQL of its own, and one process does everything", given.Name, containers)
		default:
			o.passed = append(o.passed, "-"+given.Name+"="+given.Value.String())
		}
	})
	return err
}
