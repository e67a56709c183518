package core

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"
)

// A row can raise an error for itself: a value that cannot be read any more, a number at its end, a trigger or constraint of
// somebody's that refuses it. Work on many rows at once then fails for all of them, again and again. So the row is found
// and set apart: work on many passes over it until its RetryAt, then meets it again. A row that was mended by then is back;
// one that was not is set apart for longer.

// ErrRow is what stores answer where a row raises an error for itself: the same call without it may succeed.
var ErrRow = errors.New("a row raises an error")

// Kinds of rows that are set apart.
const (
	ApartJob      = "job"
	ApartSchedule = "schedule"
	ApartAlert    = "alert"
	ApartDead     = "dead_letter" // its retention
	ApartDone     = "history"     // its retention
	ApartBucket   = "bucket"      // its lease cannot be taken or renewed: nothing of it is dispatched
	ApartType     = "type"        // due jobs of one priority and type, among which the rows at fault cannot be told
)

// How long a row is set apart: at first, and at most after it was time and again. One whose time is over by ApartOver was
// met again and did not fail.
const (
	ApartFirst   = 5 * time.Second
	ApartLongest = 5 * time.Minute
	ApartOver    = 15 * time.Second
	ApartMax     = 10_000 // rows of a kind that are set apart at once; more are met again and again
)

// RowFault is a row that is set apart, and why.
type RowFault struct {
	Kind    string
	ID      int64
	Name    string // of what has no id
	About   string // a job's type, a schedule's name. "" means not known
	Act     string // what was being done
	Error   string
	Tries   int       // how often it was set apart in a row
	Since   time.Time // when it was first
	RetryAt time.Time // when it is met again
}

// String names the row: "job 17 (mail.send)", "type default/mail.send".
func (f *RowFault) String() string {
	text := f.Kind
	if f.ID != 0 {
		text += " " + strconv.FormatInt(f.ID, 10)
	}
	if f.Name != "" {
		text += " " + f.Name
	}
	if f.About != "" {
		text += " (" + f.About + ")"
	}
	return text
}

// ApartCount is how many rows of a kind are set apart.
type ApartCount struct {
	Kind string
	Rows int
}

// Halve runs act on all items at once. Where one of them raises an error it runs act on the halves, and so on until the item
// is alone: alone is told. So the others cost a few calls more, and wait for nothing. It ends with the first error that is
// no row's, and with ctx.
func Halve[T any](ctx context.Context, items []T, act func([]T) error, alone func(T, error) error) error {
	if len(items) == 0 {
		return nil
	}
	err := act(items)
	switch {
	case err == nil || !errors.Is(err, ErrRow):
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

// pick are the items at these places.
func pick[T any](items []T, places []int) []T {
	picked := make([]T, len(places))
	for i, place := range places {
		picked[i] = items[place]
	}
	return picked
}

// rowText is what the store said of a row, without what was being done.
func rowText(err error) string {
	text := err.Error()
	if _, said, ok := strings.Cut(text, ErrRow.Error()+": "); ok {
		return said
	}
	return text
}

// SetsApart is a store that keeps rows that are set apart.
type SetsApart interface {
	// SetApart sets rows apart, each for longer than the last time. One that is apart already stays as it is.
	SetApart(ctx context.Context, faults []RowFault) error
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
		case !errors.Is(err, ErrRow):
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
