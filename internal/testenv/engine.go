package testenv

import (
	"os/exec"
	"testing"
)

// Engine returns the path of the docker command, whose engine answers. Its name in the list of required servers is
// "containers".
func Engine(t testing.TB) string {
	t.Helper()
	program, err := exec.LookPath("docker")
	if err == nil {
		err = exec.CommandContext(t.Context(), program, "info").Run()
	}
	if err != nil {
		missing(t, "containers", err, "install and start Docker")
	}
	return program
}
