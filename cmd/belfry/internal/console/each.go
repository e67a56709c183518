package console

import (
	"context"
	"errors"
)

// Each does act for all jobs, however many fail, and returns the first error; the others are reported as they come.
func (a *App) Each(ids []string, act func(id string) error) error {
	return a.EachOf(ids, AboutJob, act)
}

// EachOf is each of things that are no jobs; about names the one that an error is about.
func (a *App) EachOf(ids []string, about func(id string, err error) error, act func(id string) error) error {
	var first error
	for _, id := range ids {
		err := act(id)
		if quiet := (*QuietError)(nil); !errors.As(err, &quiet) && !errors.Is(err, ErrTimeOver) {
			err = about(id, err)
		}
		switch {
		case err == nil:
		case first == nil:
			first = err
		default:
			a.Report(context.Background(), err)
		}
	}
	return first
}

// FirstOf returns the first of two errors that is one, and reports the other.
func (a *App) FirstOf(ctx context.Context, first, second error) error {
	if first == nil {
		return second
	}
	a.ReportAlso(ctx, second)
	return first
}

// ReportAlso reports an error beside the one that ends the command; nil is none.
func (a *App) ReportAlso(ctx context.Context, err error) {
	if err != nil {
		a.Report(ctx, err)
	}
}
