package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Python returns an interpreter that can import module: the one of the virtual
// environment .venv in dir, else python3 on PATH. Its name in the list of
// required servers is "python".
func Python(t testing.TB, dir, module string) string {
	t.Helper()
	python := filepath.Join(dir, ".venv", "bin", "python")
	if _, err := os.Stat(python); err != nil {
		python = "python3"
	}
	return interpreter(t, "python", python, dir, "install python3, then in "+dir+": python3 -m venv .venv && .venv/bin/pip install -r requirements.txt",
		"-c", "import "+module)
}

// Node returns a Node.js that, run in dir, can import module. Its name in the
// list of required servers is "node".
func Node(t testing.TB, dir, module string) string {
	t.Helper()
	return interpreter(t, "node", "node", dir, "install Node.js, then in "+dir+": npm ci",
		"--input-type=module", "--eval", "import "+fmt.Sprintf("%q", module))
}

// interpreter returns the program's absolute path once the check has passed with it.
func interpreter(t testing.TB, name, program, dir, howTo string, check ...string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		missing(t, name, err, howTo)
	}
	cmd := exec.Command(path, check...)
	cmd.Dir = dir
	if err := cmd.Run(); err != nil {
		missing(t, name, fmt.Errorf("%s: %w", check[len(check)-1], err), howTo)
	}
	return path
}
