package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// server is cmd/local as a child process.
type server struct {
	cmd *exec.Cmd
	url string
	dir string
}

// startServer builds cmd/local and starts it on a free port with its data in a temporary directory, or on
// the PostgreSQL database that dsn names. It returns once the server is ready.
func startServer(ctx context.Context, dsn string, queue bool) (*server, error) {
	dir, err := os.MkdirTemp("", "belfry-accept-")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir}
	binary := filepath.Join(dir, "local")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/belfry-dev/belfry/cmd/local").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build cmd/local: %w\n%s", err, out)
	}
	args := []string{"-addr", "127.0.0.1:0", "-data", filepath.Join(dir, "belfry.db")}
	if dsn != "" {
		args = append(args, "-database-url", dsn)
	}
	s.cmd = exec.CommandContext(ctx, binary, args...)
	s.cmd.Env = append(os.Environ(), "BELFRY_HEARTBEAT=2s", "BELFRY_LOG_LEVEL=warn", "BELFRY_API_RATE=0")
	if queue {
		for _, p := range []string{"critical", "default", "bulk"} {
			s.cmd.Env = append(s.cmd.Env, "BELFRY_QUEUE_"+strings.ToUpper(p)+"_URL=mem://"+p)
		}
	}
	s.cmd.Stderr = os.Stderr
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) }
	s.cmd.WaitDelay = 10 * time.Second
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, after, found := strings.Cut(lines.Text(), "http://"); found && s.url == "" {
			s.url = "http://" + strings.TrimSuffix(strings.FieldsFunc(after, func(r rune) bool { return r == ' ' || r == '/' })[0], "/")
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if s.url == "" {
		s.stop()
		return nil, fmt.Errorf("cmd/local ended before it printed its URL")
	}
	return s, s.ready(ctx)
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

// stop ends the child as Ctrl-C would, and says how long that took.
func (s *server) stop() time.Duration {
	start := time.Now()
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	_ = s.cmd.Wait()
	took := time.Since(start)
	_ = os.RemoveAll(s.dir)
	return took
}
