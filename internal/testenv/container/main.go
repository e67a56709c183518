// Command container runs one server in a container for as long as its standard
// input stays open, and prints the server's URL on one line.
//
// It is a program and not a package so that tests do not link the container
// client: testenv runs it with `go run` where this machine has a container
// engine but not the server itself.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/belfry-dev/belfry/internal/containers"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: container", strings.Join(containers.Kinds(), "|"))
		os.Exit(2)
	}
	// Who started this may be gone when it ends: neither Ctrl-C nor a closed
	// pipe for the client's log lines must keep it from taking the container down.
	signal.Ignore(os.Interrupt, syscall.SIGPIPE)
	if err := serve(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve starts the server, prints its URL and ends it when standard input ends, which it may do before the server serves.
func serve(name string) (err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	server, err := containers.Start(ctx, name, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	fmt.Println(server.URL)
	<-ctx.Done()
	return nil
}
