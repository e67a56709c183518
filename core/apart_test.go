package core

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"testing"
)

// TestHalve: whichever items raise an error, the others are done once, each of these is told alone, and the calls are few.
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
						return fmt.Errorf("item: %w", ErrRow)
					}
				}
				done = append(done, part...)
				return nil
			}, func(i int, err error) error {
				told = append(told, i)
				if !errors.Is(err, ErrRow) {
					t.Error(err)
				}
				return nil
			})
			if err != nil || !slices.Equal(told, bad) || len(done) != n-len(bad) {
				t.Fatalf("%d items, %v bad: %v told, %d done, %v", n, bad, told, len(done), err)
			}
			if most := 1 + 2*len(bad)*bits.Len(uint(n)); calls > most {
				t.Errorf("%d items, %d bad: %d calls, want %d at most", n, len(bad), calls, most)
			}
		}
	}
}

// TestHalveEnds: an error that is no row's ends it at once, and so does its context.
func TestHalveEnds(t *testing.T) {
	calls := 0
	act := func(err error) func([]int) error {
		return func(part []int) error { calls++; return err }
	}
	alone := func(int, error) error { return nil }
	if err := Halve(t.Context(), []int{1, 2, 3, 4}, act(ErrUnavailable), alone); !errors.Is(err, ErrUnavailable) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	calls = 0
	if err := Halve(ctx, []int{1, 2, 3, 4}, act(ErrRow), alone); !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	stop := errors.New("stop")
	if err := Halve(t.Context(), []int{1, 2}, act(ErrRow), func(int, error) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}
