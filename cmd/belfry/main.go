// Command belfry is the operator's command line: jobs, dead letters, migrations, and what is wrong when something is.
// docs/cli.md shows all of it at work.
//
// Files: root.go the command tree; flags.go its flags; exit.go exit codes; jobs.go, wait.go, submit.go, submit_file.go, dead.go,
// jobtype.go, tokens.go, profile.go, stats.go, migrate.go, doctor.go the commands; show.go, table.go, text.go what they
// print; resume.go, progress.go and confirm.go what they need on the way.
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
