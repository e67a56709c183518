package api_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/functions/api"
)

// A caller that asks and does not read kept its answers in memory, and its connection open, for as long as it liked.
func TestCallerThatDoesNotReadIsLeft(t *testing.T) {
	b := newBench(t, func(o *api.Options) { o.Limits.TakeTime = 200 * time.Millisecond })
	large := b.submit(`{"type":"echo","delay":"1h","payload":"` + strings.Repeat("x", 100_000) + `"}`)
	closed := make(chan struct{}, 1)
	server := httptest.NewUnstartedServer(b.api)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	ask := fmt.Sprintf("GET /v1/jobs/%s HTTP/1.1\r\nHost: localhost\r\n\r\n", large.ID)
	if _, err := fmt.Fprint(conn, strings.Repeat(ask, 300)); err != nil { // 30 MB of answers: more than sockets hold
		t.Fatal(err)
	}
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Fatal("the connection stands, and the answer with it")
	}
}
