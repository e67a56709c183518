package testenv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// startTimeout bounds the start of one server: some take long on a busy machine.
const startTimeout = 2 * time.Minute

// daemonScript runs a program in the background until its standard input ends, which it does at the latest with
// the process that started it. Then all of its process group ends, and its folder goes.
const daemonScript = `
"$@" </dev/null &
read -r _
trap '' TERM
kill -TERM 0
for i in 1 2 3 4 5 6 7 8 9 10; do
  kill -0 $! 2>/dev/null || break
  sleep 0.5
done
cd / && rm -rf "$DAEMON_DIR"
kill -KILL 0
`

// daemon is a server that this process started. It ends when the value is collected or the process ends: whoever
// uses it keeps it.
type daemon struct {
	alive io.Closer
	dir   string
}

// startDaemon runs a program in a folder of its own, which the environment calls DAEMON_DIR, and returns once ready
// says so. Two ports that were free are passed to prepare.
func startDaemon(prepare func(dir string, port, other int) (env []string, command []string), ready func(ctx context.Context, port int) error) (_ *daemon, port int, err error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, 0, err
	}
	dir, err := os.MkdirTemp("", "belfry-test-")
	if err != nil {
		return nil, 0, fmt.Errorf("testenv: %w", err)
	}
	env, command := prepare(dir, ports[0], ports[1])
	cmd := exec.Command("/bin/sh", append([]string{"-c", daemonScript, "sh"}, command...)...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "DAEMON_DIR="+dir), env...)
	cmd.SysProcAttr = ownGroup()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, 0, fmt.Errorf("testenv: %w", err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	alive, err := cmd.StdinPipe()
	if err != nil {
		return nil, 0, fmt.Errorf("testenv: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, 0, fmt.Errorf("testenv: %w", err)
	}
	go cmd.Wait() // it ends by a signal, as it should
	d := &daemon{alive: alive, dir: dir}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		err := ready(ctx, ports[0])
		if err == nil {
			return d, ports[0], nil
		}
		select {
		case <-ctx.Done():
			said, _ := os.ReadFile(log.Name())
			return nil, 0, errors.Join(fmt.Errorf("testenv: %s does not serve after %s: %w: %s", command[0], startTimeout, err, said), d.close())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (d *daemon) close() error { return d.alive.Close() }

// freePorts finds ports of 127.0.0.1 that nobody listens on.
func freePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("testenv: %w", err)
		}
		defer l.Close()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}
