package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/belfry-dev/belfry/bench/measure"
	"github.com/belfry-dev/belfry/bench/scenario"
	"github.com/belfry-dev/belfry/bench/system"
	"github.com/belfry-dev/belfry/internal/pgserver"
)

// measureCommand is the subcommand under which this program measures one case and prints its figures. Each
// case has a process of its own, so that processor time and memory are those of one system alone.
const measureCommand = "measure"

// measureLimit ends a measurement that hangs.
const measureLimit = 10 * time.Minute

// order tells the measuring process what to do.
type order struct {
	Server   string // URL of a database of the server
	Database string // URL of the fresh database
	Scenario string
	Case     string
	Size     scenario.Size
}

// measureApart measures one case in a fresh database and a fresh process.
func measureApart(ctx context.Context, server, scenarioName, caseLabel string, size scenario.Size) (figures scenario.Figures, err error) {
	database, err := pgserver.CreateDatabase(ctx, server)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pgserver.DropDatabase(context.WithoutCancel(ctx), server, database)) }()
	ctx, cancel := context.WithTimeout(ctx, measureLimit)
	defer cancel()
	out, err := runMeasure(ctx, order{server, database, scenarioName, caseLabel, size})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("measuring process: %w", err), ctx.Err())
	}
	if err := json.Unmarshal(out, &figures); err != nil {
		return nil, fmt.Errorf("measuring process: %w", err)
	}
	return figures, nil
}

// runMeasure starts the measuring process, gives it the order on its standard input and returns what it wrote.
// The input stays open: its end tells the process that this one has died.
func runMeasure(ctx context.Context, what order) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, self, measureCommand)
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second // then it is killed
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	err = json.NewEncoder(in).Encode(what)
	err = errors.Join(err, cmd.Wait())
	return out.Bytes(), err
}

// measureMain is the measuring process. It ends with the process that started it.
func measureMain() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var what order
	if err := json.NewDecoder(os.Stdin).Decode(&what); err != nil {
		return fmt.Errorf("%s: %w", measureCommand, err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // nothing more is sent
		stop()
		time.Sleep(5 * time.Second)
		os.Exit(1)
	}()
	figures, err := measureHere(ctx, what)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(figures)
}

// measureHere measures one case in this process.
func measureHere(ctx context.Context, what order) (scenario.Figures, error) {
	s, ok := scenario.Find(what.Scenario)
	if !ok {
		return nil, fmt.Errorf("unknown scenario %q", what.Scenario)
	}
	c, ok := s.Case(what.Case)
	if !ok {
		return nil, fmt.Errorf("scenario %s: unknown case %q", s.Name, what.Case)
	}
	watcher, err := measure.Watch(ctx, what.Server, what.Database)
	if err != nil {
		return nil, err
	}
	defer watcher.Close(context.WithoutCancel(ctx))
	sys, err := system.Open(ctx, c.System, what.Database, c.Settings)
	if err != nil {
		return nil, err
	}
	defer sys.Close()
	return s.Measure(ctx, &scenario.Bench{System: sys, Watcher: watcher, DSN: what.Database, Case: c, Size: what.Size})
}
