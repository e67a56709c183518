package webhook

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

// hangUp answers after reading the header, and closes the connection without reading the rest of the request, so that the
// sender's next write is reset.
func hangUp(answer string, read int64) func(net.Conn) {
	return func(conn net.Conn) {
		in := bufio.NewReader(conn)
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		_, _ = io.CopyN(io.Discard, in, read)
		_, _ = io.WriteString(conn, answer)
	}
}

// A receiver that answers before it has read all of a large body, and then closes the connection, has answered. Each
// delivery takes one attempt, and any answer counts.
func TestEarlyAnswerIsBelieved(t *testing.T) {
	large, err := json.Marshal(string(bytes.Repeat([]byte("x"), core.MaxPayloadBytes-2)))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		answer string
		read   int64
		done   bool
		result string
	}{
		"200 at once":               {"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{\"n\": 1}", 0, true, `{"n": 1}`},
		"200 after a part":          {"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{\"n\": 1}", 100_000, true, `{"n": 1}`},
		"204 and Connection: close": {"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", 0, true, ""},
		"413":                       {"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", 0, false, ""},
		"HTTP/1.0":                  {"HTTP/1.0 204 No Content\r\n\r\n", 70_000, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWebhook(t, Options{Guard: loopback(t)})
			url := "http://" + listen(t, hangUp(c.answer, c.read))
			for i := range int64(50) {
				result, err := w.Work(t.Context(), &core.Job{ID: 1 + i, Payload: large, Target: targetOf(url), Attempts: 1, MaxAttempts: 5})
				if c.done && (err != nil || string(result) != c.result) || !c.done && !core.IsPermanent(err) {
					t.Errorf("delivery %d: %s, %v", i, result, err)
				}
			}
		})
	}
}

// A receiver that hangs up without an answer has not answered.
func TestHangingUpIsNoAnswer(t *testing.T) {
	w := newWebhook(t, Options{Guard: loopback(t)})
	url := "http://" + listen(t, hangUp("", 0))
	payload := fmt.Appendf(nil, "%q", bytes.Repeat([]byte("x"), 500_000))
	_, err := w.Work(t.Context(), &core.Job{ID: 1, Payload: payload, Target: targetOf(url), Attempts: 1, MaxAttempts: 5})
	if err == nil || core.IsPermanent(err) {
		t.Errorf("%v", err)
	}
}

// The same over TLS, with HTTP/1.1 and HTTP/2, and with a Go server, which hangs up once 256 KiB are unread.
func TestEarlyAnswerOverTLSIsBelieved(t *testing.T) {
	large, err := json.Marshal(string(bytes.Repeat([]byte("x"), core.MaxPayloadBytes-2)))
	if err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]struct{ tls, http2 bool }{"plain": {}, "HTTP/1.1 over TLS": {tls: true}, "HTTP/2": {tls: true, http2: true}} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if (r.ProtoMajor == 2) != kind.http2 {
					t.Errorf("came by %s", r.Proto)
				}
				_, _ = io.WriteString(w, `{"n": 1}`) // without reading the body
			}))
			server.EnableHTTP2 = kind.http2
			opts := Options{Guard: loopback(t)}
			if kind.tls {
				server.StartTLS()
				roots := x509.NewCertPool()
				roots.AddCert(server.Certificate())
				opts.TLS = &tls.Config{RootCAs: roots}
			} else {
				server.Start()
			}
			t.Cleanup(server.Close)
			w := newWebhook(t, opts)
			for i := range int64(50) {
				result, err := w.Work(t.Context(), &core.Job{ID: 1 + i, Payload: large, Target: targetOf(server.URL), Attempts: 1, MaxAttempts: 5})
				if err != nil || string(result) != `{"n": 1}` {
					t.Errorf("delivery %d: %s, %v", i, result, err)
				}
			}
		})
	}
}
