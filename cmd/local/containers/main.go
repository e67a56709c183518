// Command containers is cmd/local on PostgreSQL and on SQS of LocalStack, which it starts in containers and removes when it
// ends:
//
//	go run ./cmd/local -stack containers
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/belfry-dev/belfry/cmd/cmdline"
	"github.com/belfry-dev/belfry/cmd/local/solo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "belfry:", err)
		os.Exit(cmdline.ExitCode(err))
	}
}

func run(ctx context.Context, args []string, out, errs io.Writer) error {
	o, err := solo.Read()
	if err != nil {
		return err
	}
	f := flag.NewFlagSet("local -stack containers", flag.ContinueOnError)
	f.SetOutput(errs)
	o.Flags(f)
	if err := cmdline.Parse(f, args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if f.NArg() > 0 {
		return cmdline.Errorf("unexpected argument %q: see -help", f.Arg(0))
	}
	if err := o.Check(f); err != nil {
		return cmdline.Wrong(err)
	}
	err = solo.Run(ctx, o, out, errs, func(ctx context.Context) (solo.Stack, error) { return open(ctx, o.Settings, errs) })
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil // stopped while it started
	}
	return err
}
