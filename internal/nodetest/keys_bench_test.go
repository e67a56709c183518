package nodetest

import (
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/pgserver"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// keyless sends requests without the idempotency key that our client gives each submit.
type keyless struct{ http.RoundTripper }

func (k keyless) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Del("Idempotency-Key")
	return k.RoundTripper.RoundTrip(r)
}

// BenchmarkClientKeys is what the key costs that our client gives each submit: 16 callers over HTTP, on stores that commit to
// disk, by turns with and without keys.
func BenchmarkClientKeys(b *testing.B) {
	stores := map[string]func(*testing.B) (core.Store, error){
		"postgres": func(b *testing.B) (core.Store, error) {
			server := testenv.PostgresServer(b, pgserver.Options{Durable: true})
			if err := postgres.Migrate(b.Context(), server.URL()); err != nil {
				return nil, err
			}
			return postgres.Open(b.Context(), server.URL(), postgres.Options{})
		},
		"sqlite": func(b *testing.B) (core.Store, error) {
			return sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "belfry.db"), sqlite.Options{})
		},
	}
	for name, open := range stores {
		b.Run(name, func(b *testing.B) {
			store, err := open(b)
			if err != nil {
				b.Fatal(err)
			}
			at := StartOn(b, "api", store)
			transport := &http.Transport{MaxIdleConnsPerHost: 16}
			b.Cleanup(transport.CloseIdleConnections)
			ways := map[bool]http.RoundTripper{true: transport, false: keyless{transport}}
			var rate [2]float64
			for b.Loop() {
				for at1, keyed := range []bool{false, true} {
					c, err := client.New(at, client.Options{HTTPClient: &http.Client{Transport: ways[keyed]}})
					if err != nil {
						b.Fatal(err)
					}
					rate[at1] += submitsPerSecond(b, c)
				}
			}
			b.ReportMetric(rate[0]/float64(b.N), "plain/s")
			b.ReportMetric(rate[1]/float64(b.N), "keyed/s")
			b.ReportMetric(rate[1]/rate[0], "keyed/plain")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// submitsPerSecond is what 16 callers get done.
func submitsPerSecond(b *testing.B, c *client.Client) float64 {
	const callers, turn = 16, 500 * time.Millisecond
	var n atomic.Int64
	var group sync.WaitGroup
	began := time.Now()
	for range callers {
		group.Go(func() {
			for time.Since(began) < turn {
				if _, err := c.Submit(b.Context(), client.NewJob{Type: "echo", Delay: time.Hour}); err != nil {
					b.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	group.Wait()
	return float64(n.Load()) / time.Since(began).Seconds()
}
