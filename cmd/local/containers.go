package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/belfry-dev/belfry/internal/containers/engine"
)

// containersProgram has the clients of a container engine and of SQS, which this one does without: they would make its
// first build much longer.
const containersProgram = "github.com/belfry-dev/belfry/cmd/local/containers"

// stopPatience is how long that program may take to remove its containers.
const stopPatience = time.Minute

// errNoSource says that the program of the containers cannot be built here.
var errNoSource = errors.New("-stack containers is a program of its own that is built when it is asked for: run this in a checkout of Belfry, with Go installed, or use -stack embedded")

// runContainers builds the program of the containers and runs it with these flags until ctx ends.
func runContainers(ctx context.Context, flags []string, out, errs io.Writer) error {
	if err := engine.Answers(ctx); err != nil {
		return fmt.Errorf("-stack containers: %w; %s", err, engine.HowTo)
	}
	dir, err := os.MkdirTemp("", "belfry-local-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "containers")
	fmt.Fprintln(errs, "building "+containersProgram+": a minute or two the first time")
	if err := buildProgram(ctx, program); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, flags...)
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopPatience
	err = cmd.Run()
	var ended *exec.ExitError
	if ctx.Err() != nil && (!errors.As(err, &ended) || ended.Success()) {
		return nil // it was told to stop, and did
	}
	if errors.As(err, &ended) {
		return fmt.Errorf("-stack containers: %w", err) // it has said why
	}
	return err
}

func buildProgram(ctx context.Context, program string) error {
	tool, err := exec.LookPath("go")
	if err != nil {
		return errNoSource
	}
	if err := exec.CommandContext(ctx, tool, "list", containersProgram).Run(); err != nil && ctx.Err() == nil {
		return errNoSource
	}
	out, err := exec.CommandContext(ctx, tool, "build", "-o", program, containersProgram).CombinedOutput()
	if err != nil {
		return fmt.Errorf("build %s: %w: %s", containersProgram, err, bytes.TrimSpace(out))
	}
	return nil
}
