package node_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// A caller that does not read its answer uses up the time for requests to end; the stop is a good one all the same.
func TestSlowReaderSpoilsNoStop(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	address, stop, err := nodetest.Run("all", store)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 { // a page of 4 MiB: more than the sockets of a caller that takes little hold
		response, err := http.Post(address+"/v1/jobs", "application/json", strings.NewReader(`{"type":"later","delay":"1h","payload":"`+strings.Repeat("x", 1_000_000)+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprint(conn, "GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil { // the answer is on its way
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Errorf("stopped with %v", err)
	}
}

// TestStopBeginsWithReadiness: once it is told to stop the API says that it is not ready, so that load balancers send
// requests elsewhere, and answers all that come until the delay is over; each answer ends its connection.
func TestStopBeginsWithReadiness(t *testing.T) {
	t.Setenv("BELFRY_STOP_DELAY", "3s")
	t.Setenv("BELFRY_KEEP_ALIVE", "90s")
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	address, stop, err := nodetest.Run("all", store)
	if err != nil {
		t.Fatal(err)
	}
	type answer struct {
		status int
		header http.Header
		last   bool // the connection ends with it
	}
	call := func(method, path, body string) answer {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, address+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, response.Body)
		return answer{response.StatusCode, response.Header, response.Close}
	}
	if before := call("GET", "/readyz", ""); before.status != http.StatusOK || before.header.Get("Keep-Alive") != "timeout=90" || before.last {
		t.Errorf("before the stop: %d, %v", before.status, before.header)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	answered := 0
	for ready := true; ready; answered++ {
		ready = call("GET", "/readyz", "").status == http.StatusOK
	}
	for range 3 {
		job := call("POST", "/v1/jobs", `{"type":"later","delay":"1h"}`)
		if job.status != http.StatusCreated || !job.last {
			t.Errorf("while it stops: %d, the connection ends: %t", job.status, job.last)
		}
	}
	if alive := call("GET", "/healthz", ""); alive.status != http.StatusOK {
		t.Errorf("it is alive: %d", alive.status)
	}
	if err := <-stopped; err != nil {
		t.Errorf("stopped with %v", err)
	}
	if conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://")); err == nil {
		_ = conn.Close()
		t.Error("it still listens")
	}
}
