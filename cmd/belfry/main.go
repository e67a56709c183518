// Command belfry is the operator's command line: jobs, dead letters, migrations, and what is wrong when something is.
// docs/cli.md shows all of it at work.
//
// root.go is the tree of commands. Each group of them is a package below internal; internal/console is what they share.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	code := run(ctx, terminal(), os.Args[1:])
	stop()
	os.Exit(code)
}
