// Package nodetest runs all of Belfry inside a test: API, tick and workers on a SQLite file of the test's own.
package nodetest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"testing"

	"github.com/belfry-dev/belfry/adapters/local"
	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host/node"
	"github.com/belfry-dev/belfry/functions/worker"
)

// Start runs the roles ("all", "api", …) with the tryout handlers until the test ends and returns the API's address. It follows
// the settings of the environment; of queues those in memory.
func Start(t testing.TB, roles string) string {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return StartOn(t, roles, store)
}

// StartOn is Start on a store, which it closes at the end.
func StartOn(t testing.TB, roles string, store core.Store) string {
	t.Helper()
	address, stop, err := Run(roles, store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return address
}

// Run is StartOn for examples, which have no test: stop ends the roles and closes the store.
func Run(roles string, store core.Store) (address string, stop func() error, err error) {
	parsed, err := node.ParseRoles(roles)
	if err != nil {
		return "", nil, err
	}
	settings, err := boot.ReadSettings()
	if err != nil {
		return "", nil, err
	}
	settings.StopGrace = 0
	queue, err := settings.OpenQueues(func(urls map[core.Priority]string) (core.Queue, error) { return local.Open(urls) })
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		cancel()
		return "", nil, err
	}
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- node.Run(ctx, node.Parts{
			Settings: settings, Roles: parsed, Store: store, Queue: queue, Handlers: worker.Tryout(), Listener: listener, Version: "test",
			Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Ready: func() { close(ready) },
		})
	}()
	stop = func() error {
		cancel()
		return errors.Join(<-ended, store.Close())
	}
	select {
	case <-ready:
		return "http://" + listener.Addr().String(), stop, nil
	case err := <-ended:
		cancel()
		return "", nil, errors.Join(err, store.Close())
	}
}
