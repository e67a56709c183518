package postgres_test

import (
	"testing"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core/storetest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

func BenchmarkSubmitOnce(b *testing.B) {
	address := testenv.Postgres(b)
	if err := postgres.Migrate(b.Context(), address); err != nil {
		b.Fatal(err)
	}
	store, err := postgres.Open(b.Context(), address, postgres.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	storetest.BenchOnce(b, store)
}
