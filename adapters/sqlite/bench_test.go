package sqlite

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func benchStore(b *testing.B) *Store {
	b.Helper()
	store, err := Open(b.Context(), filepath.Join(b.TempDir(), "belfry.db"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	})
	return store
}

func benchSubmit(b *testing.B, callers int) {
	store := benchStore(b)
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	before := store.writer.commits.Load()
	b.ResetTimer()
	for range callers {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if _, err := store.Submit(b.Context(), []core.NewJob{{Type: "a", Payload: []byte(`{"n":1}`)}}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(float64(b.N)/float64(store.writer.commits.Load()-before), "jobs/commit")
}

func BenchmarkSubmitFrom1(b *testing.B)  { benchSubmit(b, 1) }
func BenchmarkSubmitFrom16(b *testing.B) { benchSubmit(b, 16) }

func submitBatches(b *testing.B, store *Store, n int, tenants int) {
	b.Helper()
	for n > 0 {
		jobs := make([]core.NewJob, min(n, 1000))
		for i := range jobs {
			jobs[i] = core.NewJob{Type: "a", Payload: []byte(`{"n":1}`)}
			if tenants > 0 {
				jobs[i].Tenant = string(rune('a' + i%tenants))
			}
		}
		if _, err := store.Submit(b.Context(), jobs); err != nil {
			b.Fatal(err)
		}
		n -= len(jobs)
	}
}

func BenchmarkSubmitBatch(b *testing.B) {
	store := benchStore(b)
	b.ResetTimer()
	submitBatches(b, store, b.N, 0)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

// benchDrain claims and finishes as a worker does: claims of so many, finishes beside them.
func benchDrain(b *testing.B, q core.Quota, tenants int) {
	store := benchStore(b)
	submitBatches(b, store, b.N, tenants)
	b.ResetTimer()
	ends := make(chan []core.End, 4)
	var wg sync.WaitGroup
	wg.Go(func() {
		for batch := range ends {
			if _, err := store.Finish(b.Context(), batch); err != nil {
				b.Error(err)
			}
		}
	})
	for n, id := 0, int64(1); n < b.N; id++ {
		res, err := store.ClaimDue(b.Context(), core.ClaimRequest{WorkerID: "w", ClaimID: id, Lease: time.Minute, Quotas: []core.Quota{q}})
		if err != nil {
			b.Fatal(err)
		}
		batch := make([]core.End, len(res.Jobs))
		for i, job := range res.Jobs {
			batch[i] = core.End{Ref: core.Ref{ID: job.ID, Token: job.LeaseToken}, Outcome: core.EndDone}
		}
		n += len(batch)
		q.TenantAfter = res.Taken[0].LastTenant
		ends <- batch
	}
	close(ends)
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

func BenchmarkDrain100(b *testing.B) {
	benchDrain(b, core.Quota{Priority: core.Default, Type: "a", Limit: 100}, 0)
}

func BenchmarkDrain1000(b *testing.B) {
	benchDrain(b, core.Quota{Priority: core.Default, Type: "a", Limit: 1000}, 0)
}

func BenchmarkDrainTenants(b *testing.B) {
	benchDrain(b, core.Quota{Priority: core.Default, Type: "a", Limit: 100, PerTenant: 10}, 20)
}
