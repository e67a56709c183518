// Command serverimage builds the image of cmd/server with the Go of this machine, which takes seconds where the modules
// are at hand, and needs no image that has Go in it: of the Dockerfile it follows the last stage. Run it in the module's
// folder. Where no container engine answers it says so, and leaves the programs in dist/.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// most is how large a program may be.
const most = 30 << 20

func main() {
	tag := flag.String("tag", "belfry:local", "name of the image")
	out := flag.String("out", "dist", "folder for the programs, server-linux-ARCHITECTURE")
	architectures := flag.String("arch", "arm64,amd64", "for which architectures, with commas")
	engine := flag.String("engine", "docker", "program that builds the image, for the engine's own architecture")
	flag.Parse()
	if err := run(context.Background(), *tag, *out, *architectures, *engine); err != nil {
		fmt.Fprintln(os.Stderr, "serverimage:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, tag, out, architectures, engine string) error {
	if err := os.MkdirAll(out, 0o750); err != nil {
		return err
	}
	own, engineErr := exec.CommandContext(ctx, engine, "version", "--format", "{{.Server.Arch}}").Output()
	for arch := range strings.SplitSeq(architectures, ",") {
		program := filepath.Join(out, "server-linux-"+arch)
		if err := compile(ctx, program, arch); err != nil {
			return err
		}
		if engineErr == nil && strings.TrimSpace(string(own)) == arch {
			if err := pack(ctx, engine, tag, program); err != nil {
				return err
			}
		}
	}
	if engineErr != nil {
		fmt.Printf("%-24s not built: %s: no container engine answers\n", tag, engine)
	}
	return nil
}

// compile builds the program as the Dockerfile does and tells its size.
func compile(ctx context.Context, program, arch string) error {
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", program, "./cmd/server")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build for %s: %w", arch, err)
	}
	info, err := os.Stat(program)
	if err != nil {
		return err
	}
	fmt.Printf("%-24s %6.2f MiB\n", program, float64(info.Size())/(1<<20))
	if info.Size() > most {
		return fmt.Errorf("%s is larger than %d MiB", program, most>>20)
	}
	return nil
}

// pack builds the image of a program and tells its size.
func pack(ctx context.Context, engine, tag, program string) error {
	dockerfile, err := os.ReadFile("Dockerfile")
	if err != nil {
		return err
	}
	stage, err := lastStage(string(dockerfile))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "belfry-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	roots, err := findRoots()
	if err != nil {
		return err
	}
	if err := errors.Join(
		put(program, filepath.Join(dir, "server"), 0o755),
		put(roots, filepath.Join(dir, "etc", "ssl", "certs", "ca-certificates.crt"), 0o644),
		os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(stage), 0o600),
	); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, engine, "build", "--quiet", "--tag", tag, dir)
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", tag, err, said)
	}
	size, err := exec.CommandContext(ctx, engine, "image", "inspect", "--format", "{{.Size}}", tag).Output()
	if err != nil {
		return fmt.Errorf("inspect %s: %w", tag, err)
	}
	bytes, err := strconv.ParseFloat(strings.TrimSpace(string(size)), 64)
	if err != nil {
		return fmt.Errorf("inspect %s: %w", tag, err)
	}
	fmt.Printf("%-24s %6.2f MiB, an image\n", tag, bytes/(1<<20))
	return nil
}

// lastStage is the last stage of a Dockerfile, with what it copies from an earlier one taken from the context.
func lastStage(dockerfile string) (string, error) {
	at := strings.LastIndex(dockerfile, "\nFROM ")
	if at < 0 {
		return "", errors.New("the Dockerfile has one stage only")
	}
	stage := strings.ReplaceAll(dockerfile[at+1:], "--from=build ", "")
	if strings.Contains(stage, "--from") {
		return "", errors.New("the last stage copies from another than \"build\"")
	}
	return stage, nil
}

// findRoots is where this machine keeps the certificates it trusts.
func findRoots() (string, error) {
	for _, name := range []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"} {
		if _, err := os.Stat(name); err == nil {
			return name, nil
		}
	}
	return "", errors.New("this machine has no file of root certificates: install ca-certificates")
}

// put copies a file into the context, with nothing in it of when.
func put(from, to string, mode os.FileMode) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(to, text, mode); err != nil {
		return err
	}
	then := time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)
	return os.Chtimes(to, then, then)
}
