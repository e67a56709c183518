package postgres_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres"
)

// TestThawedConnectionsAreAsked: connections that died while the process was frozen cost nothing but a new one.
func TestThawedConnectionsAreAsked(t *testing.T) {
	address := migrated(t)
	store, err := postgres.Open(t.Context(), address, postgres.Options{PoolSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	admin := connect(t, address)
	for range 3 {
		if _, err := admin.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()", pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
		store.AfterFreeze()
		if _, err := store.Now(t.Context()); err != nil {
			t.Errorf("after a thaw: %v", err)
		}
	}
}

// TestSignedPasswordsNeedTLS: a password made for one connection never goes in the clear, not even as a second try.
func TestSignedPasswordsNeedTLS(t *testing.T) {
	for mode, taken := range map[string]bool{"disable": false, "prefer": false, "allow": false, "require": true} {
		var asked atomic.Bool // the pool asks in goroutines of its own
		password := func(context.Context) (string, error) {
			asked.Store(true)
			return "", errors.New("no credentials: role=hush https://hush@sts")
		}
		_, err := postgres.Open(t.Context(), "postgres://belfry@127.0.0.1:1/belfry?sslmode="+mode, postgres.Options{Password: password})
		if err == nil || taken != !strings.Contains(err.Error(), "TLS only") || taken != asked.Load() {
			t.Errorf("sslmode=%s: asked %v, %v", mode, asked.Load(), err)
		}
		if taken && (err == nil || !strings.Contains(err.Error(), "no credentials") || strings.Contains(err.Error(), "hush")) {
			t.Errorf("it should say why no password could be made, and no secrets: %v", err)
		}
	}
}
