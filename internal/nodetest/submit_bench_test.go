package nodetest

import (
	"context"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// unkeyed sends requests without their idempotency keys, which the client sets by itself.
type unkeyed struct{ http.RoundTripper }

func (u unkeyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Del("Idempotency-Key")
	return u.RoundTripper.RoundTrip(r)
}

// BenchmarkSubmit submits jobs from 16 callers through the Go client over HTTP, in turns without and with the keys that the
// client sends; see storetest.BenchTurns. Client and server share this process. No rate of requests bounds it.
func BenchmarkSubmit(b *testing.B) {
	b.Run("postgres", func(b *testing.B) {
		address := testenv.Postgres(b)
		if err := postgres.Migrate(b.Context(), address); err != nil {
			b.Fatal(err)
		}
		store, err := postgres.Open(b.Context(), address, postgres.Options{})
		if err != nil {
			b.Fatal(err)
		}
		benchSubmit(b, store)
	})
	b.Run("sqlite", func(b *testing.B) {
		store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "belfry.db"), sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		benchSubmit(b, store)
	})
}

func benchSubmit(b *testing.B, store core.Store) {
	b.Setenv("BELFRY_API_RATE", "0")
	address := StartOn(b, "api", store)
	submit := func(wrap func(http.RoundTripper) http.RoundTripper) func(context.Context) error {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = 16
		b.Cleanup(transport.CloseIdleConnections)
		c, err := client.New(address, client.Options{HTTPClient: &http.Client{Transport: wrap(transport)}})
		if err != nil {
			b.Fatal(err)
		}
		return func(ctx context.Context) error {
			_, err := c.Submit(ctx, client.NewJob{Type: "echo", Payload: map[string]int{"n": 1}, Delay: time.Hour})
			return err
		}
	}
	storetest.BenchTurns(b,
		submit(func(t http.RoundTripper) http.RoundTripper { return unkeyed{t} }),
		submit(func(t http.RoundTripper) http.RoundTripper { return t }))
}
