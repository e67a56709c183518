package testenv

import (
	"bytes"
	"fmt"
	"os/exec"
	"testing"
)

// GoTool makes sure that go run can run a program of another module, as path@version. Its name in the list of
// required servers is name.
func GoTool(t testing.TB, name, program string) {
	t.Helper()
	if out, err := exec.Command("go", "run", program, "-version").CombinedOutput(); err != nil {
		missing(t, name, fmt.Errorf("%w: %s", err, bytes.TrimSpace(out)), "let go run "+program+" reach a module proxy")
	}
}
