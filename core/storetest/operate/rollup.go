package operate

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func rollupScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "AddRollups/counts of many shards add up, before and after they are merged", Run: rollupsMerge},
		{Name: "AddRollups/shards that add the same keys in other orders do not deadlock", Run: rollupsOrders},
		{Name: "AddRollups/a past minute still takes counts after it was merged", Run: rollupsLate},
		{Name: "Maintain/folds the totals of types without counts for a day, and keeps the sums by priority", Run: rollupsFold},
		{Name: "AddRollups/an empty call and an odd type are fine", Run: rollupsOdd},
	}
}

type rollupKey struct {
	priority core.Priority
	typ      string
}

// rollup returns a row in which every count is n or derived from n.
func rollup(minute time.Time, p core.Priority, typ string, n int64) core.Rollup {
	r := core.Rollup{Minute: minute, Priority: p, Type: typ, Starts: 7 * n, Done: 6 * n, Failed: 5 * n, Retried: 4 * n, Cancelled: 3 * n, Lost: 2 * n, Snoozed: n, Strayed: 8 * n, LagSum: 1000 * n}
	for i := range r.Lag {
		r.Lag[i] = n * int64(i)
	}
	return r
}

// rollups reads the sums of the last hour and of all time.
func rollups(s *storetest.Stage, since time.Duration) (within, totals map[rollupKey]core.Rollup) {
	s.Helper()
	stats, err := s.Store.Stats(s.Ctx, since)
	s.Must(err)
	read := func(rows []core.Rollup) map[rollupKey]core.Rollup {
		sums := map[rollupKey]core.Rollup{}
		for _, r := range rows {
			key := rollupKey{r.Priority, r.Type}
			if _, twice := sums[key]; twice {
				s.Errorf("%v is summed up twice", key)
			}
			r.Minute = time.Time{}
			sums[key] = r
		}
		return sums
	}
	return read(stats.Rollups), read(stats.Totals)
}

// sums checks that each key's counts add up to n.
func sums(s *storetest.Stage, where string, got map[rollupKey]core.Rollup, want map[rollupKey]int64) {
	s.Helper()
	for key, n := range want {
		if got[key] != rollup(time.Time{}, key.priority, key.typ, n) {
			s.Errorf("%s, %v: got %+v, want %d added up", where, key, got[key], n)
		}
	}
	if len(got) != len(want) {
		s.Errorf("%s: %d sums, want %d", where, len(got), len(want))
	}
}

func rollupsMerge(s *storetest.Stage) {
	minute := s.Now().Truncate(time.Minute)
	want := map[rollupKey]int64{}
	var rows []core.Rollup
	for i, typ := range []string{"a", "b", "c"} {
		for _, p := range core.Priorities {
			n := int64(1 + i)
			rows = append(rows, rollup(minute, p, typ, n), rollup(minute.Add(-time.Minute), p, typ, n))
			want[rollupKey{p, typ}] = 2 * n * 8 * 5
		}
	}
	other := s.Second()
	s.Times(8, func(i int) error {
		for range 5 {
			if err := []core.Store{s.Store, other.Store}[i%2].AddRollups(s.Ctx, i, rows); err != nil {
				return err
			}
		}
		return nil
	})
	check := func(when string) {
		s.Helper()
		within, totals := rollups(s, time.Hour)
		sums(s, "the last hour "+when, within, want)
		sums(s, "totals "+when, totals, want)
	}
	check("before the merge")
	s.Advance(5 * time.Minute)
	merged := 0
	for range 3 {
		res, err := s.Store.Maintain(s.Ctx, core.MaintainRequest{})
		s.Must(err)
		merged += res.RollupsMerged
	}
	if merged == 0 && !s.H.Single { // one process needs no shards
		s.Error("nothing was merged")
	}
	check("after the merge")
	s.Advance(2 * time.Hour)
	within, totals := rollups(s, time.Hour)
	sums(s, "an hour without work", within, nil)
	sums(s, "totals two hours later", totals, want)
	s.Advance(40 * 24 * time.Hour)
	_, err := s.Store.Maintain(s.Ctx, core.MaintainRequest{HistoryRetention: 24 * time.Hour})
	s.Must(err)
	_, totals = rollups(s, time.Hour)
	folded := map[rollupKey]int64{}
	for key, n := range want {
		folded[rollupKey{key.priority, ""}] += n
	}
	sums(s, "totals after retention", totals, folded)
}

