package assemble_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/functions/api/assemble"
	"github.com/belfry-dev/belfry/functions/boot"
)

// parts are those of a host with a store in a file.
func parts(tb testing.TB) assemble.Parts {
	tb.Helper()
	store, err := sqlite.Open(context.Background(), filepath.Join(tb.TempDir(), "belfry.db"), sqlite.Options{NoSync: true})
	if err != nil {
		tb.Fatal(err)
	}
	webhooks, err := boot.OpenWebhooks(context.Background(), boot.Settings{}, store, boot.WebhookOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		webhooks.Close()
		if err := store.Close(); err != nil {
			tb.Error(err)
		}
	})
	return assemble.Parts{Store: store, Types: typecache.New(store, typecache.Options{}), Webhooks: webhooks, Name: "bench", Log: slog.New(slog.DiscardHandler)}
}

// BenchmarkNew is what a start costs before the first request, of which a cold one on a host of functions waits.
func BenchmarkNew(b *testing.B) {
	p := parts(b)
	b.ReportAllocs()
	for b.Loop() {
		service, err := assemble.New(p)
		if err != nil {
			b.Fatal(err)
		}
		service.Close()
	}
}

// A start makes no schemas and no pages: those are for who asks for the document. With them it is 100,000 allocations.
func TestNewMakesNoDocument(t *testing.T) {
	p := parts(t)
	n := testing.AllocsPerRun(5, func() {
		service, err := assemble.New(p)
		if err != nil {
			t.Fatal(err)
		}
		service.Close()
	})
	if n > 8000 {
		t.Errorf("%v allocations", n)
	}
}
