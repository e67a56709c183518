// Package apart finds the rows that raise an error among many, so that they do not hold up the others.
package apart

import (
	"context"
	"errors"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

// Halve runs act on all items at once. If one raises an error, Halve splits the items and tries again until that item is
// alone, then calls alone with it. The others therefore need only a few more calls. Halve stops at the first error that is
// not about one row, or when ctx ends.
func Halve[T any](ctx context.Context, items []T, act func([]T) error, alone func(T, error) error) error {
	if len(items) == 0 {
		return nil
	}
	err := act(items)
	switch {
	case err == nil || !errors.Is(err, core.ErrRow):
		return err
	case len(items) == 1:
		return alone(items[0], err)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	half := len(items) / 2
	if err := Halve(ctx, items[:half], act, alone); err != nil {
		return err
	}
	return Halve(ctx, items[half:], act, alone)
}

// Pick returns the items at these indexes.
func Pick[T any](items []T, places []int) []T {
	picked := make([]T, len(places))
	for i, place := range places {
		picked[i] = items[place]
	}
	return picked
}

// Text returns the store's error for a row, without the prefix that names the action.
func Text(err error) string {
	text := err.Error()
	if _, said, ok := strings.Cut(text, core.ErrRow.Error()+": "); ok {
		return said
	}
	return text
}

// skimTries is the maximum number of failing rows that one Skim finds. The next Skim tries them again.
const skimTries = 100

// Skim works through rows in order, batch by batch. act skips the first skip rows, which stay, handles up to n of the others
// and returns how many it removed. If a row raises an error, Skim makes the batches smaller until the row is alone, passes
// it to alone and skips it from then on. It stops after a batch that was not full, after the given number of full batches,
// or at the first error that is not about one row. It returns the number of removed rows.
func Skim(n, batches int, act func(n, skip int) (int, error), alone func(skip int, err error) error) (sum int, err error) {
	full, skip, found := n, 0, 0
	for batches > 0 {
		done, err := act(n, skip)
		switch {
		case err == nil:
			sum += done
			if done < n {
				return sum, nil
			}
			if batches--; n < full {
				n, batches = min(2*n, full), batches+1
			}
		case !errors.Is(err, core.ErrRow):
			return sum, err
		case n > 1:
			n = (n + 1) / 2
		default:
			if found++; found > skimTries {
				return sum, nil
			}
			if err := alone(skip, err); err != nil {
				return sum, err
			}
			skip++
		}
	}
	return sum, nil
}
