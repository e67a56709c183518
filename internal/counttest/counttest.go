// Package counttest counts what a stack of functions does that a cloud bills, and keeps the counts in a file that
// infra/cost reads. It is for tests that run the functions under emulators.
package counttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Counts are what was counted in one run. A name says what of which part, such as "tick.invocations" or "sqs.SendMessage".
type Counts map[string]float64

// Proxy stands before an emulator of AWS and counts calls by their operation.
type Proxy struct {
	URL string

	mu    sync.Mutex
	calls map[string]int
}

// NewProxy starts a proxy before the emulator at address, until the test ends.
func NewProxy(t testing.TB, address string) *Proxy {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{calls: map[string]int{}}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		p.mu.Lock()
		p.calls[operation]++
		p.mu.Unlock()
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.URL = server.URL
	return p
}

// Take returns the calls since the last Take, by operation.
func (p *Proxy) Take() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	calls := p.calls
	p.calls = map[string]int{}
	return calls
}

// transactions is how many transactions the database has ended, by its own statistics, without those of this call.
func transactions(ctx context.Context, address string) (n float64, err error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return 0, err
	}
	name := config.Database
	config.Database = "postgres" // so that the question is not counted
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	err = conn.QueryRow(ctx, "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = $1", name).Scan(&n)
	return n, err
}

// Keep writes the counts of one run into the file, beside those of the others.
func Keep(file, run string, counts Counts) error {
	all := map[string]Counts{}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("counts: %w", err)
	}
	all[run] = counts
	if text, err = json.MarshalIndent(all, "", "  "); err != nil {
		return fmt.Errorf("counts: %w", err)
	}
	return os.WriteFile(file, append(text, '\n'), 0o600)
}
