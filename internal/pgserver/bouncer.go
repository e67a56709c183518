package pgserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrNoBouncer says that this machine has no PgBouncer.
var ErrNoBouncer = errors.New("pgserver: pgbouncer not found on PATH or in /usr/sbin")

// Bouncer is a PgBouncer in transaction mode on a free port of 127.0.0.1. It
// ends, and its folder goes, at Close or when this process dies.
type Bouncer struct {
	address url.URL
	dir     string
	cmd     *exec.Cmd
	exited  chan struct{}
	guard   *guard
}

// StartBouncer starts a PgBouncer before the server of a database URL, for any
// database there, and returns once it passes a query on. It returns
// ErrNoBouncer when the program is not there.
func StartBouncer(ctx context.Context, databaseURL string) (*Bouncer, error) {
	program, err := findBouncer()
	if err != nil {
		return nil, err
	}
	target, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, fmt.Errorf("pgserver: bouncer: %w", err)
	}
	as, err := findAccount()
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	dir, err := tempDir(as)
	if err != nil {
		return nil, err
	}
	b := &Bouncer{dir: dir, address: bouncerAddress(target, port)}
	if err := b.configure(as, target, port); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	b.guard, err = watch(as, dir, "/bin/sh", "-c", `kill -KILL "$(cat pid)"`)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := b.run(ctx, program, as); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// URL is the address of the same database, through PgBouncer.
func (b *Bouncer) URL() string { return b.address.String() }

// Close ends PgBouncer and removes its folder.
func (b *Bouncer) Close() error {
	if b.cmd != nil {
		if err := b.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("pgserver: bouncer: %w", err)
		}
		<-b.exited
	}
	return b.guard.release()
}

// run starts the program and waits until it serves.
func (b *Bouncer) run(ctx context.Context, program string, as account) error {
	cmd := exec.Command(program, "-q", filepath.Join(b.dir, "pgbouncer.ini"))
	cmd.Dir = b.dir
	cmd.SysProcAttr = as.attributes()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("pgserver: bouncer: %w", err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait()       // how it ended is in its log
		runtime.KeepAlive(b) // a guard that is collected ends its server
	}()
	b.cmd, b.exited = cmd, exited

	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := awaitAnswer(ctx, b.URL(), exited); err != nil {
		return fmt.Errorf("pgserver: bouncer: %w: %s", err, tail(filepath.Join(b.dir, "pgbouncer.log")))
	}
	return nil
}

// configure writes PgBouncer's two files. Its defaults hold where nothing is
// said, so that what fails behind a plain PgBouncer fails here.
func (b *Bouncer) configure(as account, target *pgx.ConnConfig, port int) error {
	auth := "scram-sha-256"
	if target.Password == "" {
		auth = "trust"
	}
	ini := fmt.Sprintf(`[databases]
* = host=%s port=%d
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = %s
auth_file = %s
pool_mode = transaction
max_client_conn = 500
logfile = %s
pidfile = %s
`, target.Host, target.Port, port, auth, filepath.Join(b.dir, "users.txt"), filepath.Join(b.dir, "pgbouncer.log"), filepath.Join(b.dir, "pid"))
	users := fmt.Sprintf("%s %s\n", quoted(target.User), quoted(target.Password))
	for name, text := range map[string]string{"pgbouncer.ini": ini, "users.txt": users} {
		path := filepath.Join(b.dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return fmt.Errorf("pgserver: bouncer: %w", err)
		}
		if err := as.own(path); err != nil {
			return fmt.Errorf("pgserver: bouncer: %w", err)
		}
	}
	return nil
}

// quoted is a text as PgBouncer's user file wants it.
func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

func bouncerAddress(target *pgx.ConnConfig, port int) url.URL {
	return url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(target.User, target.Password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		Path:     "/" + target.Database,
		RawQuery: "sslmode=disable",
	}
}

// findBouncer returns the program, which Debian keeps in a folder that only
// root has on PATH.
func findBouncer() (string, error) {
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer", "/opt/homebrew/bin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNoBouncer
}
