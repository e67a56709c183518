package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	what, err := json.Marshal(order{server, database, scenarioName, caseLabel, size})
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, measureLimit)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, self, measureCommand, string(what))
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second // then it is killed
	if err := cmd.Run(); err != nil {
		return nil, errors.Join(fmt.Errorf("measuring process: %w", err), ctx.Err())
	}
	if err := json.Unmarshal(out.Bytes(), &figures); err != nil {
		return nil, fmt.Errorf("measuring process: %w", err)
	}
	return figures, nil
}

// measureMain is the measuring process.
func measureMain(arg string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var what order
	if err := json.Unmarshal([]byte(arg), &what); err != nil {
		return fmt.Errorf("%s: %w", measureCommand, err)
	}
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
