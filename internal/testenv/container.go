package testenv

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// containerProgram serves one server; see its own comment.
const containerProgram = "github.com/belfry-dev/belfry/internal/testenv/container"

// errNoEngine says that this machine has no container engine that answers.
var errNoEngine = errors.New("no container engine answers")

// containedServer is a server in a container. It ends with this process, whose
// end closes the pipe that the container's program reads, or when the value is
// collected: whoever uses the URL keeps it.
type containedServer struct {
	url   string
	alive io.Closer
	cmd   *exec.Cmd
}

// startContained starts the named server and returns when it serves. The first
// time on a machine it waits for the image. It returns errNoEngine where there
// is nothing to run a container.
func startContained(name string) (*containedServer, error) {
	if err := exec.Command("docker", "info").Run(); err != nil {
		return nil, errNoEngine
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
