// Command server runs Belfry in containers, or on any machine, on PostgreSQL: all roles or some of them in one process,
// with the queues in RabbitMQ or without queues. It has no cloud's client in it.
//
//	server -role api,tick      run these roles
//	server migrate             bring the database's schema up to date and end
//	server health              ask the server of this machine whether its roles make progress
//	server version
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/belfry-dev/belfry/cmd/cmdline"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err == nil {
		return
	}
	if !errors.As(err, new(told)) {
		fmt.Fprintln(os.Stderr, "belfry:", err)
	}
	os.Exit(cmdline.ExitCode(err))
}
