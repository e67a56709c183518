package pgserver

import (
	"fmt"
	"io"
	"os/exec"
)

// guardScript waits for the end of its standard input, which comes when the
// guarded process closes it or dies, then runs the command it was given and
// removes the folder.
const guardScript = `dir=$1; shift
while read -r line; do :; done
"$@" >/dev/null 2>&1
cd /
rm -rf "$dir"`

// guard is a small shell process that outlives this one by a moment and takes
// the server down. A cleanup function cannot do it: SIGKILL, a panic on another
// goroutine and a test's timeout run none.
type guard struct {
	cmd   *exec.Cmd
	alive io.WriteCloser
}

// watch starts a guard that ends with running stop and removing dir.
func watch(as account, dir string, stop ...string) (*guard, error) {
	cmd := exec.Command("/bin/sh", append([]string{"-c", guardScript, "guard", dir}, stop...)...)
	cmd.Dir = dir
	cmd.SysProcAttr = as.attributes()
	alive, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("pgserver: guard: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("pgserver: guard: %w", err)
	}
	return &guard{cmd: cmd, alive: alive}, nil
}

// release lets the guard do its work and waits for it.
func (g *guard) release() error {
	if err := g.alive.Close(); err != nil {
		return fmt.Errorf("pgserver: guard: %w", err)
	}
	if err := g.cmd.Wait(); err != nil {
		return fmt.Errorf("pgserver: guard: %w", err)
	}
	return nil
}
