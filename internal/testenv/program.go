package testenv

import (
	"os/exec"
	"testing"
)

// Program returns the path of a program that the test runs as a user would.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, name, err, "install "+name)
	}
	return path
}
