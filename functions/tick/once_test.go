package tick

import (
	"io"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/local"
	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
)

// A job that a schedule gets is published by the same call, whether the tick has just begun or not.
func TestOnceGoesOnWhileThereIsMore(t *testing.T) {
	offset := new(atomic.Int64)
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{Offset: offset, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	queue, err := local.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Store: store, Queue: queue, Holder: "a", Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Functions: true}
	o.Settings.Tick, o.Settings.BucketLease = time.Hour, 4*time.Hour // its time does not end first, however busy the machine
	f, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.close(t.Context())
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	acts := schedule.NewActs(store, schedule.Options{}, nil)
	if _, _, err := acts.Put(t.Context(), "", "s", core.ScheduleRule{Every: core.ScheduleLength(time.Minute), Type: "work"}, schedule.Match{}); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 3; n++ {
		offset.Add(time.Minute.Microseconds())
		report, err := f.Once(t.Context())
		if err != nil || report.Runs != 1 || report.Dispatched < 1 || report.More {
			t.Fatalf("call %d: %+v %v", n, report, err)
		}
		page, err := store.List(t.Context(), core.ListQuery{Statuses: []core.Status{core.Queued}, Limit: 10})
		if err != nil || len(page.Jobs) != n {
			t.Fatalf("call %d: %d jobs are queued, %v", n, len(page.Jobs), err)
		}
	}
}
