package cloudrun

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestBodiesThatNeverCome: whoever sends no whole body is let go, whether or not anything reads it.
func TestBodiesThatNeverCome(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /read", func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); w.WriteHeader(400) })
	mux.HandleFunc("POST /refused", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(401)
	})
	server := httptest.NewServer(withBodyTime(withHealth(mux), 50*time.Millisecond))
	defer server.Close()
	for request, want := range map[string]int{"POST /read": 400, "POST /refused": 401, "GET /nothing": 404, "GET " + HealthPath: 200} {
		for _, body := range []string{"Content-Length: 100\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"} {
			conn, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil { // far more than a loaded machine takes
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: x\r\n%s", request, body)
			text := bufio.NewReader(conn)
			answer, err := http.ReadResponse(text, nil)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s: %v", request, answer)
			} else if _, err := io.Copy(io.Discard, text); err != nil {
				t.Errorf("%s: the connection is still held: %v", request, err)
			}
			_ = conn.Close()
		}
	}
}

// TestBodyTimeEndsWithTheBody: a request that is worked on for longer than its body may take is not cut off.
func TestBodyTimeEndsWithTheBody(t *testing.T) {
	const most = 50 * time.Millisecond
	server := httptest.NewServer(withBodyTime(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done():
			w.WriteHeader(500)
		case <-time.After(4 * most):
			w.WriteHeader(204)
		}
	}), most))
	defer server.Close()
	answer, err := http.Post(server.URL, "text/plain", strings.NewReader("abc"))
	if err != nil || answer.StatusCode != 204 {
		t.Fatalf("%v, %v", answer, err)
	}
	_ = answer.Body.Close()
}

// TestDrainComesFirst: a service that is told to end says so, and answers until its delay is over, which leaves the rest of
// what Cloud Run gives for requests to end.
func TestDrainComesFirst(t *testing.T) {
	if rest := StopTime - finishTime - MaxDelay; rest < MaxGrace {
		t.Errorf("after the longest delay requests have %s", rest)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var draining, stopped atomic.Bool
	s := &Service{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if draining.Load() {
				w.WriteHeader(http.StatusAccepted)
			}
		}),
		Drain: func() { draining.Store(true) }, Delay: 2 * time.Second, Stop: func() { stopped.Store(true) },
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.run(ctx, listener, slog.New(slog.DiscardHandler)) }()
	get := func() int {
		t.Helper()
		response, err := http.Get("http://" + listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	if code := get(); code != http.StatusOK {
		t.Errorf("before: %d", code)
	}
	cancel()
	for get() != http.StatusAccepted {
	}
	if stopped.Load() {
		t.Error("requests that wait were ended before the delay was over")
	}
	if err := <-ended; err != nil || !stopped.Load() {
		t.Errorf("ended with %v, stopped %t", err, stopped.Load())
	}
}
