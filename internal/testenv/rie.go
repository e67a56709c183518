package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// RIE returns the path of AWS's Runtime Interface Emulator: on PATH, or where go install puts it. Its name in the list of
// required servers is "rie".
func RIE(t testing.TB) string {
	t.Helper()
	const name = "aws-lambda-rie"
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if out, goErr := exec.CommandContext(t.Context(), "go", "env", "GOPATH").Output(); goErr == nil {
		path = filepath.Join(strings.TrimSpace(string(out)), "bin", name)
		if _, err = os.Stat(path); err == nil {
			return path
		}
	}
	missing(t, "rie", fmt.Errorf("%s: %w", name, err), "go install github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie@v0.0.0-20261030222936-bef5c4ba774d")
	return ""
}
