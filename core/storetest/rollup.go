package storetest

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func rollupScenarios() []scenario {
	return []scenario{
		{"AddRollups/counts of many shards add up, before and after they are merged", rollupsMerge},
		{"AddRollups/shards that add the same keys in other orders do not deadlock", rollupsOrders},
		{"AddRollups/a past minute still takes counts after it was merged", rollupsLate},
		{"Maintain/folds the totals of types of which nothing was counted for a day, and keeps the sums by priority", rollupsFold},
		{"AddRollups/an empty call and an odd type are fine", rollupsOdd},
	}
}

type rollupKey struct {
	priority core.Priority
	typ      string
}

// rollup makes a row whose every count is n or derives from it.
func rollup(minute time.Time, p core.Priority, typ string, n int64) core.Rollup {
	r := core.Rollup{Minute: minute, Priority: p, Type: typ, Starts: 7 * n, Done: 6 * n, Failed: 5 * n, Retried: 4 * n, Cancelled: 3 * n, Lost: 2 * n, Snoozed: n, Strayed: 8 * n, LagSum: 1000 * n}
	for i := range r.Lag {
		r.Lag[i] = n * int64(i)
	}
	return r
}

// rollups reads the sums, over an hour or since the first job ever.
func (s *stage) rollups(since time.Duration) (within, totals map[rollupKey]core.Rollup) {
	s.Helper()
	stats, err := s.store.Stats(s.ctx, since)
	s.must(err)
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

// sums wants n added up for each key.
func (s *stage) sums(where string, got map[rollupKey]core.Rollup, want map[rollupKey]int64) {
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

func rollupsMerge(s *stage) {
	minute := s.now().Truncate(time.Minute)
	want := map[rollupKey]int64{}
	var rows []core.Rollup
	for i, typ := range []string{"a", "b", "c"} {
		for _, p := range core.Priorities {
			n := int64(1 + i)
			rows = append(rows, rollup(minute, p, typ, n), rollup(minute.Add(-time.Minute), p, typ, n))
			want[rollupKey{p, typ}] = 2 * n * 8 * 5
		}
	}
	other := s.second()
	s.times(8, func(i int) error {
		for range 5 {
			if err := []core.Store{s.store, other.store}[i%2].AddRollups(s.ctx, i, rows); err != nil {
				return err
			}
		}
		return nil
	})
	check := func(when string) {
		s.Helper()
		within, totals := s.rollups(time.Hour)
		s.sums("the last hour "+when, within, want)
		s.sums("totals "+when, totals, want)
	}
	check("before the merge")
	s.advance(5 * time.Minute)
	merged := 0
	for range 3 {
		res, err := s.store.Maintain(s.ctx, core.MaintainRequest{})
		s.must(err)
		merged += res.RollupsMerged
	}
	if merged == 0 && !s.h.Single { // one process needs no shards
		s.Error("nothing was merged")
	}
	check("after the merge")
	s.advance(2 * time.Hour)
	within, totals := s.rollups(time.Hour)
	s.sums("an hour without work", within, nil)
	s.sums("totals two hours later", totals, want)
	s.advance(40 * 24 * time.Hour)
	_, err := s.store.Maintain(s.ctx, core.MaintainRequest{HistoryRetention: 24 * time.Hour})
	s.must(err)
	_, totals = s.rollups(time.Hour)
	folded := map[rollupKey]int64{}
	for key, n := range want {
		folded[rollupKey{key.priority, ""}] += n
	}
	s.sums("totals after retention", totals, folded)
}

func rollupsOrders(s *stage) {
	minute := s.now().Truncate(time.Minute)
	var rows []core.Rollup
	want := map[rollupKey]int64{}
	for i := range 40 {
		typ := string(rune('a' + i))
		rows = append(rows, rollup(minute, core.Default, typ, 1))
		want[rollupKey{core.Default, typ}] = 6 * 10
	}
	back := slices.Clone(rows)
	slices.Reverse(back)
	s.times(6, func(i int) error {
		for range 10 { // all in one shard, as processes whose shard numbers collide
			if err := s.store.AddRollups(s.ctx, 3, [][]core.Rollup{rows, back}[i%2]); err != nil {
				return err
			}
		}
		return nil
	})
	within, _ := s.rollups(time.Hour)
	s.sums("the last hour", within, want)
}

func rollupsLate(s *stage) {
	minute := s.now().Truncate(time.Minute)
	s.must(s.store.AddRollups(s.ctx, 1, []core.Rollup{rollup(minute, core.Bulk, "a", 2)}))
	s.advance(5 * time.Minute)
	_, err := s.store.Maintain(s.ctx, core.MaintainRequest{})
	s.must(err)
	s.must(s.store.AddRollups(s.ctx, 2, []core.Rollup{rollup(minute, core.Bulk, "a", 3)}))
	want := map[rollupKey]int64{{core.Bulk, "a"}: 5}
	within, totals := s.rollups(time.Hour)
	s.sums("late counts", within, want)
	s.sums("totals with late counts", totals, want)
	_, err = s.store.Maintain(s.ctx, core.MaintainRequest{})
	s.must(err)
	within, _ = s.rollups(time.Hour)
	s.sums("late counts merged", within, want)
}

func rollupsFold(s *stage) {
	maintain := func() {
		s.Helper()
		_, err := s.store.Maintain(s.ctx, core.MaintainRequest{})
		s.must(err)
	}
	add := func(typ string, n int64) {
		s.Helper()
		s.must(s.store.AddRollups(s.ctx, 1, []core.Rollup{rollup(s.now(), core.Bulk, typ, n), rollup(s.now(), core.Default, typ, n)}))
	}
	const types = 30
	for i := range types {
		add(fmt.Sprint("idle-", i), 2)
	}
	add("busy", 3)
	s.advance(5 * time.Minute)
	maintain()
	s.advance(23 * time.Hour)
	maintain()
	if _, totals := s.rollups(time.Hour); len(totals) != 2*(types+1) {
		s.Errorf("after 23 hours there are totals of %d lanes", len(totals))
	}
	add("busy", 4)
	s.advance(2 * time.Hour)
	maintain()
	want := map[rollupKey]int64{}
	for _, p := range []core.Priority{core.Bulk, core.Default} {
		want[rollupKey{p, ""}], want[rollupKey{p, "busy"}] = 2*types, 7
	}
	_, totals := s.rollups(time.Hour)
	s.sums("after a day", totals, want)
	add("idle-1", 5)
	want[rollupKey{core.Bulk, "idle-1"}], want[rollupKey{core.Default, "idle-1"}] = 5, 5
	s.advance(26 * time.Hour)
	maintain()
	maintain()
	for _, p := range []core.Priority{core.Bulk, core.Default} {
		delete(want, rollupKey{p, "idle-1"})
		delete(want, rollupKey{p, "busy"})
		want[rollupKey{p, ""}] = 2*types + 7 + 5
	}
	_, totals = s.rollups(time.Hour)
	s.sums("after another day", totals, want)
}

func rollupsOdd(s *stage) {
	s.must(s.store.AddRollups(s.ctx, 0, nil))
	minute, want := s.now().Truncate(time.Minute), map[rollupKey]int64{}
	for _, typ := range oddText {
		s.must(s.store.AddRollups(s.ctx, 0, []core.Rollup{rollup(minute, core.Critical, typ, 1), rollup(minute, core.Critical, typ, 2)}))
		want[rollupKey{core.Critical, typ}] = 3
	}
	within, _ := s.rollups(time.Hour)
	s.sums("odd types", within, maps.Clone(want))
}
