package postgres_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
)

// Every way to the database names the host and the cause of a failed connection, without a text of Go's packages.
func TestConnectionFaultsNameTheHost(t *testing.T) {
	without := must(url.Parse(migrated(t))) // a server without TLS
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	web := server.Listener.Addr().String()
	deaf := must(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))
	closer := must(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))
	go func() {
		for {
			conn, err := closer.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _, _ = closer.Close(), deaf.Close() })
	silent := deaf.Addr().String() // takes connections and never answers
	for _, row := range []struct{ dsn, says string }{
		{"postgres://u:canary@127.0.0.1:1/x", "no connection to 127.0.0.1:1: connection refused; is PostgreSQL running there?"},
		{"postgres://u:canary@nohost.invalid/x", "no connection to nohost.invalid:5432: "},
		{"postgres://u:canary@" + web + "/x?connect_timeout=2", "no connection to " + web + ": "},
		{"postgres://u:canary@" + web + "/x?connect_timeout=2&sslmode=require", "no connection to " + web + ": "},
		{"postgres://u:canary@" + silent + "/x?connect_timeout=1", "no connection to " + silent + ": no answer in time; is PostgreSQL running there?"},
		{"postgres://u:canary@" + silent + "/x?connect_timeout=1&sslmode=disable", "no connection to " + silent + ": no answer in time; is PostgreSQL running there?"},
		{"postgres://u:canary@" + closer.Addr().String() + "/x", "no connection to " + closer.Addr().String() + ": "},
		{"postgres://u:canary@" + without.Host + "/x?sslmode=require", "no connection to " + without.Host + ": the server has no TLS there, and sslmode asks for it"},
		{"postgres://u:canary@" + without.Host + "/x?sslmode=verify-full", "no connection to " + without.Host + ": the server has no TLS there, and sslmode asks for it"},
		{"postgres://u:canary@/x?host=/nosuch", "no connection to /nosuch"},
		{"postgres://u:canary@127.0.0.1:1,127.0.0.1:2/x", "no connection to 127.0.0.1:1, 127.0.0.1:2"},
	} {
		for act, do := range map[string]func(context.Context) error{
			"Open":     func(ctx context.Context) error { return second(postgres.Open(ctx, row.dsn, postgres.Options{})) },
			"Migrate":  func(ctx context.Context) error { return postgres.Migrate(ctx, row.dsn) },
			"Schema":   func(ctx context.Context) error { return second(postgres.Schema(ctx, row.dsn)) },
			"Diagnose": func(ctx context.Context) error { return second(postgres.Diagnose(ctx, row.dsn)) },
		} {
			t.Run(act+" "+row.dsn, func(t *testing.T) {
				t.Parallel()
				err := do(t.Context())
				if !errors.Is(err, core.ErrUnavailable) || !strings.Contains(err.Error(), row.says) {
					t.Fatalf("%v, want %q", err, row.says)
				}
				for _, inside := range []string{"dial tcp", "connect:", "lookup", "context", "syscall", "tls:", "i/o", "canary", "\n", "broke"} {
					if strings.Contains(err.Error(), inside) {
						t.Errorf("it speaks of the inside, %q: %v", inside, err)
					}
				}
			})
		}
	}
}
