package webhook

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// testSecret is a signing secret of 32 bytes.
var testSecret = secretOf(bytes.Repeat([]byte("s"), 32))

func secretOf(key []byte) string { return "whsec_" + base64.StdEncoding.EncodeToString(key) }

// targetOf returns the target document of a URL.
func targetOf(raw string) json.RawMessage {
	doc, err := json.Marshal(map[string]string{"url": raw})
	if err != nil {
		panic(err)
	}
	return doc
}

// loopback allows this machine, where the tests' receivers listen. So even with a broken guard no test connects elsewhere.
func loopback(t testing.TB) *Guard {
	g := newGuard(t, GuardOptions{Allow: []string{"127.0.0.0/8"}})
	connect := g.connect
	g.connect = func(ctx context.Context, network, address string, trusted bool) (net.Conn, error) {
		if !strings.HasPrefix(address, "127.") {
			return nil, errors.New("tests connect to loopback only")
		}
		return connect(ctx, network, address, trusted)
	}
	return g
}

// newWebhook is New with the options that every test needs.
func newWebhook(t testing.TB, opts Options) *Webhook {
	t.Helper()
	if opts.Secrets == nil {
		opts.Secrets = []string{testSecret}
	}
	if opts.LeaseKeys == nil {
		opts.LeaseKeys = [][]byte{bytes.Repeat([]byte("k"), 32)}
	}
	w, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// seen is one request as the receiver got it.
type seen struct {
	method, path, from string
	proto              int // HTTP/1 or 2
	header             http.Header
	body               []byte
}

// receiver is a target that keeps its requests.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	got  []seen
	news int // connections
}

func newReceiver(t testing.TB, handle http.HandlerFunc) *receiver {
	r := startReceiver(t, handle)
	r.Start()
	return r
}

// startReceiver makes the server. The caller starts it, with or without TLS.
func startReceiver(t testing.TB, handle http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.got = append(r.got, seen{req.Method, req.URL.RequestURI(), req.RemoteAddr, req.ProtoMajor, req.Header.Clone(), body})
		r.mu.Unlock()
		handle(w, req)
	}))
	r.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			r.mu.Lock()
			r.news++
			r.mu.Unlock()
		}
	}
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) hits() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.got)
}

func (r *receiver) connections() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.news
}

func (r *receiver) request(i int) seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got[i]
}

func (r *receiver) address() string { return r.Listener.Addr().String() }

func (r *receiver) port(t testing.TB) int {
	u, err := url.Parse(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// jobFor returns a job on its first attempt.
func jobFor(r *receiver) *core.Job {
	return &core.Job{
		ID: 42, Type: "hook", Payload: json.RawMessage(`{"n":1e5}`), RunAt: time.Date(2026, 3, 4, 5, 6, 7, 89_000, time.UTC),
		Attempts: 1, MaxAttempts: 5, LeaseToken: 7, Target: targetOf(r.URL + "/in?q=1"),
	}
}
