package postgres_test

import (
	"encoding/json"
	"testing"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/internal/testenv"
)

func openSubmit(t testing.TB) *postgres.Store {
	t.Helper()
	address := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func plainJobs(n int) []core.NewJob {
	jobs := make([]core.NewJob, n)
	for i := range jobs {
		jobs[i] = core.NewJob{Type: "mail.send", Payload: json.RawMessage(`{"seq":1}`), MaxAttempts: 5}
	}
	return jobs
}

// TestSubmitAllocations bounds what a submit allocates, the driver's part included: for one job, and for each of a batch.
func TestSubmitAllocations(t *testing.T) {
	store := openSubmit(t)
	for _, want := range []struct {
		jobs, atMost int
	}{{1, 32}, {1_000, 50}} {
		jobs := plainJobs(want.jobs)
		per := testing.AllocsPerRun(50, func() {
			if _, err := store.Submit(t.Context(), jobs); err != nil {
				t.Fatal(err)
			}
		})
		t.Logf("%d jobs: %.0f allocations", want.jobs, per)
		if int(per) > want.atMost {
			t.Errorf("%d jobs: %.0f allocations, want %d at most", want.jobs, per, want.atMost)
		}
	}
}

// BenchmarkSubmit is a submit of one job in a goroutine of its own, as a Submitter's groups are.
func BenchmarkSubmit(b *testing.B) {
	store := openSubmit(b)
	submitter, job := submit.New(store, submit.Options{}), plainJobs(1)[0]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := submitter.Submit(b.Context(), job); err != nil {
			b.Fatal(err)
		}
	}
}
