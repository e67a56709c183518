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

// server is one kind of server.
type server struct {
	image string // the newest the tests are run on
	port  string
	env   map[string]string
	cmd   []string
	ready wait.Strategy
	url   func(endpoint, password string) string
}

// servers are all kinds, by the names testenv knows them under. The password is a fresh one.
func servers(password string) map[string]server {
	return map[string]server{
		"postgres": {
			image: "postgres:17-alpine", port: "5432/tcp", env: map[string]string{"POSTGRES_PASSWORD": password},
			cmd: []string{"postgres", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=200"},
			// The image starts the server twice: once to set it up, once for good.
			ready: wait.ForLog("database system is ready to accept connections").WithOccurrence(2),
			url: func(endpoint, password string) string {
				return fmt.Sprintf("postgres://postgres:%s@%s/postgres?sslmode=disable", password, endpoint)
			},
		},
		"sqs": { // the last LocalStack that starts without an account
			image: "localstack/localstack:4.14.0", port: "4566/tcp", env: map[string]string{"SERVICES": "sqs"},
			ready: wait.ForHTTP("/_localstack/health").WithPort("4566/tcp"),
			url:   func(endpoint, _ string) string { return "http://" + endpoint },
		},
		"pubsub": {
			image: "gcr.io/google.com/cloudsdktool/google-cloud-cli:emulators", port: "8085/tcp",
			cmd:   []string{"gcloud", "beta", "emulators", "pubsub", "start", "--host-port=0.0.0.0:8085"},
			ready: wait.ForLog("Server started"),
			url:   func(endpoint, _ string) string { return endpoint },
		},
		"rabbit": {
			image: "rabbitmq:4-alpine", port: "5672/tcp",
			env:   map[string]string{"RABBITMQ_DEFAULT_USER": "belfry", "RABBITMQ_DEFAULT_PASS": password},
			ready: wait.ForLog("Server startup complete"),
			url:   func(endpoint, password string) string { return fmt.Sprintf("amqp://belfry:%s@%s/", password, endpoint) },
		},
	}
}

func main() {
	password := rand.Text()
	var s server
	known := false
	if len(os.Args) == 2 {
		s, known = servers(password)[os.Args[1]]
	}
	if !known {
		fmt.Fprintln(os.Stderr, "usage: container postgres|sqs|pubsub|rabbit")
		os.Exit(2)
	}
	// Who started this may be gone when it ends: neither Ctrl-C nor a closed
	// pipe for the client's log lines must keep it from taking the container down.
	signal.Ignore(os.Interrupt, syscall.SIGPIPE)
	if err := s.serve(context.Background(), password); err != nil {
		fmt.Fprintln(os.Stderr, "container:", err)
		os.Exit(1)
	}
}

// serve starts the server, prints its URL and ends it when standard input ends.
func (s server) serve(ctx context.Context, password string) (err error) {
	running, err := testcontainers.Run(ctx, s.image,
		testcontainers.WithEnv(s.env),
		testcontainers.WithExposedPorts(s.port),
		testcontainers.WithHostConfigModifier(s.onlyThisMachine),
		testcontainers.WithCmd(s.cmd...),
		testcontainers.WithWaitStrategy(wait.ForAll(s.ready, wait.ForListeningPort(s.port))),
	)
	defer func() { err = errors.Join(err, testcontainers.TerminateContainer(running)) }()
	if err != nil {
		return err
	}
	endpoint, err := running.PortEndpoint(ctx, s.port, "")
	if err != nil {
		return err
	}
	fmt.Println(s.url(endpoint, password))
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// onlyThisMachine publishes the port on 127.0.0.1, and not on every address as the default is.
func (s server) onlyThisMachine(host *container.HostConfig) {
	host.PortBindings = network.PortMap{
		network.MustParsePort(s.port): {{HostIP: netip.MustParseAddr("127.0.0.1")}},
	}
}
