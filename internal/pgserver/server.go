package pgserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// StopMode is how a server ends, in PostgreSQL's own words.
type StopMode string

const (
	// Fast rolls back open transactions, writes a checkpoint and ends.
	Fast StopMode = "fast"
	// Immediate ends every process at once, as a crash does; the next start recovers from the log.
	Immediate StopMode = "immediate"
)

// Options of a server. The zero value is a server for tests.
type Options struct {
	// Durable keeps fsync and full_page_writes on, so that what is committed
	// survives the machine and costs are those of production. Zero means off:
	// faster, and still safe against the end of any process.
	Durable bool
	// Settings are further server settings, which win over the package's own.
	// Zero means none.
	Settings map[string]string
	// Environment is added to the server's environment. Zero means nothing.
	Environment []string
	// StartTimeout bounds one start, recovery included. Zero means 60 s.
	StartTimeout time.Duration
}

// Server is a PostgreSQL server with a temporary folder of its own, on a free
// port of 127.0.0.1. It ends, and its folder goes, at Close or when this
// process dies. Its methods may be called from several goroutines.
type Server struct {
	opts     Options
	programs string
	dir      string
	as       account
	password string
	port     int
	guard    *guard

	mu     sync.Mutex
	cmd    *exec.Cmd     // nil while stopped
	exited chan struct{} // closed when cmd has been waited for
}

// Start makes a new, empty server and starts it. It returns ErrNotInstalled
// when the programs are not there.
func Start(ctx context.Context, opts Options) (*Server, error) {
	if opts.StartTimeout == 0 {
		opts.StartTimeout = 60 * time.Second
	}
	programs, err := FindPrograms()
	if err != nil {
		return nil, err
	}
	as, err := findAccount()
	if err != nil {
		return nil, err
	}
	dir, err := tempDir(as)
	if err != nil {
		return nil, err
	}
	s := &Server{opts: opts, programs: programs, dir: dir, as: as, password: rand.Text()}
	s.guard, err = watch(as, dir, filepath.Join(programs, "pg_ctl"), "stop", "-m", "immediate", "-w", "-D", s.data())
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.create(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// create fills the data folder and starts the server on a port that is free.
func (s *Server) create(ctx context.Context) error {
	if err := s.initialise(ctx); err != nil {
		return err
	}
	var err error
	for range 3 { // another process may take the port between the look and the start
		if s.port, err = freePort(); err != nil {
			return err
		}
		if err = s.Start(ctx); err == nil {
			return nil
		}
	}
	return err
}

// initialise runs initdb.
func (s *Server) initialise(ctx context.Context) error {
	secret := filepath.Join(s.dir, "password")
	if err := os.WriteFile(secret, []byte(s.password), 0o600); err != nil {
		return fmt.Errorf("pgserver: %w", err)
	}
	if err := s.as.own(secret); err != nil {
		return fmt.Errorf("pgserver: %w", err)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(s.programs, "initdb"), "-D", s.data(), "-U", "postgres",
		"-A", "scram-sha-256", "--pwfile", secret, "-E", "UTF8", "--locale=C", "--no-sync")
	cmd.Dir = s.dir
	cmd.SysProcAttr = s.as.attributes()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pgserver: initdb: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// Start starts a server that was stopped, on the same port with the same data,
// and returns once it answers. On a server that runs it does nothing.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd != nil {
		return nil
	}
	log, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("pgserver: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(s.programs, "postgres"), s.arguments()...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = s.as.attributes()
	cmd.Stdout, cmd.Stderr = log, log
	if len(s.opts.Environment) > 0 {
		cmd.Env = append(os.Environ(), s.opts.Environment...)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("pgserver: %w", err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait()       // how it ended is in its log
		runtime.KeepAlive(s) // a guard that is collected ends its server
	}()
	s.cmd, s.exited = cmd, exited
	if err := s.awaitReady(ctx); err != nil {
		return errors.Join(err, s.stop(Immediate))
	}
	return nil
}

// Stop ends the server and returns when its last process has gone. On a
// stopped server it does nothing.
func (s *Server) Stop(mode StopMode) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stop(mode)
}

func (s *Server) stop(mode StopMode) error {
	if s.cmd == nil {
		return nil
	}
	signal := syscall.SIGINT
	if mode == Immediate {
		signal = syscall.SIGQUIT
	}
	if err := s.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("pgserver: stop: %w", err)
	}
	<-s.exited
	s.cmd, s.exited = nil, nil
	return nil
}

// Restart stops the server in the given mode and starts it again.
func (s *Server) Restart(ctx context.Context, mode StopMode) error {
	if err := s.Stop(mode); err != nil {
		return err
	}
	return s.Start(ctx)
}

// Close stops the server and removes its folder. The server cannot be used again.
func (s *Server) Close() error {
	return errors.Join(s.Stop(Immediate), s.guard.release())
}

// URL is the address of the server's database postgres, as its superuser.
// It stays the same over restarts.
func (s *Server) URL() string {
	address := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword("postgres", s.password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)),
		Path:     "/postgres",
		RawQuery: "sslmode=disable",
	}
	return address.String()
}

// arguments are the settings the server is started with.
func (s *Server) arguments() []string {
	settings := map[string]string{
		"listen_addresses":        "127.0.0.1",
		"port":                    strconv.Itoa(s.port),
		"unix_socket_directories": "",
		"max_connections":         "200",
		"shared_buffers":          "128MB",
		"log_checkpoints":         "off",
	}
	if !s.opts.Durable {
		settings["fsync"] = "off"
		settings["full_page_writes"] = "off"
	}
	for name, value := range s.opts.Settings {
		settings[name] = value
	}
	args := []string{"-D", s.data()}
	for name, value := range settings {
		args = append(args, "--"+name+"="+value)
	}
	sort.Strings(args[2:])
	return args
}

// awaitReady returns nil once the server answers.
func (s *Server) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.StartTimeout)
	defer cancel()
	if err := awaitAnswer(ctx, s.URL(), s.exited); err != nil {
		return fmt.Errorf("pgserver: start: %w: %s", err, tail(s.logFile()))
	}
	return nil
}

func (s *Server) data() string    { return filepath.Join(s.dir, "data") }
func (s *Server) logFile() string { return filepath.Join(s.dir, "postgres.log") }
