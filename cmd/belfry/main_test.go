package main

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// asProgram makes the test binary the program itself, for tests that need a process.
const asProgram = "BELFRY_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "yes" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program is a process of the command line, in folders of its own.
func program(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, args...)
	home := t.TempDir()
	c.Env = append([]string{asProgram + "=yes", "PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CACHE_HOME=" + home, "XDG_CONFIG_HOME=" + home, "GOCOVERDIR=" + home}, env...)
	return c
}

// outcome runs a process and returns what it printed and its exit code.
func outcome(t *testing.T, c *exec.Cmd) (out, errs string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	c.Stdout, c.Stderr = &o, &e
	err := c.Run()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	return o.String(), e.String(), c.ProcessState.ExitCode()
}
