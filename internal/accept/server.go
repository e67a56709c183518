package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/internal/pgserver"
	"github.com/belfry-dev/belfry/internal/queues"
)

// mem is the kind of queue that lives in cmd/local. The others are those of package queues.
const mem = "mem"

// server is Belfry in child processes.
type server struct {
	url      string
	children []*child
	queue    *queues.Installation // nil: none of its own
	close    []func() error       // last first
}

// settings are those of every child, beyond what differs.
var settings = []string{"BELFRY_HEARTBEAT=2s", "BELFRY_LOG_LEVEL=warn", "BELFRY_API_RATE=0"}

// startServer starts cmd/local, or where queue is a kind that joins processes each role on its own over a server of that
// kind. Jobs are kept in the PostgreSQL database that dsn names, or in a temporary place. It returns once all is ready.
func startServer(ctx context.Context, dsn, queue string) (s *server, err error) {
	s = &server{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop(ctx))
		}
	}()
	if queue == "" || queue == mem {
		err = s.startLocal(ctx, dsn, queue == mem)
	} else {
		err = s.startRoles(ctx, dsn, queue)
	}
	if err == nil {
		err = s.ready(ctx)
	}
	return s, err
}

// startLocal builds cmd/local and starts it, on SQLite unless dsn names a database.
func (s *server) startLocal(ctx context.Context, dsn string, queue bool) error {
	dir, err := os.MkdirTemp("", "belfry-accept-")
	if err != nil {
		return err
	}
	s.close = append(s.close, func() error { return os.RemoveAll(dir) })
	binary := filepath.Join(dir, "local")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/belfry-dev/belfry/cmd/local").CombinedOutput(); err != nil {
		return fmt.Errorf("build cmd/local: %w\n%s", err, out)
	}
	args := []string{"-addr", "127.0.0.1:0", "-data", filepath.Join(dir, "belfry.db")}
	if dsn != "" {
		args = append(args, "-database-url", dsn)
	}
	env := settings
	if queue {
		for _, p := range []string{"critical", "default", "bulk"} {
			env = append(env, "BELFRY_QUEUE_"+strings.ToUpper(p)+"_URL=mem://"+p)
		}
	}
	c, err := startChild(ctx, binary, args, env)
	if err != nil {
		return err
	}
	s.children, s.url = append(s.children, c), c.url
	return nil
}

// startRoles starts api, tick and worker, a process each, over a queue of the kind and on PostgreSQL.
func (s *server) startRoles(ctx context.Context, dsn, kind string) error {
	queue, err := queues.Install(ctx, kind)
	if err != nil {
		return err
	}
	s.queue = queue
	s.close = append(s.close, queue.Server.Close)
	if dsn == "" {
		db, err := pgserver.Start(ctx, pgserver.Options{})
		if err != nil {
			return err
		}
		s.close = append(s.close, db.Close)
		dsn = db.URL()
	}
	if err := postgres.Migrate(ctx, dsn); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	env := append(append([]string{"BELFRY_DATABASE_URL=" + dsn, "BELFRY_ADDR=127.0.0.1:0"}, settings...), queue.Environment()...)
	if kind == queues.SQS {
		env = append(env, "BELFRY_WINDOW=100") // moto is slow where a queue holds many
	}
	for _, role := range []string{"api", "tick", "worker"} {
		c, err := startChild(ctx, self, []string{"serve", role}, env)
		if err != nil {
			return fmt.Errorf("%s: %w", role, err)
		}
		s.children = append(s.children, c)
		if role == "api" {
			s.url = c.url
		}
	}
	return nil
}

func (s *server) ready(ctx context.Context) error {
	for range 200 {
		if resp, err := http.Get(s.url + "/readyz"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("%s is not ready after 10 s", s.url)
}

// stop ends the children as Ctrl-C would, looks at what is left in the queues, and takes down what was started. A message
// of ours that became a dead letter is an error: they are for messages that nobody can read.
func (s *server) stop(ctx context.Context) (err error) {
	start := time.Now()
	for _, c := range s.children {
		c.interrupt()
	}
	for _, c := range s.children {
		err = errors.Join(err, c.wait())
	}
	fmt.Printf("server stopped in %s\n", time.Since(start).Round(time.Millisecond))
	if s.queue != nil && ctx.Err() == nil {
		err = errors.Join(err, s.countLeft(ctx))
	}
	for i := len(s.close) - 1; i >= 0; i-- {
		err = errors.Join(err, s.close[i]())
	}
	return err
}

func (s *server) countLeft(ctx context.Context) error {
	left, dead, err := s.queue.Left(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%d messages are left in the queues, %d became dead letters\n", left, dead)
	if dead > 0 {
		return fmt.Errorf("%d messages became dead letters", dead)
	}
	return nil
}
