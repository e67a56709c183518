package enginetest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/tick"
)

// Nobody but the reaper can count an attempt whose worker is gone: as lost, and as what became of it.
func TestLostAttemptsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := rollupsRefused{Store: openStore(t, nil), times: new(int)}
		submitJobs(t, store, 3, core.NewJob{})
		submitJobs(t, store, 2, core.NewJob{MaxAttempts: 1})
		claim(t, store, "echo", 5, time.Minute)
		time.Sleep(time.Minute + time.Second)
		ticker := newTicker(t, store, tick.Options{})
		*store.times = 1
		tickOnce(t, ticker) // the counts it could not write come with the next pass
		tickOnce(t, ticker)
		stats, err := store.Stats(t.Context(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		for period, rows := range map[string][]core.Rollup{"the last hour": stats.Rollups, "all time": stats.Totals} {
			if len(rows) != 1 || rows[0].Lost != 5 || rows[0].Retried != 3 || rows[0].Failed != 2 {
				t.Errorf("%s: want 5 lost, of them 3 retried and 2 failed, got %+v", period, rows)
			}
		}
	})
}

// rollupsRefused refuses AddRollups so many times.
type rollupsRefused struct {
	core.Store
	times *int
}

func (s rollupsRefused) AddRollups(ctx context.Context, shard int, rows []core.Rollup) error {
	if *s.times > 0 {
		*s.times--
		return errors.New("refused")
	}
	return s.Store.AddRollups(ctx, shard, rows)
}
