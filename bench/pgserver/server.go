// Package pgserver starts a durable PostgreSQL of the benchmark's own, makes databases on a server, and reads
// what a server used.
package pgserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrNotFound means that this machine has no initdb and postgres.
var ErrNotFound = errors.New("no initdb and postgres on PATH or in /usr/lib/postgresql/*/bin")

// settings make the server durable, as a production server is, and large enough that the figures are not
// those of checkpoints.
var settings = []string{
	"fsync=on", "synchronous_commit=on", "full_page_writes=on",
	"shared_buffers=2GB", "max_wal_size=8GB", "max_connections=200",
	"listen_addresses=",
}

// Server is a PostgreSQL in a temporary directory, reached by a Unix socket there.
type Server struct {
	DSN  string
	dir  string
	proc *exec.Cmd
	done chan struct{} // closed when the process has ended
}

// Start makes a cluster and starts a server on it. As root it runs both as postgres or nobody, because
// PostgreSQL refuses to run as root. Stop must be called.
func Start(ctx context.Context) (*Server, error) {
	bin, err := findBin()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "belfry-bench-")
	if err != nil {
		return nil, fmt.Errorf("pgserver: %w", err)
	}
	s := &Server{dir: dir, DSN: fmt.Sprintf("host=%s port=5432 user=postgres dbname=postgres sslmode=disable", dir)}
	if err := s.start(ctx, bin); err != nil {
		_ = s.Stop()
		return nil, fmt.Errorf("pgserver: %w", err)
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, bin string) error {
	attr, err := unprivileged(s.dir)
	if err != nil {
		return err
	}
	data := filepath.Join(s.dir, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "--pgdata="+data, "--username=postgres",
		"--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = s.dir, attr
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	args := []string{"-D", data, "-k", s.dir, "-p", "5432"}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	s.proc = exec.Command(filepath.Join(bin, "postgres"), args...) // not bound to ctx: Stop ends it in order
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close() // the server has its own copy
	s.proc.Dir, s.proc.SysProcAttr, s.proc.Stderr = s.dir, attr, log
	if err := s.proc.Start(); err != nil {
		s.proc = nil
		return fmt.Errorf("postgres: %w", err)
	}
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		_ = s.proc.Wait()
	}()
	return s.ready(ctx)
}

// ready waits until the server answers.
func (s *Server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	retry := time.NewTicker(50 * time.Millisecond)
	defer retry.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.DSN)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("postgres does not answer: %w", err)
		case <-s.done:
			log, _ := os.ReadFile(filepath.Join(s.dir, "log")) // best effort: the state is said either way
			return fmt.Errorf("postgres ended: %s: %s", s.proc.ProcessState, log)
		case <-retry.C:
		}
	}
}

// Stop ends the server it started, waits for it and removes its directory.
func (s *Server) Stop() error {
	if s.proc != nil {
		_ = s.proc.Process.Signal(syscall.SIGINT) // fast shutdown; an error means it has ended
		select {
		case <-s.done:
		case <-time.After(20 * time.Second):
			_ = s.proc.Process.Signal(syscall.SIGQUIT) // immediate: takes its children along
			<-s.done
		}
	}
	return os.RemoveAll(s.dir)
}

// findBin returns the directory that holds initdb and postgres, the newest version first.
func findBin() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil && executable(filepath.Join(filepath.Dir(path), "postgres")) {
			return filepath.Dir(path), nil
		}
	}
	dirs, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	best, bestVersion := "", -1
	for _, dir := range dirs {
		version, err := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
		if err == nil && version > bestVersion && executable(filepath.Join(dir, "initdb")) && executable(filepath.Join(dir, "postgres")) {
			best, bestVersion = dir, version
		}
	}
	if best == "" {
		return "", ErrNotFound
	}
	return best, nil
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// unprivileged gives dir to an ordinary user when this process is root, and says how to run as that user, in
// a process group of its own so that Ctrl-C reaches the benchmark alone, which then stops the server.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() != 0 {
		return attr, nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		if account, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, os.Chown(dir, int(uid), int(gid))
}