func rollupsOrders(s *storetest.Stage) {
	minute := s.Now().Truncate(time.Minute)
	var rows []core.Rollup
	want := map[rollupKey]int64{}
	for i := range 40 {
		typ := string(rune('a' + i))
		rows = append(rows, rollup(minute, core.Default, typ, 1))
		want[rollupKey{core.Default, typ}] = 6 * 10
	}
	back := slices.Clone(rows)
	slices.Reverse(back)
	s.Times(6, func(i int) error {
		for range 10 { // all in one shard, as for processes with the same shard number
			if err := s.Store.AddRollups(s.Ctx, 3, [][]core.Rollup{rows, back}[i%2]); err != nil {
				return err
			}
		}
		return nil
	})
	within, _ := rollups(s, time.Hour)
	sums(s, "the last hour", within, want)
}

func rollupsLate(s *storetest.Stage) {
	minute := s.Now().Truncate(time.Minute)
	s.Must(s.Store.AddRollups(s.Ctx, 1, []core.Rollup{rollup(minute, core.Bulk, "a", 2)}))
	s.Advance(5 * time.Minute)
	_, err := s.Store.Maintain(s.Ctx, core.MaintainRequest{})
	s.Must(err)
	s.Must(s.Store.AddRollups(s.Ctx, 2, []core.Rollup{rollup(minute, core.Bulk, "a", 3)}))
	want := map[rollupKey]int64{{core.Bulk, "a"}: 5}
	within, totals := rollups(s, time.Hour)
	sums(s, "late counts", within, want)
	sums(s, "totals with late counts", totals, want)
	_, err = s.Store.Maintain(s.Ctx, core.MaintainRequest{})
	s.Must(err)
	within, _ = rollups(s, time.Hour)
	sums(s, "late counts merged", within, want)
}

func rollupsFold(s *storetest.Stage) {
	maintain := func() {
		s.Helper()
		_, err := s.Store.Maintain(s.Ctx, core.MaintainRequest{})
		s.Must(err)
	}
	add := func(typ string, n int64) {
		s.Helper()
		s.Must(s.Store.AddRollups(s.Ctx, 1, []core.Rollup{rollup(s.Now(), core.Bulk, typ, n), rollup(s.Now(), core.Default, typ, n)}))
	}
	const types = 30
	for i := range types {
		add(fmt.Sprint("idle-", i), 2)
	}
	add("busy", 3)
	s.Advance(5 * time.Minute)
	maintain()
	s.Advance(23 * time.Hour)
	maintain()
	if _, totals := rollups(s, time.Hour); len(totals) != 2*(types+1) {
		s.Errorf("after 23 hours there are totals of %d lanes", len(totals))
	}
	add("busy", 4)
	s.Advance(2 * time.Hour)
	maintain()
	want := map[rollupKey]int64{}
	for _, p := range []core.Priority{core.Bulk, core.Default} {
		want[rollupKey{p, ""}], want[rollupKey{p, "busy"}] = 2*types, 7
	}
	_, totals := rollups(s, time.Hour)
	sums(s, "after a day", totals, want)
	add("idle-1", 5)
	want[rollupKey{core.Bulk, "idle-1"}], want[rollupKey{core.Default, "idle-1"}] = 5, 5
	s.Advance(26 * time.Hour)
	maintain()
	maintain()
	for _, p := range []core.Priority{core.Bulk, core.Default} {
		delete(want, rollupKey{p, "idle-1"})
		delete(want, rollupKey{p, "busy"})
		want[rollupKey{p, ""}] = 2*types + 7 + 5
	}
	_, totals = rollups(s, time.Hour)
	sums(s, "after another day", totals, want)
}

func rollupsOdd(s *storetest.Stage) {
	s.Must(s.Store.AddRollups(s.Ctx, 0, nil))
	minute, want := s.Now().Truncate(time.Minute), map[rollupKey]int64{}
	for _, typ := range storetest.OddText {
		s.Must(s.Store.AddRollups(s.Ctx, 0, []core.Rollup{rollup(minute, core.Critical, typ, 1), rollup(minute, core.Critical, typ, 2)}))
		want[rollupKey{core.Critical, typ}] = 3
	}
	within, _ := rollups(s, time.Hour)
	sums(s, "odd types", within, maps.Clone(want))
}
