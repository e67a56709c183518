// Command container runs one server in a container for as long as its standard
// input stays open, and prints the server's URL on one line.
//
// It is a program and not a package so that tests do not link the container
// client: testenv runs it with `go run` where this machine has a container
// engine but not the server itself.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/signal"
	"syscall"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// postgresImage is the newest PostgreSQL the tests are run on.
const postgresImage = "postgres:17-alpine"

func main() {
	if len(os.Args) != 2 || os.Args[1] != "postgres" {
		fmt.Fprintln(os.Stderr, "usage: container postgres")
		os.Exit(2)
	}
	// Who started this may be gone when it ends: neither Ctrl-C nor a closed
	// pipe for the client's log lines must keep it from taking the container down.
	signal.Ignore(os.Interrupt, syscall.SIGPIPE)
	if err := serve(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "container:", err)
		os.Exit(1)
	}
}

// serve starts PostgreSQL, prints its URL and ends it when standard input ends.
func serve(ctx context.Context) (err error) {
	password := rand.Text()
	server, err := testcontainers.Run(ctx, postgresImage,
		testcontainers.WithEnv(map[string]string{"POSTGRES_PASSWORD": password}),
		testcontainers.WithExposedPorts("5432/tcp"),
		testcontainers.WithHostConfigModifier(onlyThisMachine),
		testcontainers.WithCmd("postgres", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=200"),
		// The image starts the server twice: once to set it up, once for good.
		testcontainers.WithWaitStrategy(wait.ForAll(
			wait.ForLog("database system is ready to accept connections").WithOccurrence(2),
			wait.ForListeningPort("5432/tcp"),
		)),
	)
	defer func() { err = errors.Join(err, testcontainers.TerminateContainer(server)) }()
	if err != nil {
		return err
	}
	endpoint, err := server.PortEndpoint(ctx, "5432/tcp", "")
	if err != nil {
		return err
	}
	fmt.Printf("postgres://postgres:%s@%s/postgres?sslmode=disable\n", password, endpoint)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// onlyThisMachine publishes the port on 127.0.0.1, and not on every address as the default is.
func onlyThisMachine(host *container.HostConfig) {
	host.PortBindings = network.PortMap{
		network.MustParsePort("5432/tcp"): {{HostIP: netip.MustParseAddr("127.0.0.1")}},
	}
}
