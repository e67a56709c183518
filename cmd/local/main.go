// Command local runs Belfry on one machine: API, tick and workers in one process on a SQLite file, or any of
// the roles on PostgreSQL.
//
//	go run ./cmd/local
//	go run ./cmd/local -database-url postgres://user@host/db -role worker
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/belfry-dev/belfry/cmd/cmdline"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "belfry:", err)
		os.Exit(cmdline.ExitCode(err))
	}
}
