package containers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
	"github.com/testcontainers/testcontainers-go/wait"
)

// Server is a server in a container. It listens on 127.0.0.1 only.
type Server struct {
	URL   string // with the password, where the server has one
	Image string
	held  testcontainers.Container
}

// Start starts a server of a kind and returns once it serves. The first time on a machine its image is pulled; tell is
// told how far that is, in short lines, and may be nil. The caller closes the server; a failed or ended start leaves
// none behind.
func Start(ctx context.Context, name string, tell func(line string)) (_ *Server, err error) {
	password := rand.Text()
	k, known := kinds(password)[name]
	if !known {
		return nil, fmt.Errorf("containers: server %q: want one of %s", name, strings.Join(Kinds(), ", "))
	}
	if tell == nil {
		tell = func(string) {}
	}
	log.SetDefault(quiet{}) // tell is told instead
	if err := haveImage(ctx, k.image, tell); err != nil {
		return nil, fmt.Errorf("containers: image %s: %w", k.image, err)
	}
	tell("starting " + k.image)
	running, err := testcontainers.Run(ctx, k.image,
		testcontainers.WithEnv(k.env),
		testcontainers.WithExposedPorts(k.port),
		testcontainers.WithHostConfigModifier(k.onlyThisMachine),
		testcontainers.WithCmd(k.cmd...),
		testcontainers.WithWaitStrategyAndDeadline(startTimeout, wait.ForAll(k.ready, wait.ForListeningPort(k.port)).WithStartupTimeoutDefault(startTimeout)),
	)
	s := &Server{Image: k.image, held: running}
	if err == nil {
		var endpoint string
		endpoint, err = running.PortEndpoint(ctx, k.port, "")
		s.URL = k.url(endpoint, password)
	}
	if err != nil {
		return nil, fmt.Errorf("containers: %s: %w", k.image, errors.Join(err, s.Close()))
	}
	tell(k.image + " serves")
	return s, nil
}

// Close stops the server and removes its container and what it kept.
func (s *Server) Close() error {
	if s.held == nil {
		return nil
	}
	if err := testcontainers.TerminateContainer(s.held, testcontainers.StopTimeout(0)); err != nil {
		return fmt.Errorf("containers: %w", err)
	}
	return nil
}

// onlyThisMachine publishes the port on 127.0.0.1, and not on every address as the default is.
func (k kind) onlyThisMachine(host *container.HostConfig) {
	host.PortBindings = network.PortMap{
		network.MustParsePort(k.port): {{HostIP: netip.MustParseAddr("127.0.0.1")}},
	}
}

// quiet takes the log lines of the containers' client, which speak of its own doings.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
