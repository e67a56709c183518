package testenv

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/belfry-dev/belfry/internal/containers/engine"
)

// fromVariable says where servers may come from, where they are not at an address: "container" leaves out the programs
// on this machine. Empty means programs, then containers.
const fromVariable = "BELFRY_TEST_FROM"

// errLeftOut says that programs on this machine are not to be used.
var errLeftOut = errors.New("programs are left out by " + fromVariable)

// onlyContainers reports whether programs on this machine are left out.
func onlyContainers() bool { return os.Getenv(fromVariable) == "container" }

// containerProgram serves one server; see its own comment.
const containerProgram = "github.com/belfry-dev/belfry/internal/testenv/container"

// containedServer is a server in a container. It ends with this process, whose
// end closes the pipe that the container's program reads, or when the value is
// collected: whoever uses the URL keeps it.
type containedServer struct {
	url   string
	alive io.Closer
	cmd   *exec.Cmd
}

// startContained starts the named server and returns when it serves. The first
// time on a machine it waits for the image. It returns engine.ErrNone where
// there is nothing to run a container.
func startContained(name string) (*containedServer, error) {
	if err := engine.Answers(context.Background()); err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "run", containerProgram, name)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	alive, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("testenv: container: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("testenv: container: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("testenv: container: %w", err)
	}
	server := &containedServer{alive: alive, cmd: cmd}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		err = errors.Join(err, server.close())
		return nil, fmt.Errorf("testenv: container: %w: %s", err, bytes.TrimSpace(complaints.Bytes()))
	}
	server.url = strings.TrimSpace(line)
	return server, nil
}

// close takes the container down and waits until it is gone.
func (s *containedServer) close() error {
	return errors.Join(s.alive.Close(), s.cmd.Wait())
}
