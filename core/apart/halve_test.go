package apart

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

// TestHalve: failing items are reported one by one, all others are done once, and the number of calls stays small.
func TestHalve(t *testing.T) {
	for n := range 70 {
		for _, bad := range [][]int{nil, {0}, {n - 1}, {n / 2}, {0, n - 1}, {1, 2, 3}} {
			bad = slices.DeleteFunc(slices.Clone(bad), func(i int) bool { return i < 0 || i >= n })
			slices.Sort(bad)
			bad = slices.Compact(bad)
			items := make([]int, n)
			for i := range items {
				items[i] = i
			}
			calls, done, told := 0, []int{}, []int{}
			err := Halve(t.Context(), items, func(part []int) error {
				calls++
				for _, i := range part {
					if slices.Contains(bad, i) {
						return fmt.Errorf("item: %w", core.ErrRow)
					}
				}
				done = append(done, part...)
				return nil
			}, func(i int, err error) error {
				told = append(told, i)
				if !errors.Is(err, core.ErrRow) {
					t.Error(err)
				}
				return nil
			})
			if err != nil || !slices.Equal(told, bad) || len(done) != n-len(bad) {
				t.Fatalf("%d items, %v bad: %v reported, %d done, %v", n, bad, told, len(done), err)
			}
			if most := 1 + 2*len(bad)*bits.Len(uint(n)); calls > most {
				t.Errorf("%d items, %d bad: %d calls, want %d at most", n, len(bad), calls, most)
			}
		}
	}
}

// TestHalveEnds: an error that is not about one row stops Halve at once, and so does the end of its context.
func TestHalveEnds(t *testing.T) {
	calls := 0
	act := func(err error) func([]int) error {
		return func(part []int) error { calls++; return err }
	}
	alone := func(int, error) error { return nil }
	if err := Halve(t.Context(), []int{1, 2, 3, 4}, act(core.ErrUnavailable), alone); !errors.Is(err, core.ErrUnavailable) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	calls = 0
	if err := Halve(ctx, []int{1, 2, 3, 4}, act(core.ErrRow), alone); !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	stop := errors.New("stop")
	if err := Halve(t.Context(), []int{1, 2}, act(core.ErrRow), func(int, error) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// TestSkim: failing rows are reported once each, and all others are removed.
func TestSkim(t *testing.T) {
	for _, bad := range [][]int{nil, {0}, {41}, {0, 1, 2}, {7, 20, 21, 41}} {
		var rows []int
		for i := range 42 {
			rows = append(rows, i)
		}
		var told []int
		calls := 0
		sum, err := Skim(10, 100, func(n, skip int) (int, error) {
			calls++
			part := rows[min(skip, len(rows)):min(skip+n, len(rows))]
			for _, row := range part {
				if slices.Contains(bad, row) {
					return 0, core.ErrRow
				}
			}
			n = len(part)
			rows = slices.Delete(slices.Clone(rows), min(skip, len(rows)), min(skip, len(rows))+n)
			return n, nil
		}, func(skip int, _ error) error {
			told = append(told, rows[skip])
			return nil
		})
		if err != nil || sum != 42-len(bad) || !slices.Equal(told, bad) || !slices.Equal(rows, append([]int{}, bad...)) {
			t.Errorf("%v bad: %d removed, %v reported, %v left, %v", bad, sum, told, rows, err)
		}
		if calls > 12+10*len(bad) {
			t.Errorf("%v bad: %d calls", bad, calls)
		}
	}
	if sum, err := Skim(10, 3, func(n, _ int) (int, error) { return n, nil }, nil); err != nil || sum != 30 {
		t.Errorf("bounded to three batches: %d, %v", sum, err)
	}
	if _, err := Skim(10, 3, func(int, int) (int, error) { return 0, core.ErrUnavailable }, nil); !errors.Is(err, core.ErrUnavailable) {
		t.Error(err)
	}
}
