package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Schemathesis returns the path of the API fuzzer: the one of the virtual environment .venv in dir, else the one on
// PATH. Its name in the list of required servers is "schemathesis".
func Schemathesis(t testing.TB, dir string) string {
	t.Helper()
	return virtualProgram(t, "schemathesis", dir, "install python3, then: make fuzz-tools")
}

// Checkov returns the path of the policy scanner for Terraform, as Schemathesis does. Its name in the list is "checkov".
func Checkov(t testing.TB, dir string) string {
	t.Helper()
	return virtualProgram(t, "checkov", dir, "install python3, then: make policy-tools")
}

func virtualProgram(t testing.TB, name, dir, howTo string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(dir, ".venv", "bin", name))
	if err == nil {
		if _, err = os.Stat(path); err == nil {
			return path
		}
	}
	if found, lookErr := exec.LookPath(name); lookErr == nil {
		return found
	}
	missing(t, name, err, howTo)
	return ""
}
