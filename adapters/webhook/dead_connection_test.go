package webhook

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// An HTTP/2 connection that a firewall has dropped loses everything sent over it. Deliveries soon use another one.
func TestSilentConnectionIsLeft(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			w.WriteHeader(http.StatusHTTPVersionNotSupported)
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	var connections atomic.Int64
	var swallow atomic.Bool // drop what the first connection carries
	guard := loopback(t)
	connect := guard.connect
	guard.connect = func(ctx context.Context, network, address string, trusted bool) (net.Conn, error) {
		conn, err := connect(ctx, network, address, trusted)
		if err == nil && connections.Add(1) == 1 {
			conn = &swallowing{conn, &swallow}
		}
		return conn, err
	}
	w := newWebhook(t, Options{
		Guard: guard, TLS: server.Client().Transport.(*http.Transport).TLSClientConfig, Breaker: BreakerOptions{Failures: 1000},
		Limits: Limits{Silence: 100 * time.Millisecond, Answer: 100 * time.Millisecond},
	})
	deliver := func() error {
		_, err := w.Work(t.Context(), &core.Job{ID: 1, Target: targetOf(server.URL + "/")})
		return err
	}
	if err := deliver(); err != nil {
		t.Fatal(err)
	}
	swallow.Store(true)
	for deadline := time.Now().Add(patience); connections.Load() == 1; {
		if err := deliver(); err == nil && connections.Load() == 1 {
			t.Fatal("delivered over a connection that swallows everything")
		}
		if time.Now().After(deadline) {
			t.Fatal("deliveries go on being lost on a dead connection")
		}
	}
	if err := deliver(); err != nil {
		t.Errorf("over a new connection: %v", err)
	}
}

// swallowing is a connection that drops everything sent over it, once swallow is set.
type swallowing struct {
	net.Conn
	on *atomic.Bool
}

func (c *swallowing) Write(p []byte) (int, error) {
	if c.on.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}
