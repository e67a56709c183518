// Package engine tells whether this machine has a container engine, and links no client of one.
package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// ErrNone says that no container engine answers.
var ErrNone = errors.New("no container engine answers")

// patience is how long an engine may take to answer.
const patience = 20 * time.Second

// Answers returns ErrNone with the cause where this machine has no container engine that answers.
func Answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "docker", "info", "--format", "{{.ServerVersion}}").CombinedOutput()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	said := bytes.TrimSpace(out)
	if at := bytes.LastIndexByte(said, '\n'); at >= 0 {
		said = said[at+1:] // before it there may be an empty version
	}
	if len(said) > 0 {
		return fmt.Errorf("%w: docker info: %s", ErrNone, said)
	}
	return fmt.Errorf("%w: docker info: %w", ErrNone, err)
}

// HasImage reports whether the engine has an image already, so that nothing need be pulled.
func HasImage(ctx context.Context, image string) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return exec.CommandContext(ctx, "docker", "image", "inspect", image).Run() == nil
}

// HowTo says what helps where there is no engine.
const HowTo = "install Docker and start it (docs/localstack.md), or use -stack embedded, which needs nothing"
