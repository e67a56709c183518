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
