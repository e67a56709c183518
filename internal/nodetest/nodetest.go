// Package nodetest runs all of Belfry inside a test: API, tick and workers on a SQLite file of the test's own.
package nodetest

import (
	"context"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"testing"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/worker"
	"github.com/belfry-dev/belfry/internal/node"
)

// Start runs the roles ("all", "api", …) with the tryout handlers until the test ends and returns the API's address.
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
	parsed, err := node.ParseRoles(roles)
	if err != nil {
		t.Fatal(err)
	}
	settings, err := boot.ReadSettings()
	if err != nil {
		t.Fatal(err)
	}
	settings.StopGrace = 0
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- node.Run(ctx, node.Parts{
			Settings: settings, Roles: parsed, Store: store, Handlers: worker.Tryout(), Listener: listener, Version: "test",
			Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Ready: func() { close(ready) },
		})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- err
		t.Fatal(err)
	}
	return "http://" + listener.Addr().String()
}
