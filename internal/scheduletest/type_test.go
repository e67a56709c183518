package scheduletest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/core/typecache"
)

// watched counts how often types were looked at.
type watched struct {
	core.Store
	looks   int
	without int // a bucket that is another's
}

func (w *watched) Tick(ctx context.Context, req core.TickRequest) (core.TickResult, error) {
	res, err := w.Store.Tick(ctx, req)
	res.Held = slices.DeleteFunc(res.Held, func(h core.Held) bool { return h.Bucket == w.without })
	return res, err
}

func (w *watched) WatchTypes(ctx context.Context) error {
	w.looks++
	return w.Store.WatchTypes(ctx)
}

// TestTypeMissed follows the dead man's switch of a type by a tick: raised once, not before its time, cleared by a success
// and with the definition; and nothing is asked where nothing is expected, or where another holds the first bucket.
func TestTypeMissed(t *testing.T) {
	w := newWorld(t, time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC))
	store := &watched{Store: w.store, without: 1}
	types := typecache.New(w.store, typecache.Options{})
	w.must(types.Refresh(t.Context()))
	ticker, err := tick.New(store, tick.Options{Holder: "a", MaintainPeriod: 1000 * time.Hour, LeaseLength: 1000 * time.Hour,
		Schedules: schedule.Options{Types: types}})
	w.must(err)
	w.ticker = ticker
	put := func(of core.JobType) {
		_, _, err := types.PutType(t.Context(), of)
		w.must(err)
	}
	alerts := func(when string, n int, open bool) {
		t.Helper()
		w.tick()
		list, err := w.store.Alerts(t.Context(), core.AlertQuery{Limit: 10})
		w.must(err)
		if len(list) != n || n > 0 && (list[0].ClearedAt.IsZero() != open || list[0].Kind != core.AlertTypeMissed || list[0].Subject != "report") {
			t.Fatalf("%s: want %d, the newest open: %t; got %+v", when, n, open, list)
		}
	}
	put(core.JobType{Name: "report"})
	w.step(2 * time.Hour)
	if alerts("nothing expected", 0, false); store.looks != 0 {
		t.Errorf("types were looked at %d times where nothing is expected", store.looks)
	}
	put(core.JobType{Name: "report", ExpectWithin: time.Hour})
	for range 12 {
		alerts("in time", 0, false)
		w.step(5*time.Minute - time.Microsecond)
	}
	if alerts("before the last instant", 0, false); store.looks != 13 {
		t.Errorf("types were looked at %d times", store.looks)
	}
	store.without = 0
	w.step(10 * time.Second)
	if alerts("without the first bucket", 0, false); store.looks != 13 {
		t.Errorf("one without the first bucket looked: %d", store.looks)
	}
	store.without = 1
	for range 8 {
		w.step(10 * time.Second)
		alerts("late", 1, true)
	}
	now := w.now()
	w.must(w.store.AddRollups(t.Context(), 0, []core.Rollup{{Minute: now, Priority: core.Default, Type: "report", Done: 1}}))
	w.step(9 * time.Second)
	alerts("looked at a moment ago", 1, true)
	w.step(time.Second)
	alerts("a success", 1, false)
	w.step(now.Truncate(time.Minute).Add(61*time.Minute).Sub(w.now()) - time.Microsecond)
	alerts("a length from the end of its minute", 1, false)
	w.step(10 * time.Second)
	alerts("late again", 2, true)
	w.must(types.DeleteType(t.Context(), "report"))
	looks := store.looks
	w.step(time.Hour)
	if alerts("deleted", 2, false); store.looks != looks {
		t.Error("types were looked at where nothing is expected any more")
	}
}
