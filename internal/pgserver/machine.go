package pgserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
)

// tempDir makes a server's folder and gives it to the account.
func tempDir(as account) (string, error) {
	dir, err := os.MkdirTemp("", "belfry-postgres-")
	if err != nil {
		return "", fmt.Errorf("pgserver: %w", err)
	}
	if err := as.own(dir); err != nil {
		return "", errors.Join(fmt.Errorf("pgserver: %w", err), os.RemoveAll(dir))
	}
	return dir, nil
}

// freePort returns a port of 127.0.0.1 that nothing listens on.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("pgserver: free port: %w", err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		return 0, fmt.Errorf("pgserver: free port: %w", err)
	}
	return port, nil
}

// awaitAnswer returns nil once the address answers a query, and an error when
// the process behind it has exited or ctx ends first.
func awaitAnswer(ctx context.Context, address string, exited <-chan struct{}) error {
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		err := ping(ctx, address)
		if err == nil {
			return nil
		}
		select {
		case <-exited:
			return fmt.Errorf("the process ended: %w", err)
		case <-ctx.Done():
			return fmt.Errorf("no answer: %w", err)
		case <-poll.C:
		}
	}
}

// ping connects and sends one empty query, without a prepared statement.
func ping(ctx context.Context, address string) (err error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	return conn.Ping(ctx)
}

// tail is the end of a log file, for error texts.
func tail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	const most = 2000
	return string(bytes.TrimSpace(text[max(0, len(text)-most):]))
}
