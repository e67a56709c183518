package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// readyLine is what a process without an API prints once it works.
const readyLine = "ready"

// child is a process that was started here.
type child struct {
	name    string
	url     string // of its API, if any
	cmd     *exec.Cmd
	reading sync.WaitGroup
}

// startChild starts a program and waits until it prints its URL, or that it is ready.
func startChild(ctx context.Context, program string, args, env []string) (*child, error) {
	c := &child{name: strings.Join(args[:min(2, len(args))], " "), cmd: exec.CommandContext(ctx, program, args...)}
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.Stderr = os.Stderr
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(os.Interrupt) }
	c.cmd.WaitDelay = 10 * time.Second
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	works := false
	for !works && lines.Scan() {
		if _, after, found := strings.Cut(lines.Text(), "http://"); found {
			c.url = "http://" + strings.FieldsFunc(after, func(r rune) bool { return r == ' ' || r == '/' })[0]
		}
		works = c.url != "" || lines.Text() == readyLine
	}
	c.reading.Go(func() { _, _ = io.Copy(io.Discard, out) })
	if !works {
		c.interrupt()
		return nil, fmt.Errorf("it ended before it was ready: %w", c.wait())
	}
	return c, nil
}

func (c *child) interrupt() { _ = c.cmd.Process.Signal(syscall.SIGINT) }

// wait returns when the process has ended.
func (c *child) wait() error {
	c.reading.Wait() // else what it prints last is cut off
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}
