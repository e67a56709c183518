// Package apart finds the rows that raise an error among many, so that they do not hold up the others.
package apart

import (
	"context"
	"errors"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

// Halve runs act on all items at once. If one raises an error, it runs act on the halves, and so on until the item is alone,
// and passes that item to alone. So the others take only a few more calls. It ends with the first error that is not a row's,
// or with ctx.
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

// skimTries bounds how many rows with an error a Skim finds; the next Skim tries them again.
const skimTries = 100

// Skim works through rows in their order, batch by batch: act handles up to n rows after the first skip ones, which stay,
// and returns how many it removed. If a row raises an error, the batches become smaller until the row is alone; Skim then
// passes it to alone and skips it. It ends with a batch that is not full, after a number of full batches, or with the first
// error that is not a row's. It returns the number of removed rows.
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
