package localstack

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// buildImage builds the image of the functions as the Dockerfile does, but with the Go of this machine: that takes seconds
// where they were built before. Of the Dockerfile it follows the last stage.
func buildImage(t *testing.T, name string) {
	t.Helper()
	dockerfile, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	build := func(program, source string) {
		runGo(t, "GOFLAGS=", "build", "-tags", "lambda.norpc", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", filepath.Join(out, program), source)
	}
	emulator := regexp.MustCompile(`github\.com/aws/aws-lambda-runtime-interface-emulator/\S+`).FindString(string(dockerfile))
	runGo(t, "GOBIN="+out, "install", emulator)
	for _, function := range []string{"api", "tick", "worker"} {
		build(filepath.Join(function, "bootstrap"), "../functions/"+function+"/lambda")
	}
	build("driver", "./driver")

	stage := string(dockerfile[bytes.LastIndex(dockerfile, []byte("\nFROM ")):])
	certificates := filepath.Join(dir, "etc", "ssl", "certs", "ca-certificates.crt")
	if err := os.MkdirAll(filepath.Dir(certificates), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		filepath.Join(dir, "Dockerfile"): strings.ReplaceAll(stage, "--from=build ", ""),
		certificates:                     "", // nothing here goes beyond the containers
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if said, err := exec.CommandContext(t.Context(), "docker", "build", "--quiet", "--tag", name, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	t.Cleanup(func() { _ = exec.Command("docker", "image", "rm", name).Run() })
}

func runGo(t *testing.T, env string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", env)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v: %s", args[0], err, said)
	}
}
