package gcp

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/cloudsqlconn"
	"golang.org/x/oauth2"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// TestAStoreOnCloudSQL: jobs are submitted and claimed over connections made by the connector. Only the database's own
// password is needed, and all connections share one certificate.
func TestAStoreOnCloudSQL(t *testing.T) {
	address := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	s := newCloudSQLServer(t, "my-project:belfry")
	connector, dialed := s.connect(t, address, CloudSQLOptions{IP: "private"})
	elsewhere, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere.Host, elsewhere.RawQuery = "nowhere.invalid", "" // asks for TLS if there is any
	store, err := postgres.Open(t.Context(), elsewhere.String(), postgres.Options{PoolSize: 4, Dial: connector.Dial, ConnectTimeout: DialTimeout})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	ids, err := store.Submit(t.Context(), []core.NewJob{{Type: "echo", Payload: []byte("1"), MaxAttempts: 1, Priority: core.Default}})
	if err != nil {
		t.Fatal(err)
	}
	claimed, err := store.ClaimDue(t.Context(), core.ClaimRequest{WorkerID: "w", ClaimID: 1, Lease: time.Minute, Quotas: []core.Quota{{Priority: core.Default, Type: "echo", Limit: 1}}})
	if err != nil || len(claimed.Jobs) != 1 || claimed.Jobs[0].ID != ids[0].ID {
		t.Fatalf("claimed %v, %v", claimed, err)
	}
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() {
			if _, err := store.Now(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if settings, certificates := s.counts(); settings != 1 || certificates != 1 {
		t.Errorf("the Admin API was asked %d and %d times", settings, certificates)
	}
	if all := dialed(); len(all) == 0 || slices.Contains(all, "192.0.2.1:3307") || !slices.Contains(all, "10.1.2.3:3307") {
		t.Errorf("connected to %v", all)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, header := range s.authorized {
		if header != "Bearer for the api" {
			t.Errorf("the Admin API was asked as %q", header)
		}
	}
	if s.tokens[0] != "" {
		t.Errorf("without IAM the certificate was asked for with a token")
	}
}

// A server without the instance's certificate gets neither a password nor a job.
func TestAnotherServerThanTheInstanceIsRefused(t *testing.T) {
	s := newCloudSQLServer(t, "my-project:another")
	connector, _ := s.connect(t, "postgres://127.0.0.1:9/", CloudSQLOptions{})
	_, err := postgres.Open(t.Context(), "postgres://belfry:canary@cloudsql/belfry", postgres.Options{PoolSize: 1, Dial: connector.Dial, ConnectTimeout: DialTimeout})
	if err == nil || !strings.Contains(err.Error(), "my-project:another") || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v", err)
	}
}

func TestCloudSQLNames(t *testing.T) {
	for _, name := range []string{"", "belfry", "my-project:belfry"} {
		if _, err := OpenCloudSQL(t.Context(), name, CloudSQLOptions{}); err == nil || !strings.Contains(err.Error(), "PROJECT:REGION:INSTANCE") {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := OpenCloudSQL(t.Context(), sqlInstance, CloudSQLOptions{IP: "any"}); err == nil || !strings.Contains(err.Error(), "psc") {
		t.Errorf("any: %v", err)
	}
}

// TestCertificatesAreRenewedByWhoConnects: without connections there are no calls to Google, however long it takes. A
// connection that finds an old certificate waits for a new one. With IAM a certificate expires with the token in it.
func TestCertificatesAreRenewedByWhoConnects(t *testing.T) {
	for name, row := range map[string]struct {
		iam   bool
		token string
		fresh time.Duration // how long a certificate is used
	}{
		"password": {false, "", 56 * time.Minute},
		"IAM":      {true, "for the login", 16 * time.Minute}, // the token is valid for 20
	} {
		t.Run(name, func(t *testing.T) {
			// The connector's OpenCensus counters run outside the bubble, as long as the process.
			newCloudSQLServer(t, "outside").connect(t, "postgres://127.0.0.1:9/", CloudSQLOptions{})
			synctest.Test(t, func(t *testing.T) {
				s := newCloudSQLServer(t, "my-project:belfry")
				more := []cloudsqlconn.Option{cloudsqlconn.WithHTTPClient(&http.Client{Transport: s}), cloudsqlconn.WithDialFunc(s.pipe)}
				if row.iam {
					more = append(more, cloudsqlconn.WithIAMAuthNTokenSources(tokens("for the api"), tokens("for the login")))
				} else {
					more = append(more, cloudsqlconn.WithTokenSource(tokens("for the api")))
				}
				connector, err := openCloudSQL(t.Context(), sqlInstance, CloudSQLOptions{IAM: row.iam}, more...)
				if err != nil {
					t.Fatal(err)
				}
				defer connector.Close()
				for i, step := range []struct {
					wait time.Duration
					want int // certificates after connecting
				}{
					{0, 1}, {row.fresh - time.Second, 1}, {2 * time.Second, 2}, {72 * time.Hour, 3}, {0, 3},
				} {
					_, before := s.counts()
					time.Sleep(step.wait)
					if _, meanwhile := s.counts(); meanwhile != before {
						t.Errorf("step %d: in %s without a connection %d certificates were made", i, step.wait, meanwhile-before)
					}
					conn, err := connector.Dial(t.Context(), "tcp", "")
					if err != nil {
						t.Fatalf("step %d: %v", i, err)
					}
					conn.Close()
					if settings, certificates := s.counts(); certificates != step.want || settings != step.want {
						t.Errorf("step %d: asked for %d certificates and %d times how to connect, want %d", i, certificates, settings, step.want)
					}
				}
				for _, token := range s.tokens {
					if token != row.token {
						t.Errorf("a certificate was asked for with the token %q, want %q", token, row.token)
					}
				}
			})
		})
	}
}

// tokens returns this token, valid for 20 minutes from each request.
type tokens string

func (s tokens) Token() (*oauth2.Token, error) {
	return &oauth2.Token{AccessToken: string(s), TokenType: "Bearer", Expiry: time.Now().Add(20 * time.Minute)}, nil
}

// connect opens a connector whose connections end at the database at address. dialed returns the addresses that they were
// for.
func (s *cloudSQLServer) connect(t *testing.T, address string, opts CloudSQLOptions) (connector *CloudSQL, dialed func() []string) {
	t.Helper()
	admin := httptest.NewServer(s)
	t.Cleanup(admin.Close)
	behind, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	line := newLine(t, behind.Host)
	var mu sync.Mutex
	var all []string
	dial := func(ctx context.Context, _, to string) (net.Conn, error) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, to)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		line.done.Go(func() {
			defer listener.Close()
			if far, err := listener.Accept(); err == nil {
				s.serve(far, line)
			}
		})
		return new(net.Dialer).DialContext(ctx, "tcp", listener.Addr().String())
	}
	connector, err = openCloudSQL(t.Context(), sqlInstance, opts, cloudsqlconn.WithAdminAPIEndpoint(admin.URL),
		cloudsqlconn.WithTokenSource(tokens("for the api")), cloudsqlconn.WithDialFunc(dial))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := connector.Close(); err != nil {
			t.Error(err)
		}
	})
	return connector, func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(all) }
}

// serve is one connection to the instance: it decrypts and forwards to the database.
func (s *cloudSQLServer) serve(conn net.Conn, line *line) {
	secure := tls.Server(conn, s.tls())
	if err := secure.HandshakeContext(context.Background()); err != nil {
		_ = conn.Close()
		return
	}
	line.carry(secure)
}

// pipe is a connection to an instance that never answers.
func (s *cloudSQLServer) pipe(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	go func() {
		defer far.Close()
		secure := tls.Server(far, s.tls())
		_, _ = io.Copy(io.Discard, secure)
	}()
	return near, nil
}
