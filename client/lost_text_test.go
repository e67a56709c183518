package client_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/client"
)

// The error without an answer names the host and the cause, without the words of Go's packages.
func TestLostAnswersSayWhichHost(t *testing.T) {
	closed, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/hang/v1/stats") {
			<-release
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		switch {
		case strings.HasPrefix(r.URL.Path, "/half/"):
			_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"))
		case strings.HasPrefix(r.URL.Path, "/mail/"):
			_, _ = conn.Write([]byte("220 mail.example ESMTP\r\n"))
		}
		_ = conn.Close()
	}))
	t.Cleanup(func() { close(release); server.Close() })
	for _, row := range []struct{ address, says string }{
		{"http://" + nobody, "GET /v1/stats: no connection to " + nobody + ": connection refused"},
		{"http://localhost:" + strings.Split(nobody, ":")[1], "no connection to localhost:" + strings.Split(nobody, ":")[1] + " ("},
		{"http://nosuch.invalid", "no connection to nosuch.invalid: "},
		{server.URL + "/close", "the connection was closed before the answer came"},
		{server.URL + "/half", "the answer ends too early"},
		{server.URL + "/mail", "malformed HTTP"},
		{server.URL + "/hang", "no answer in time"},
		{strings.Replace(server.URL, "http:", "https:", 1), "is http:// meant?"},
	} {
		c, err := client.New(row.address, client.Options{Retry: client.Retry{Tries: 1, Timeout: 2 * time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Stats(t.Context())
		if err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, want %q", row.address, err, row.says)
			continue
		}
		for _, inside := range []string{"dial tcp", "connect:", "lookup", "net/http", "context", "syscall", "tls:", "0x"} {
			if strings.Contains(err.Error(), inside) {
				t.Errorf("%s: %q speaks of the inside: %s", row.address, err, inside)
			}
		}
	}
}
