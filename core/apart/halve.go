// Package apart finds the rows among many that raise an error, so that the others wait for nothing.
package apart

import (
	"context"
	"errors"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

// Halve runs act on all items at once. Where one of them raises an error it runs act on the halves, and so on until the item
// is alone: alone is told. So the others cost a few calls more, and wait for nothing. It ends with the first error that is
// no row's, and with ctx.
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

// Pick are the items at these places.
func Pick[T any](items []T, places []int) []T {
	picked := make([]T, len(places))
	for i, place := range places {
		picked[i] = items[place]
	}
	return picked
}

// Text is what the store said of a row, without what was being done.
func Text(err error) string {
	text := err.Error()
	if _, said, ok := strings.Cut(text, core.ErrRow.Error()+": "); ok {
		return said
	}
	return text
}

// skimTries bounds how many rows a Skim finds that raise an error: they are met again by the next one.
const skimTries = 100

// Skim works through rows in their order, batch by batch: act works on up to n of them behind the first skip ones, which
// stay where they are, and says how many it took away. Where one of them raises an error the batches are made smaller until
// the row is alone; then alone is told which one it is, and it is skipped. It ends with a batch that is not full, after so
// many batches that are, and with the first error that is no row's. It returns how many rows were taken away.
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
