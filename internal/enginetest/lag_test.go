package enginetest

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/work"
)

// A counter never falls: jobs whose run_at lies years back carry no sum of lags over its end.
func TestLagOfJobsFromLongAgo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, nil)
		const n = 100 // ten years each: a thousand years
		submitJobs(t, store, n, core.NewJob{RunAt: time.Now().AddDate(-core.PastYears, 0, 1)})
		w, err := work.New(store, core.Handlers{"echo": core.HandlerFunc(func(context.Context, *core.Job) (json.RawMessage, error) { return nil, nil })}, work.Options{ID: "w"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		time.Sleep(5 * time.Second)
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		stats, err := store.Stats(t.Context(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if len(stats.Totals) != 1 || stats.Totals[0].Starts != n || stats.Totals[0].LagSum != n*core.MaxLagCounted.Microseconds() {
			t.Errorf("want %d starts, each a day late, got %+v", n, stats.Totals)
		}
	})
}
