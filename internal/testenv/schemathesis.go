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
	path, err := filepath.Abs(filepath.Join(dir, ".venv", "bin", "schemathesis"))
	if err == nil {
		if _, err = os.Stat(path); err == nil {
			return path
		}
	}
	if found, lookErr := exec.LookPath("schemathesis"); lookErr == nil {
		return found
	}
	missing(t, "schemathesis", err, "install python3, then in internal/apifuzz: python3 -m venv .venv && .venv/bin/pip install --require-hashes -r requirements.txt")
	return ""
}
