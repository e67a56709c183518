package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/core"
)

// Exit codes, as docs/cli.md lists them.
const (
	exitOK          = 0
	exitFailed      = 1   // something went wrong that has no code of its own; doctor: there are findings
	exitUsage       = 2   // a flag, an argument or a value is not right, or was refused as invalid
	exitNotFound    = 3   // there is no such job, type, token or profile
	exitConflict    = 4   // the state does not allow it
	exitUnreachable = 5   // no connection, no answer, another's answer, or the other end is out of order
	exitAccess      = 6   // the token is missing, wrong or not enough
	exitNotDone     = 7   // the job that was waited for ended failed or cancelled
	exitTimeOver    = 8   // the time to wait was over first
	exitNothingNew  = 9   // every line of the file was there already
	exitInterrupted = 130 // Ctrl-C
)

// usageError is a command line that makes no sense.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usage(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// fileReason is why a file cannot be read, for messages that name it themselves.
func fileReason(err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return at.Err
	}
	return err
}

// quietError ends a command with a code; all there is to say was said.
type quietError struct{ code int }

func (e *quietError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

var errTimeOver = errors.New("the time to wait is over")

// codes maps errors to exit codes; the first that matches counts.
var codes = []struct {
	is   error
	code int
}{
	{errTimeOver, exitTimeOver},
	{client.ErrNotFound, exitNotFound},
	{client.ErrConflict, exitConflict},
	{client.ErrChanged, exitConflict},
	{client.ErrInvalid, exitUsage},
	{client.ErrAccess, exitAccess},
	{client.ErrThrottled, exitUnreachable},
	{client.ErrUnreachable, exitUnreachable},
	{client.ErrForeign, exitUnreachable},
	{core.ErrUnavailable, exitUnreachable},
}

func exitCode(ctx context.Context, err error) int {
	var quiet *quietError
	var wrong *usageError
	var fields client.FieldErrors
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &quiet):
		return quiet.code
	case errors.As(err, &wrong):
		return exitUsage
	case ctx.Err() != nil:
		return exitInterrupted
	}
	for _, row := range codes {
		if errors.Is(err, row.is) {
			return row.code
		}
	}
	var p *client.Problem
	switch {
	case errors.As(err, &fields):
		return exitUsage
	case errors.As(err, &p) && (p.Status >= 500 || p.Status < 400): // out of order, or a redirect: something else is there
		return exitUnreachable
	}
	return exitFailed
}

// errorDoc is an error with --json.
type errorDoc struct {
	Error  string     `json:"error"`
	ID     string     `json:"id,omitempty"` // of the job that it is about
	Exit   int        `json:"exit"`
	Fields []fieldDoc `json:"fields,omitempty"`
	Reason string     `json:"reason,omitempty"`
	JobID  string     `json:"job_id,omitempty"`
}

type fieldDoc struct {
	Field string `json:"field"`
	Rule  string `json:"rule"`
}

func (a *app) printError(ctx context.Context, err error) {
	doc := errorDoc{Error: a.explain(err), Exit: exitCode(ctx, err)}
	if one := (*jobError)(nil); errors.As(err, &one) {
		doc.ID = one.id
	}
	var fields client.FieldErrors
	if errors.As(err, &fields) {
		for _, f := range fields {
			doc.Fields = append(doc.Fields, fieldDoc{f.Field, f.Rule})
		}
	}
	if p := (*client.Problem)(nil); errors.As(err, &p) {
		doc.Reason, doc.JobID = p.Reason, p.JobID
	}
	if text, err := json.Marshal(doc); err == nil {
		fmt.Fprintf(a.errs, "%s\n", safeJSON(text))
	}
}
